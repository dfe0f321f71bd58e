// SPDX-License-Identifier: Apache-2.0
// Handles that the device gives up on the host's order. [DHI D15]
//
// The host frees its entries when the answer comes. Whatever the order covers must not be allocated
// anew before, or the host would free the new entry with the old one.
#include <fmt/format.h>

#include <algorithm>

#include "dhi/device_handle_table.h"
#include "flitwise/error.h"

namespace flitwise {

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
    const Entry& entry = entries_[slot];
    const bool is_meant = message.scope != DeallocScope::kFunction || entry.is_valid;
    if (is_meant && covers(message, dhi_of(slot), entry.identity.bdf)) {
      hold(slot, tag);
      order.slots.push_back(slot);
    }
  }
}

void DeviceHandleTable::hold(Slot slot, unsigned tag) {
  Entry& entry = entries_[slot];
  if (entry.orders == 0 && entry.is_valid) {
    if (slot_of_domain_[to_int(entry.domain)] == slot) {
      slot_of_domain_[to_int(entry.domain)] = kNoSlot;
    }
    take_off_lists(slot);
  }
  free_.erase(slot);
  entry.orders = static_cast<std::uint16_t>(entry.orders | 1U << tag);
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
