// SPDX-License-Identifier: Apache-2.0
/// Faults that strike chosen units on their way over one wire: what a corner case asks for by name.
/// Faults by rate or ordinal are in bit_errors.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flitwise/time.h"
#include "link/wire_unit.h"

namespace flitwise {

/// Which units a fault means.
struct UnitFilter {
  bool is_flit = false;         ///< a flit as such; others mean a flit for what begins in it
  std::optional<bool> is_dllp;  ///< absent: any unit
  std::optional<TlpType> tlp;
  std::optional<DllpType> dllp;
  std::optional<FcClass> fc_class;  ///< of a flow-control DLLP

  /// Does it mean this unit? A flit, for itself, for a TLP that begins in it, its Ack or its DLLP.
  bool matches(const WireUnit& unit) const;

 private:
  bool matches(const Packet& packet) const;
};

/// "any", "tlp", "dllp", "flit", a TLP type ("MWr"), a DLLP type ("Ack", "UpdateFC") or a
/// flow-control DLLP of one class ("UpdateFC-P"). Empty where the word is none of these.
std::optional<UnitFilter> read_unit_filter(const std::string& word);
/// All words that read_unit_filter takes.
std::vector<std::string> unit_filter_words();

struct WireFault {
  enum class Action : std::uint8_t {
    kCorrupt,    ///< arrives damaged
    kDrop,       ///< takes its time on the wire and never arrives
    kDuplicate,  ///< arrives a second time, behind itself
    kDelay       ///< arrives later, and all behind it do
  };
  Action action = Action::kCorrupt;
  UnitFilter unit;
  std::uint64_t nth = 1;    ///< the first unit that is struck, among those that match from now on
  std::uint64_t count = 1;  ///< so many in a row
  Time by{};                ///< kDelay
  bool may_miss = false;    ///< it is no error if it never strikes
  std::uint32_t token = 0;  ///< of the operation that asked for it
};

/// A fault that has not struck all units it was to strike.
struct MissedFault {
  WireFault fault;
  std::uint64_t struck = 0;  ///< units so far
};

/// What becomes of one unit.
struct Strike {
  bool is_damaged = false, is_lost = false, is_doubled = false;
  Time delay{};
};

class WireFaults {
 public:
  bool empty() const { return faults_.empty(); }
  void add(const WireFault& fault) { faults_.push_back({fault, 0}); }
  /// The next unit goes on the wire. Faults that have done all they were to do are forgotten.
  Strike strike(const WireUnit& unit);
  /// Appends those that have something left to do and may not miss.
  void missed(std::vector<MissedFault>& list) const;

 private:
  struct Armed {
    WireFault fault;
    std::uint64_t seen = 0;
    bool is_spent() const { return seen + 1 >= fault.nth + fault.count; }
  };
  std::vector<Armed> faults_;
};

}  // namespace flitwise
