// SPDX-License-Identifier: Apache-2.0
// The device's handle table: uses, allocation, and how entries go.
#include "dhi/device_handle_table.h"

#include <fmt/format.h>

#include "common/ranges.h"
#include "flitwise/error.h"

namespace flitwise {

DeviceHandleTable::DeviceHandleTable(const DeviceHandleTableConfig& config)
    : config_(config), free_(0), ended_(0), draining_(0), kept_draining_(0) {
  reset(config.range, config.epoch);
}

// ---- use

OptionalId<Dhi> DeviceHandleTable::find(DomainId domain) const {
  const std::uint32_t index = to_int(domain);
  if (index >= slot_of_domain_.size() || slot_of_domain_[index] == kNoSlot) {
    return std::nullopt;
  }
  return dhi_of(slot_of_domain_[index]);
}

HandlePin DeviceHandleTable::pin(Dhi dhi, UseKind kind) {
  FLITWISE_CHECK(is_valid(dhi), fmt::format("handle {} has no entry", to_int(dhi)));
  const Slot slot = slot_of(dhi);
  Entry& entry = entries_[slot];
  ++(kind == UseKind::kPosted ? entry.unsent : entry.nonposted);
  if (entry.has_ended) {
    entry.has_ended = false;
    ended_.erase(slot);
  }
  if (!entry.is_kept) {
    policy_->used(slot);
  }
  ++statistics_.uses;
  if (entry.counted_since != period_) {
    entry.counted_since = period_;
    ++statistics_.residencies;
  }
  return {dhi, entry.residency};
}

DeviceHandleTable::Entry* DeviceHandleTable::pinned(HandlePin pin) {
  if (!is_valid(pin.dhi) || entries_[slot_of(pin.dhi)].residency != pin.residency) {
    return nullptr;
  }
  return &entries_[slot_of(pin.dhi)];
}

std::uint64_t DeviceHandleTable::sent(HandlePin pin) {
  const std::uint64_t serial = ++posted_serial_;
  Entry* entry = pinned(pin);
  if (entry == nullptr) {
    return 0;
  }
  FLITWISE_CHECK(entry->unsent > 0, fmt::format("handle {}: sent twice", to_int(pin.dhi)));
  --entry->unsent;
  entry->last_serial = serial;
  return serial;
}

void DeviceHandleTable::completed(HandlePin pin) {
  if (Entry* entry = pinned(pin)) {
    FLITWISE_CHECK(entry->nonposted > 0,
                   fmt::format("handle {}: completed twice", to_int(pin.dhi)));
    --entry->nonposted;
  }
}

bool DeviceHandleTable::given_up(HandlePin pin) {
  completed(pin);
  Entry* const entry = pinned(pin);
  if (entry == nullptr || entry->is_kept) {
    return false;
  }
  const Slot slot = slot_of(pin.dhi);
  const bool is_draining = draining_.contains(slot);
  if (entry->orders == 0) {
    take_off_lists(slot);
  }
  entry->is_kept = true;
  if (is_draining) {
    kept_draining_.push_back(slot);
  }
  return true;
}

void DeviceHandleTable::pushed_through(std::uint64_t serial) {
  FLITWISE_CHECK(serial <= posted_serial_, fmt::format("serial {} was never sent", serial));
  pushed_through_ = std::max(pushed_through_, serial);
}

// ---- allocation

MissOutcome DeviceHandleTable::readiness(Slot slot) const {
  const Entry& entry = entries_[slot];
  if (entry.unsent > 0) {
    return MissOutcome::kWaitForSend;
  }
  if (entry.nonposted > 0) {
    return MissOutcome::kWaitForCompletion;
  }
  return is_idle(entry) ? MissOutcome::kVictimReady : MissOutcome::kWaitForPush;
}

bool DeviceHandleTable::is_idle(const Entry& entry) const {
  const bool is_pushed = !entry.is_at_host || entry.last_serial <= pushed_through_;
  return entry.unsent == 0 && entry.nonposted == 0 && is_pushed;
}

std::optional<Slot> DeviceHandleTable::first_idle(const SlotList& list) const {
  return first_idle(list.front(), [&list](Slot slot) { return list.next(slot); });
}

template <class Next>
std::optional<Slot> DeviceHandleTable::first_idle(std::optional<Slot> slot, Next next) const {
  for (unsigned looked = 0; slot && looked < kVictimScan; ++looked) {
    if (is_idle(entries_[*slot])) {
      return slot;
    }
    slot = next(*slot);
  }
  return std::nullopt;
}

std::optional<Slot> DeviceHandleTable::pick_victim() const {
  // Already given up: it costs no domain its handle.
  if (const auto slot = first_idle(draining_)) {
    return slot;
  }
  if (config_.prefer_idle) {
    if (config_.prefer_ended) {
      if (const auto slot = first_idle(ended_)) {
        return slot;
      }
    }
    if (const auto slot =
            first_idle(policy_->first(), [this](Slot one) { return policy_->after(one); })) {
      return slot;
    }
  }
  // Nothing better: the one that is being waited for, else the preferred one although it is busy.
  if (draining_.size() > 0) {
    return draining_.front();
  }
  return config_.prefer_ended && ended_.size() > 0 ? ended_.front() : policy_->first();
}

Choice DeviceHandleTable::choose() const {
  if (config_.management == HandleManagement::kSoftware || entries_.empty()) {
    return {MissOutcome::kNotHere, std::nullopt};
  }
  if (free_.size() > 0) {
    return {MissOutcome::kFreeHandle, std::nullopt};
  }
  const std::optional<Slot> victim = pick_victim();
  if (victim) {
    return {readiness(*victim), dhi_of(*victim)};
  }
  const bool is_due = any_of(orders_, [](const Order& order) { return order.is_held; });
  return {is_due ? MissOutcome::kWaitForOrder : MissOutcome::kNotHere, std::nullopt};
}

Allocation DeviceHandleTable::allocate(DomainId domain, const DeviceIdentity& identity,
                                       bool is_trusted, std::uint16_t capabilities,
                                       ContextId context) {
  FLITWISE_CHECK(!find(domain), fmt::format("domain {} has a handle", to_int(domain)));
  const Choice choice = choose();
  Allocation result;
  if (choice.outcome == MissOutcome::kVictimReady) {
    const bool is_at_host = clear(slot_of(*choice.victim));
    result.needs_dealloc_message = config_.dealloc == DeallocMode::kExplicit && is_at_host;
    ++statistics_.evictions;
    ++statistics_.deallocs;
    result.dhi = *choice.victim;
  } else {
    FLITWISE_CHECK(choice.outcome == MissOutcome::kFreeHandle,
                   "allocate() without asking choose()");
    result.dhi = dhi_of(*free_.front());
  }
  result.message = {result.dhi, identity, is_trusted, capabilities, config_.epoch, context};
  fill(slot_of(result.dhi), domain, result.message);
  result.residency = entries_[slot_of(result.dhi)].residency;
  return result;
}

void DeviceHandleTable::fill(Slot slot, DomainId domain, const AllocMessage& message) {
  const std::size_t domains = to_int(domain) + std::size_t{1};
  slot_of_domain_.resize(std::max(slot_of_domain_.size(), domains), kNoSlot);
  Entry& entry = entries_[slot];
  entry = Entry{};  // no order covers it
  static_cast<DeviceResolution&>(entry) = {domain, message.identity, message.is_trusted,
                                           message.capabilities, message.context};
  entry.residency = ++last_residency_;
  entry.is_valid = true;
  slot_of_domain_[to_int(domain)] = slot;
  free_.erase(slot);
  policy_->inserted(slot);
  ++statistics_.allocs;
}

void DeviceHandleTable::mark_applied(Dhi dhi, std::uint32_t residency) {
  if (Entry* entry = pinned({dhi, residency})) {
    entry->is_applied = true;
  }
}

HandleStatus DeviceHandleTable::install(DomainId domain, const AllocMessage& message) {
  if (config_.management != HandleManagement::kSoftware) {
    return HandleStatus::kNotSoftwareManaged;
  }
  if (message.epoch != config_.epoch) {
    return HandleStatus::kEpochMismatch;
  }
  if (!config_.range.contains(message.dhi)) {
    return HandleStatus::kHandleOutOfRange;
  }
  if (entries_[slot_of(message.dhi)].orders != 0 || is_held(message.identity.bdf)) {
    return HandleStatus::kHandleBusy;
  }
  const OptionalId<Dhi> present = find(domain);
  if (present && *present != message.dhi) {
    return HandleStatus::kDomainHasHandle;
  }
  const Slot slot = slot_of(message.dhi);
  Entry& entry = entries_[slot];
  if (present && entry.identity == message.identity && entry.context == message.context) {
    entry.is_trusted = message.is_trusted;
    entry.capabilities = message.capabilities;
    return HandleStatus::kOk;
  }
  if (entry.is_kept) {
    return HandleStatus::kHandleBusy;
  }
  if (entry.is_valid) {
    if (config_.dealloc == DeallocMode::kExplicit) {
      return HandleStatus::kHandleInUse;
    }
    if (!is_idle(entry)) {
      return HandleStatus::kHandleBusy;
    }
    clear(slot);
    ++statistics_.evictions;
    ++statistics_.deallocs;
  }
  fill(slot, domain, message);
  entries_[slot].is_applied = true;  // Software has told both ends before it lets the domain run.
  return HandleStatus::kOk;
}

// ---- queries

std::optional<DeviceResolution> DeviceHandleTable::resolve(Dhi dhi) const {
  return is_valid(dhi) ? std::optional<DeviceResolution>(entries_[slot_of(dhi)]) : std::nullopt;
}

std::optional<DeviceResolution> DeviceHandleTable::resolve_for_host(Dhi dhi) const {
  const bool is_left = config_.range.contains(dhi) && entries_[slot_of(dhi)].is_left;
  return is_left ? std::optional<DeviceResolution>(entries_[slot_of(dhi)]) : resolve(dhi);
}

std::optional<DomainId> DeviceHandleTable::owner(Dhi dhi, std::uint32_t residency) const {
  const bool is_in_it = is_valid(dhi) && entries_[slot_of(dhi)].residency == residency;
  return is_in_it ? std::optional<DomainId>(entries_[slot_of(dhi)].domain) : std::nullopt;
}

// ---- how entries go: ended contexts, draining, deallocation, orders of the host and resets

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
  Entry& entry = entries_[slot_of(dhi)];
  statistics_.deallocs += entry.is_at_host ? 1 : 0;  // else it has been counted
  entry.is_left = entry.is_at_host && config_.dealloc == DeallocMode::kImplicit &&
                  config_.management == HandleManagement::kDevice;
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
  const DeallocMessage all_of_it{DeallocScope::kFunction, {}, {}, function, 0};
  each_valid(all_of_it, [this](Slot slot) { clear(slot); });
  forget_left(all_of_it);
}

// The host does so too.
void DeviceHandleTable::forget_left(const DeallocMessage& message) {
  for (Slot slot = 0; slot < entries_.size(); ++slot) {
    Entry& entry = entries_[slot];
    entry.is_left = entry.is_left && !covers(message, dhi_of(slot), entry.identity.bdf);
  }
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
  return all_of(orders_[tag].slots,
                [this](Slot slot) { return !entries_[slot].is_valid || is_idle(entries_[slot]); });
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
  forget_left(order.message);
  order.is_held = false;
}

bool DeviceHandleTable::is_held(Bdf function) const {
  return any_of(orders_, [function](const Order& order) {
    return order.is_held && order.message.scope == DeallocScope::kFunction &&
           order.message.function == function;
  });
}

}  // namespace flitwise
