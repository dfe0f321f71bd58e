// SPDX-License-Identifier: Apache-2.0
/// Transfers of a function shell that wait for translations, or behind such ones, in the order in
/// which their engines gave them out. Who may pass whom is what the ordering table of the link
/// says. [LNK-9.1] to [LNK-9.4] [ATR-14]
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/slot_list.h"
#include "endpoint/parked_transfer.h"
#include "flitwise/config.h"
#include "flitwise/time.h"
#include "stats/wait_book.h"

namespace flitwise {

class ParkedTransfers {
 public:
  explicit ParkedTransfers(unsigned capacity) : entries_(capacity), slots_(capacity) {}

  bool empty() const { return size() == 0; }
  bool has_room() const { return slots_.free() != 0; }
  unsigned size() const { return slots_.used().size(); }
  /// Some wait for no answer.
  bool may_any_move() const { return movable_ != 0; }
  /// Whether a transfer of an engine can be taken; it waits where not.
  bool ask_room(Time now) {
    room_since_ = full_since_;
    full_since_ = has_room() ? Time::never() : std::min(full_since_, now);
    return has_room();
  }
  /// After ask_room(): one is taken that could have been since `ready`.
  void note_taken(Time ready, Time now) {
    room_waits_.add(std::max(std::min(room_since_, now), ready), now);
  }
  /// The last in order. REQUIRES: has_room().
  Slot add(const ParkedTransfer& transfer);
  /// It keeps its place in the order as long as it is not removed, while it is being sent too.
  void remove(Slot slot);
  ParkedTransfer& at(Slot slot) { return entries_[slot]; }  ///< its state is set by set_state()
  const ParkedTransfer& at(Slot slot) const { return entries_[slot]; }

  /// `since`: the new state begins then, where that is still to come; the one before lasts so long.
  void set_state(Slot slot, ParkedState state, Time since = {});
  /// Waits are of what comes from now on.
  void start_window(Time now);
  /// What transfers have waited for; so many requests may be out at once.
  std::vector<WaitResult> waits(const std::string& place, std::uint64_t requests,
                                const PriConfig& pages) const;

  /// May a TLP like this pass everything parked?
  bool may_pass_all(const Tlp& later) const { return may_pass(later, kNoSlot); }
  /// May that of a parked transfer pass everything before it?
  bool may_pass_all_before(Slot slot) const { return may_pass(entries_[slot].shape, slot); }
  /// The first in order that can go on now: it is its turn, or `can_ask(transfer)` says that there
  /// is room for its request.
  template <class CanAsk>
  std::optional<Slot> first_to_go(Time now, CanAsk can_ask) const;
  /// When the next one that is ready may go, as far as that lies ahead; never if none does.
  Time next_time(Time now) const;
  /// `visit(slot, transfer)` for each in order; it may remove the one it is given.
  template <class Visit>
  void for_each(Visit visit);
  /// Numbers in each state, for people.
  unsigned count(ParkedState state) const;

 private:
  bool may_pass(const Tlp& later, Slot end) const;
  void end_wait(ParkedTransfer& one, Time until);
  static bool waits_for_room(ParkedState state) {
    return state == ParkedState::kWantsRequest || state == ParkedState::kWantsPage;
  }
  static bool may_move(ParkedState state) {
    return state == ParkedState::kReady || waits_for_room(state);
  }

  std::vector<ParkedTransfer> entries_;
  SlotPool slots_;                                                // those in use: in order
  std::array<WaitBook, kParkedStates> waits_;                     // by ParkedState
  Time full_since_ = Time::never(), room_since_ = Time::never();  // as ask_room() has found
  WaitBook room_waits_;   // of transfers that are still with their engine
  unsigned posted_ = 0;   // nobody else is in the way of others
  unsigned movable_ = 0;  // whom no answer is due to
};

template <class CanAsk>
std::optional<Slot> ParkedTransfers::first_to_go(Time now, CanAsk can_ask) const {
  if (movable_ == 0) {
    return std::nullopt;
  }
  for (std::optional<Slot> slot = slots_.used().front(); slot; slot = slots_.used().next(*slot)) {
    const ParkedTransfer& one = entries_[*slot];
    const bool is_its_turn =
        one.state == ParkedState::kReady && one.when <= now && may_pass_all_before(*slot);
    if (is_its_turn || (waits_for_room(one.state) && can_ask(one))) {
      return slot;
    }
  }
  return std::nullopt;
}

template <class Visit>
void ParkedTransfers::for_each(Visit visit) {
  std::optional<Slot> next = slots_.used().front();
  while (next) {
    const Slot slot = *next;
    next = slots_.used().next(slot);
    visit(slot, entries_[slot]);
  }
}

}  // namespace flitwise
