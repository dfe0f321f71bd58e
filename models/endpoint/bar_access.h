// SPDX-License-Identifier: Apache-2.0
/// Memory requests to BAR 0 of the functions of a device: to each owner of a region its part, and
/// the data of a read together again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "config_space/config_space.h"
#include "endpoint/bar_map.h"
#include "flitwise/packet.h"

namespace flitwise {

class BarAccess {
 public:
  /// All bytes of the DWs that a request asks for; they may leave at `ready`.
  using Complete = std::function<void(const Packet& request, const std::vector<std::uint8_t>& bytes,
                                      Time ready)>;
  BarAccess(std::uint64_t bar_size, Complete complete)
      : bar_size_(bar_size), complete_(std::move(complete)) {}
  BarAccess(const BarAccess&) = delete;
  BarAccess& operator=(const BarAccess&) = delete;

  BarMap& map() { return map_; }
  /// Where the BARs of the PF and of the VFs are; empty while Memory Space is not enabled.
  void set_bars(AddressRange pf, AddressRange vfs) {
    pf_bar_ = pf;
    vf_bar_ = vfs;
  }

  struct Place {
    unsigned function = 0;
    std::uint64_t offset = 0;  ///< into BAR 0
  };
  /// The BAR that the address lies in.
  std::optional<Place> place_of(std::uint64_t address) const;
  /// Where a request lies with all of its DWs; none: in no BAR, or beyond the end of one.
  std::optional<Place> place_of(const Tlp& request) const;

  /// Do so many bytes have one owner, who may be told of a write ahead of its time?
  bool is_told_early(Place place, std::uint64_t bytes) const {
    const BarMap::Part part = map_.part_at(place.function, place.offset);
    return part.owner != nullptr && part.end - place.offset >= bytes && part.owner->is_told_early();
  }
  /// The bytes that are enabled.
  void write(Place place, const Packet& request, Time now);
  /// It may be answered at `earliest`, or later where an owner takes its time.
  void read(Place place, PacketRef request, Time earliest, Time now);
  /// The bytes that an owner was asked for.
  void answer(const MmioRead& read, const std::uint8_t* bytes, Time now);
  std::size_t open_reads() const { return reads_.size() - free_.size(); }
  /// Reads whose data is still to come will have no answer.
  void discard();

 private:
  struct OpenRead {
    PacketRef request;  // null: the slot is free
    Time earliest;
    std::size_t missing = 0;  // parts, and one while it is being asked for
    std::vector<std::uint8_t> bytes;
  };

  void write_bytes(Place place, const std::uint8_t* bytes, std::size_t size, Time now);
  void part_is_there(std::uint32_t ticket, Time now);

  const std::uint64_t bar_size_;
  const Complete complete_;
  AddressRange pf_bar_, vf_bar_;
  BarMap map_;
  std::vector<OpenRead> reads_;  // by ticket
  std::vector<std::uint32_t> free_;
};

}  // namespace flitwise
