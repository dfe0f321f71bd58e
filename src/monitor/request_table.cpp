// SPDX-License-Identifier: Apache-2.0
// Requests by function and tag.
#include "monitor/request_table.h"

#include <algorithm>

namespace flitwise {

AwaitedRequest& RequestTable::at(Bdf function, std::uint16_t tag) {
  std::unique_ptr<Bus>& bus = buses_[function.bus()];
  if (bus == nullptr) {
    bus = std::make_unique<Bus>();
  }
  std::unique_ptr<Tags>& tags = (*bus)[function.value & 0xffU];
  if (tags == nullptr) {
    tags = std::make_unique<Tags>();
  }
  if (tag >= tags->places.size()) {
    tags->places.resize(std::size_t{1} << 16, kNone);  // 14-bit tags [LNK-9.8]
  }
  std::uint32_t& place = tags->places[tag];
  if (place == kNone) {
    place = static_cast<std::uint32_t>(requests_.size());
    requests_.emplace_back();
  }
  return requests_[place];
}

AwaitedRequest* RequestTable::find_with_handle(Bdf handle, std::uint16_t tag) {
  const auto found =
      std::find_if(requests_.begin(), requests_.end(), [&](const AwaitedRequest& one) {
        return one.is_out && one.is_handle && one.note.requester_id == handle &&
               one.note.tag == tag;
      });
  return found == requests_.end() ? nullptr : &*found;
}

}  // namespace flitwise
