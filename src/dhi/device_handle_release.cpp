// SPDX-License-Identifier: Apache-2.0
// How entries of the device's handle table go: ended contexts, draining, deallocation, orders of
// the host and resets.
#include <fmt/format.h>

#include <algorithm>

#include "dhi/device_handle_table.h"
#include "flitwise/error.h"

namespace flitwise {

bool DeviceHandleTable::covers(const DeallocMessage& message, Dhi dhi, Bdf function) {
  const bool is_meant = message.scope != DeallocScope::kFunction || function == message.function;
  return is_meant && message.handles({Dhi{0}, Dhi{kHandleMask}}).contains(dhi);
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

template <class Act>
void DeviceHandleTable::each_valid(const DeallocMessage& message, Act act) {
  for (Slot slot = 0; slot < entries_.size(); ++slot) {
    if (entries_[slot].is_valid && covers(message, dhi_of(slot), entries_[slot].identity.bdf)) {
      act(slot);
    }
  }
}

void DeviceHandleTable::drain(const DeallocMessage& message) {
  each_valid(message, [this](Slot slot) { drain(dhi_of(slot)); });
}

std::optional<Dhi> DeviceHandleTable::drained() const {
  std::optional<Slot> slot = first_idle(draining_);
  if (!slot) {
    slot = first_idle(kept_draining_);
  }
  return slot ? std::optional<Dhi>(dhi_of(*slot)) : std::nullopt;
}

bool DeviceHandleTable::deallocate(Dhi dhi) {
  FLITWISE_CHECK(is_idle(dhi), fmt::format("handle {} is in use or has no entry", to_int(dhi)));
  statistics_.deallocs += entries_[slot_of(dhi)].is_at_host ? 1 : 0;  // else it has been counted
  return clear(slot_of(dhi));
}

bool DeviceHandleTable::clear(Slot slot) {
  Entry& entry = entries_[slot];
  forget_domain(slot);
  if (entry.orders == 0) {
    take_off_lists(slot);
    if (!entry.is_kept) {
      free_.push_back(slot);
    }
  }
  entry.is_valid = false;
  return entry.is_at_host;
}

// A domain whose old handle drained may have a new one already.
void DeviceHandleTable::forget_domain(Slot slot) {
  Slot& known = slot_of_domain_[to_int(entries_[slot].domain)];
  known = known == slot ? kNoSlot : known;
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
  drain(dhi);
}

void DeviceHandleTable::reset_function(Bdf function) {
  each_valid({DeallocScope::kFunction, {}, {}, function, 0}, [this](Slot slot) { clear(slot); });
}

void DeviceHandleTable::reset(HandleRange range, std::uint8_t epoch) {
  const unsigned slots = range.size();
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
}

// ---- orders of the host [DHI D15]
//
// The host frees its entries when the answer comes. Whatever the order covers must not be allocated
// anew before, or the host would free the new entry with the old one.

HandleStatus DeviceHandleTable::check(const DeallocMessage& message) const {
  if (message.epoch != config_.epoch) {
    return HandleStatus::kEpochMismatch;
  }
  const bool names_upper = message.scope == DeallocScope::kRange;
  const bool names_lower = names_upper || message.scope == DeallocScope::kOne;
  const bool is_inside = (!names_lower || config_.range.contains(message.dhi)) &&
                         (!names_upper || config_.range.contains(message.upper));
  return is_inside ? HandleStatus::kOk : HandleStatus::kHandleOutOfRange;
}

// Of a function only what it has: a free handle belongs to no function.
void DeviceHandleTable::hold(unsigned tag, const DeallocMessage& message) {
  FLITWISE_CHECK(!is_held(tag), fmt::format("order {} is held twice", tag));
  Order& order = orders_[tag];
  order.message = message;
  order.is_held = true;
  order.slots.clear();
  for (Slot slot = 0; slot < entries_.size(); ++slot) {
    Entry& entry = entries_[slot];
    const bool is_meant = message.scope != DeallocScope::kFunction || entry.is_valid;
    if (!is_meant || !covers(message, dhi_of(slot), entry.identity.bdf)) {
      continue;
    }
    if (entry.orders == 0 && entry.is_valid) {
      forget_domain(slot);
      take_off_lists(slot);
    }
    free_.erase(slot);
    entry.orders = static_cast<std::uint16_t>(entry.orders | 1U << tag);
    order.slots.push_back(slot);
  }
}

bool DeviceHandleTable::is_drained(unsigned tag) const {
  const std::vector<Slot>& slots = orders_[tag].slots;
  return std::all_of(slots.begin(), slots.end(), [this](Slot slot) {
    return !entries_[slot].is_valid || is_idle(entries_[slot]);
  });
}

void DeviceHandleTable::release(unsigned tag) {
  Order& order = orders_[tag];
  for (const Slot slot : order.slots) {
    Entry& entry = entries_[slot];
    if (entry.is_valid) {
      deallocate(dhi_of(slot));
    }
    entry.orders = static_cast<std::uint16_t>(entry.orders & ~(1U << tag));
    if (entry.orders == 0 && !entry.is_kept) {
      free_.push_back(slot);
    }
  }
  order.is_held = false;
}

bool DeviceHandleTable::is_held(Bdf function) const {
  return std::any_of(orders_.begin(), orders_.end(), [function](const Order& order) {
    return order.is_held && order.message.scope == DeallocScope::kFunction &&
           order.message.function == function;
  });
}

}  // namespace flitwise
