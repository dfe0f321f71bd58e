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
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  Slot& slot = slots_[place];
  slot.request = std::move(request);
  slot.function = index;
  slot.tag = owner(index).tags.take();
  slot.older = youngest_;
  slot.younger = kNone;
  (youngest_ == kNone ? oldest_ : slots_[youngest_].younger) = place;
  youngest_ = place;
  owner(index).slots[slot.tag] = place;
  ++in_use_;
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
  const std::uint32_t place = from.slots[tag];
  Slot& slot = slots_[place];
  (slot.older == kNone ? oldest_ : slots_[slot.older].younger) = slot.younger;
  (slot.younger == kNone ? youngest_ : slots_[slot.younger].older) = slot.older;
  slot.request.request.reset();
  slot.request.pin = {};
  from.slots[tag] = kNone;
  from.tags.give(tag);
  free_.push_back(place);
  --in_use_;
}

std::size_t OutstandingRequests::tags_out() const {
  std::size_t count = 0;
  for (const std::unique_ptr<Function>& function : functions_) {
    count += function ? function->tags.in_use() : 0;
  }
  return count;
}

std::optional<OutstandingRequests::Oldest> OutstandingRequests::oldest() const {
  if (oldest_ == kNone) {
    return std::nullopt;
  }
  const Slot& slot = slots_[oldest_];
  return Oldest{slot.function, slot.tag, slot.request.deadline};
}

}  // namespace flitwise
