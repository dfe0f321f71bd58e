// SPDX-License-Identifier: Apache-2.0
// Outstanding non-posted requests.
#include "endpoint/outstanding_requests.h"

namespace flitwise {

OutstandingRequests::OutstandingRequests(unsigned functions, unsigned tag_bits)
    : tag_bits_(tag_bits), enabled_tag_bits_(tag_bits), functions_(functions) {}

void OutstandingRequests::set_tag_bits(unsigned enabled) {
  enabled_tag_bits_ = enabled >= 10 ? tag_bits_ : enabled;
  for (const std::unique_ptr<Function>& function : functions_) {
    if (function) {
      function->tags.set_bits(enabled_tag_bits_);
    }
  }
}

std::uint16_t OutstandingRequests::open(unsigned index, OutstandingRequest&& request) {
  if (free_.empty()) {
    free_.push_back(slots_.emplace_back());
  }
  Slot& slot = free_.front();
  out_.splice(out_.end(), free_, free_.begin());
  slot.request = std::move(request);
  slot.function = index;
  slot.tag = owner(index).tags.take();
  owner(index).slots[slot.tag] = &slot;
  return slot.tag;
}

std::optional<unsigned> OutstandingRequests::function_with(Bdf handle, std::uint16_t tag) {
  for (unsigned function = 0; function < functions_.size(); ++function) {
    const OutstandingRequest* const one = find(function, tag);
    if (one != nullptr && one->request->tlp.id_is_handle &&
        one->request->tlp.requester_id == handle) {
      return function;
    }
  }
  return std::nullopt;
}

void OutstandingRequests::close(unsigned index, std::uint16_t tag) {
  Function& from = owner(index);
  Slot& slot = *from.slots[tag];
  slot.request.request.reset();
  slot.request.pin = {};
  from.tags.give(tag);
  free_.splice(free_.begin(), out_, out_.iterator_to(slot));
}

std::size_t OutstandingRequests::tags_out() const {
  std::size_t count = 0;
  for (const std::unique_ptr<Function>& function : functions_) {
    count += function ? function->tags.in_use() : 0;
  }
  return count;
}

}  // namespace flitwise
