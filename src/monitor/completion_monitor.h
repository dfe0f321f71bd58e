// SPDX-License-Identifier: Apache-2.0
/// Watches that each completion answers a request that waits, with the right bytes: Byte Count,
/// Lower Address, RCB, status. [LNK-9.9] to [LNK-9.13] [LNK-9.19] [LNK-9.21]
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "monitor/violation_log.h"
#include "trace/packet_note.h"

namespace flitwise {

/// A non-posted request that waits for completions, as the monitors know it.
struct AwaitedRequest {
  PacketNote note;
  Time issued{};
  std::uint32_t left = 0;  ///< bytes of data still owed
  std::uint8_t lower_address = 0, tc = 0;
  bool wants_data = false, is_memory_read = false, is_locked = false;
  bool is_translation = false;  ///< a Translation Request: its answer may be short
  bool is_handle = false;       ///< the Requester ID on the wire is a handle
  /// The tag was used again after a timeout: answers may be to the other.
  bool is_doubtful = false;
  bool is_out = false;
};

/// Those of one direction of a link, by Requester ID and tag, in arrays made for each function when
/// it first asks.
class RequestTable {
 public:
  /// The place of {function, tag}; is_out tells whether a request waits there.
  AwaitedRequest& at(Bdf function, std::uint16_t tag);
  /// Null where no such request is out.
  AwaitedRequest* find(Bdf function, std::uint16_t tag) {
    const Tags* const tags = tags_of(function);
    const std::uint32_t place =
        tags == nullptr || tag >= tags->places.size() ? kNone : tags->places[tag];
    return place == kNone || !requests_[place].is_out ? nullptr : &requests_[place];
  }
  /// The request that bore this handle as its Requester ID; seldom asked for.
  AwaitedRequest* find_with_handle(Bdf handle, std::uint16_t tag);

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  struct Tags {
    std::vector<std::uint32_t> places = std::vector<std::uint32_t>(1024, kNone);  // by tag, grows
  };
  using Bus = std::array<std::unique_ptr<Tags>, 256>;

  const Tags* tags_of(Bdf function) const {
    const Bus* const bus = buses_[function.bus()].get();
    return bus == nullptr ? nullptr : (*bus)[function.value & 0xffU].get();
  }

  std::array<std::unique_ptr<Bus>, 256> buses_;
  std::vector<AwaitedRequest> requests_;
};

/// Of the requests that one direction of a link carries: no tag of a function is used again while
/// its request waits for completions, and these are what it asks for. [LNK-9.8]
class CompletionMonitor {
 public:
  /// `answers`: of the other direction. `timeout`: after that long a requester has given up on a
  /// request. [LNK-9.18] `rcb`: of the completer, in bytes. `has_peers`: answers come from a
  /// switch, which may send up those of peers below it. [LNK-13.2]
  CompletionMonitor(Reporter requests, Reporter answers, Time timeout, std::uint32_t rcb,
                    bool has_peers = false)
      : requests_(requests),
        answers_(answers),
        timeout_(timeout),
        rcb_(rcb),
        has_peers_(has_peers) {}

  /// A non-posted request that the model made goes on the wire for the first time.
  void sent(const Packet& packet, Time now);
  /// A completion that the model made has been delivered to the requester's end.
  void delivered(const Packet& packet, Time now);

 private:
  const MonitoredRule* broken_rule(AwaitedRequest& request, const Tlp& tlp) const;
  const MonitoredRule* broken_rule_of_translation(AwaitedRequest& request, const Tlp& tlp) const;
  const MonitoredRule* broken_rule_of_data(const AwaitedRequest& request, const Tlp& tlp) const;
  static std::uint32_t bytes_in(const AwaitedRequest& request, const Tlp& tlp);

  Reporter requests_, answers_;
  RequestTable table_;
  Time timeout_;
  std::uint32_t rcb_;
  bool has_peers_;
};

}  // namespace flitwise
