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

Slot ParkedTransfers::add(const ParkedTransfer& transfer) {
  FLITWISE_CHECK(has_room(), "more parked transfers than there is room for");
  const Slot slot = slots_.take();
  entries_[slot] = transfer;
  entries_[slot].since = now();
  posted_ += is_posted(transfer) ? 1U : 0U;
  movable_ += may_move(transfer.state) ? 1U : 0U;
  return slot;
}

void ParkedTransfers::remove(Slot slot) {
  FLITWISE_CHECK(slots_.used().contains(slot), "a transfer that is not parked");
  slots_.give_back(slot);
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

// Credits are as many as software allocates, and no more than the device has. [PRI-26]
std::vector<WaitResult> ParkedTransfers::waits(const std::string& place, std::uint64_t requests,
                                               const PriConfig& pages) const {
  const auto of = [&](ParkedState state, const char* resource, const std::string& key = "",
                      std::uint64_t capacity = 0) {
    const ResourceRole role = key.empty() ? ResourceRole::kQueue : ResourceRole::kSlots;
    return waits_[static_cast<std::size_t>(state)].result(
        {place, resource, role, "up", "", key, capacity});
  };
  return {of(ParkedState::kWantsRequest, "atc_requests", "device.atc.requests", requests),
          of(ParkedState::kAwaitsReply, "translations"),
          of(ParkedState::kWantsPage, "page_request_credits",
             pages.allocation <= pages.capacity ? "device.pri.allocation" : "device.pri.capacity",
             std::min(pages.allocation, pages.capacity)),
          of(ParkedState::kAwaitsPage, "pages"),
          of(ParkedState::kReady, "order"),
          room_waits_.result({place, "parked", ResourceRole::kQueue, "up", "", "device.atc.parked",
                              entries_.size()})};
}

void ParkedTransfers::set_state(Slot slot, ParkedState state, Time since) {
  movable_ -= may_move(entries_[slot].state) ? 1U : 0U;
  movable_ += may_move(state) ? 1U : 0U;
  end_wait(entries_[slot], std::max(since, now()));
  entries_[slot].state = state;
}

// Requests that are not posted are in nobody's way.
bool ParkedTransfers::may_pass(const Tlp& later, Slot end) const {
  for (std::optional<Slot> slot = slots_.used().front(); posted_ != 0 && slot && *slot != end;
       slot = slots_.used().next(*slot)) {
    if (passing(later, entries_[*slot].shape) == Passing::kNo) {
      return false;
    }
  }
  return true;
}

Time ParkedTransfers::next_time(Time now) const {
  Time next = Time::never();
  for (std::optional<Slot> slot = slots_.used().front(); slot && movable_ != 0;
       slot = slots_.used().next(*slot)) {
    const ParkedTransfer& one = entries_[*slot];
    if (one.state == ParkedState::kReady && one.when > now) {
      next = std::min(next, one.when);
    }
  }
  return next;
}

unsigned ParkedTransfers::count(ParkedState state) const {
  unsigned found = 0;
  for (std::optional<Slot> slot = slots_.used().front(); slot; slot = slots_.used().next(*slot)) {
    found += entries_[*slot].state == state ? 1U : 0U;
  }
  return found;
}

}  // namespace flitwise
