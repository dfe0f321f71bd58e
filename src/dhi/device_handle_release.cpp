// SPDX-License-Identifier: Apache-2.0
// How entries of the device's handle table go: ended contexts, draining, deallocation and resets.
#include <fmt/format.h>

#include "dhi/device_handle_table.h"
#include "flitwise/error.h"

namespace flitwise {

bool DeviceHandleTable::covers(const DeallocMessage& message, Dhi dhi, Bdf function) {
  switch (message.scope) {
    case DeallocScope::kOne:
      return dhi == message.dhi;
    case DeallocScope::kRange:
      return HandleRange{message.dhi, message.upper}.contains(dhi);
    case DeallocScope::kFunction:
      return function == message.function;
    case DeallocScope::kAll:
      return true;
  }
  return false;
}

void DeviceHandleTable::end_context(DomainId domain) {
  const OptionalId<Dhi> dhi = find(domain);
  if (!dhi || entries_[slot_of(*dhi)].has_ended) {
    return;
  }
  Entry& entry = entries_[slot_of(*dhi)];
  entry.has_ended = true;
  if (!entry.is_kept) {
    ended_.push_back(slot_of(*dhi));
  }
}

void DeviceHandleTable::drain(Dhi dhi) {
  if (!is_valid(dhi) || entries_[slot_of(dhi)].orders != 0) {
    return;
  }
  const Slot slot = slot_of(dhi);
  SlotList& list = entries_[slot].is_kept ? kept_draining_ : draining_;
  if (list.contains(slot)) {
    return;
  }
  slot_of_domain_[to_int(entries_[slot].domain)] = kNoSlot;
  list.push_back(slot);
}

unsigned DeviceHandleTable::drain(const DeallocMessage& message) {
  unsigned count = 0;
  for (Slot slot = 0; slot < entries_.size(); ++slot) {
    if (entries_[slot].is_valid && covers(message, dhi_of(slot), entries_[slot].identity.bdf)) {
      drain(dhi_of(slot));
      ++count;
    }
  }
  return count;
}

std::optional<Dhi> DeviceHandleTable::drained() const {
  std::optional<Slot> slot = first_idle(draining_);
  if (!slot) {
    slot = first_idle(kept_draining_);
  }
  return slot ? std::optional<Dhi>(dhi_of(*slot)) : std::nullopt;
}

bool DeviceHandleTable::is_idle(Dhi dhi) const {
  return is_valid(dhi) && is_idle(entries_[slot_of(dhi)]);
}

Evicted DeviceHandleTable::deallocate(Dhi dhi) {
  FLITWISE_CHECK(is_idle(dhi), fmt::format("handle {} is in use or has no entry", to_int(dhi)));
  statistics_.deallocs += entries_[slot_of(dhi)].is_at_host ? 1 : 0;  // else it has been counted
  return clear(slot_of(dhi));
}

Evicted DeviceHandleTable::clear(Slot slot) {
  Entry& entry = entries_[slot];
  const Evicted evicted{dhi_of(slot), entry.domain, entry.has_ended, entry.is_at_host};
  // A domain whose old handle drained may have a new one already.
  if (slot_of_domain_[to_int(entry.domain)] == slot) {
    slot_of_domain_[to_int(entry.domain)] = kNoSlot;
  }
  if (entry.orders == 0) {
    take_off_lists(slot);
    if (!entry.is_kept) {
      free_.push_back(slot);
    }
  }
  entry.is_valid = false;
  --valid_;
  return evicted;
}

// REQUIRES: a valid entry that no order covers.
void DeviceHandleTable::take_off_lists(Slot slot) {
  ended_.erase(slot);
  draining_.erase(slot);
  kept_draining_.erase(slot);
  if (!entries_[slot].is_kept) {
    policy_->removed(slot);
  }
}

void DeviceHandleTable::refused(Dhi dhi) {
  if (!is_valid(dhi) || !entries_[slot_of(dhi)].is_at_host) {
    return;
  }
  entries_[slot_of(dhi)].is_at_host = false;
  ++statistics_.cleared;
  drain(dhi);
}

unsigned DeviceHandleTable::reset_function(Bdf function) {
  unsigned count = 0;
  for (Slot slot = 0; slot < entries_.size(); ++slot) {
    if (entries_[slot].is_valid && entries_[slot].identity.bdf == function) {
      clear(slot);
      ++count;
    }
  }
  statistics_.cleared += count;
  return count;
}

void DeviceHandleTable::reset(HandleRange range, std::uint8_t epoch) {
  const unsigned slots = range.size();
  statistics_.cleared += valid_;
  config_.range = range;
  config_.epoch = epoch;
  entries_.assign(slots, Entry{});
  slot_of_domain_.assign(slot_of_domain_.size(), kNoSlot);
  policy_ = make_replacement_policy(config_.victim, slots);
  free_ = SlotList(slots);
  ended_ = SlotList(slots);
  draining_ = SlotList(slots);
  kept_draining_ = SlotList(slots);
  for (Slot slot = 0; slot < slots; ++slot) {
    free_.push_back(slot);
  }
  for (Order& order : orders_) {
    order.is_held = false;
  }
  valid_ = 0;
}

}  // namespace flitwise
