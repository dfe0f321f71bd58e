// SPDX-License-Identifier: Apache-2.0
// Order among parked transfers.
#include "endpoint/parked_transfers.h"

#include <algorithm>

#include "flitwise/error.h"
#include "flitwise/link_socket.h"
#include "link/ordering.h"

namespace flitwise {
namespace {

bool is_posted(const ParkedTransfer& transfer) {
  return fc_class(transfer.shape.type) == FcClass::kPosted;
}

}  // namespace

ParkedTransfers::ParkedTransfers(unsigned capacity)
    : entries_(capacity), free_(capacity), order_(capacity) {
  for (Slot slot = 0; slot < capacity; ++slot) {
    free_.push_back(slot);
  }
}

Slot ParkedTransfers::add(const ParkedTransfer& transfer) {
  FLITWISE_CHECK(has_room(), "more parked transfers than there is room for");
  const Slot slot = *free_.front();
  free_.erase(slot);
  order_.push_back(slot);
  entries_[slot] = transfer;
  entries_[slot].since = now();
  posted_ += is_posted(transfer) ? 1U : 0U;
  movable_ += may_move(transfer.state) ? 1U : 0U;
  return slot;
}

void ParkedTransfers::remove(Slot slot) {
  FLITWISE_CHECK(order_.contains(slot), "a transfer that is not parked");
  order_.erase(slot);
  free_.push_back(slot);
  posted_ -= is_posted(entries_[slot]) ? 1U : 0U;
  movable_ -= may_move(entries_[slot].state) ? 1U : 0U;
  end_wait(entries_[slot], now());
}

// What it waits for next begins then.
void ParkedTransfers::end_wait(ParkedTransfer& one, Time until) {
  waits_[static_cast<std::size_t>(one.state)].add(one.since, until);
  one.since = until;
}

void ParkedTransfers::start_window(Time now) {
  for (WaitBook& one : waits_) {
    one.start_window(now);
  }
  room_waits_.start_window(now);
}

std::vector<WaitResult> ParkedTransfers::waits(const std::string& place) const {
  const auto of = [&](ParkedState state, const char* resource) {
    return waits_[static_cast<std::size_t>(state)].result(
        {place, resource, ResourceRole::kQueue, "up"});
  };
  const auto slots = [&](ParkedState state, const char* resource, const char* key) {
    WaitResult result = of(state, resource);
    result.resource.role = ResourceRole::kSlots;
    result.resource.key = key;
    return result;
  };
  return {slots(ParkedState::kWantsRequest, "atc_requests", "device.atc.requests"),
          of(ParkedState::kAwaitsReply, "translations"),
          slots(ParkedState::kWantsPage, "page_request_credits", "device.pri.capacity"),
          of(ParkedState::kAwaitsPage, "pages"),
          of(ParkedState::kReady, "order"),
          room_waits_.result({place, "parked", ResourceRole::kQueue, "up"})};
}

void ParkedTransfers::set_state(Slot slot, ParkedState state, Time since) {
  movable_ -= may_move(entries_[slot].state) ? 1U : 0U;
  movable_ += may_move(state) ? 1U : 0U;
  end_wait(entries_[slot], std::max(since, now()));
  entries_[slot].state = state;
}

bool ParkedTransfers::may_pass_all(const Tlp& later) const {
  if (posted_ == 0) {
    return true;
  }
  for (std::optional<Slot> slot = order_.front(); slot; slot = order_.next(*slot)) {
    if (passing(later, entries_[*slot].shape) == Passing::kNo) {
      return false;
    }
  }
  return true;
}

bool ParkedTransfers::may_pass_all_before(Slot last) const {
  if (posted_ == 0) {
    return true;
  }
  for (std::optional<Slot> slot = order_.front(); slot && *slot != last;
       slot = order_.next(*slot)) {
    if (passing(entries_[last].shape, entries_[*slot].shape) == Passing::kNo) {
      return false;
    }
  }
  return true;
}

Time ParkedTransfers::next_time(Time now) const {
  Time next = Time::never();
  for (std::optional<Slot> slot = order_.front(); slot && movable_ != 0;
       slot = order_.next(*slot)) {
    const ParkedTransfer& one = entries_[*slot];
    if (one.state == ParkedState::kReady && one.when > now) {
      next = std::min(next, one.when);
    }
  }
  return next;
}

unsigned ParkedTransfers::count(ParkedState state) const {
  unsigned found = 0;
  for (std::optional<Slot> slot = order_.front(); slot; slot = order_.next(*slot)) {
    found += entries_[*slot].state == state ? 1U : 0U;
  }
  return found;
}

}  // namespace flitwise
