// SPDX-License-Identifier: Apache-2.0
/// Non-posted requests of one direction of a link that wait for completions, as its monitors know
/// them: by Requester ID and tag, in arrays made for each function when it first asks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "trace/packet_note.h"

namespace flitwise {

struct AwaitedRequest {
  PacketNote note;
  Time issued{};
  std::uint32_t left = 0;  ///< bytes of data still owed
  std::uint8_t lower_address = 0, tc = 0;
  bool wants_data = false, is_memory_read = false, is_locked = false;
  bool is_translation = false;  ///< a Translation Request: its answer may be short
  bool is_handle = false;       ///< the Requester ID on the wire is a handle
  bool is_doubtful =
      false;  ///< the tag was used again after a timeout: answers may be to the other
  bool is_out = false;
};

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

}  // namespace flitwise
