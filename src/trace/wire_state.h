// SPDX-License-Identifier: Apache-2.0
/// What the units on the wires of links tell of their ends, as somebody with a protocol analyser
/// would reckon it: requests without their completion, and credits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "trace/trace_sink.h"

namespace flitwise {

/// Is the completion the last of its request? [LNK-2.5]
bool is_last_completion(const Tlp& completion);

/// What is reckoned of a wire: requests_out, then header credits that are left, by class.
inline constexpr std::size_t kRequestsOut = 0, kHeaderCredits = 1,
                             kWireValues = kHeaderCredits + kFcClasses;

class WireState;

/// Changes of these values on all wires, in the order of time. Units come in another one: an answer
/// is told of, with an end that is yet to come, before what begins ahead of that end.
class WireChanges {
 public:
  enum class Kind : std::uint8_t { kAdd, kSet };

  void note(Time at, WireState& wire, std::size_t value, Kind kind, std::int64_t amount) {
    changes_.push({at, ++order_, &wire, value, kind, amount});
  }
  /// Makes those before `now`. tell(id of the wire, value, time, its new amount) where it shows and
  /// is another than the one told last.
  template <class Tell>
  void make_until(Time now, const Tell& tell);

 private:
  struct Change {
    Time at;
    std::uint64_t order;
    WireState* wire;
    std::size_t value;
    Kind kind;
    std::int64_t amount;
    friend bool operator<(const Change& a, const Change& b) {  // the earliest on top
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  std::priority_queue<Change> changes_;
  std::uint64_t order_ = 0;
};

/// One direction of a link.
class WireState {
 public:
  /// `changes` outlives this object, which stays where it is.
  WireState(WireChanges& changes, std::uint64_t id) : changes_(changes), id_(id) {}
  WireState(const WireState&) = delete;
  WireState& operator=(const WireState&) = delete;

  /// What its sender has when traces begin. [LNK-8.2]
  void begin(const std::array<HeaderCredits, kFcClasses>& credits);
  /// A unit that was sent in this direction.
  void sent(const TraceEvent& event);
  /// One that came in the other. The uid of the request that it answers, be it damaged; else 0.
  std::uint64_t came(const TraceEvent& event);

 private:
  friend class WireChanges;
  /// A non-posted request on its way.
  struct Asked {
    std::uint64_t uid = 0;
    Bdf id;                  // as it stands in the TLP
    bool is_handle = false;  // the above is a handle
    bool is_raw = false;     // nobody knows the BDF behind that
  };
  using AskedRequests = std::unordered_map<std::uint64_t, Asked>;  // by BDF and tag
  struct Announced {
    bool is_counted = false;  // else infinite, or nothing has been announced
    bool has_shared = false;
    std::uint32_t limit = 0;
  };

  AskedRequests::iterator request_of(const Tlp& completion);
  bool takes_effect(const TraceEvent& completion);
  void announce(const Dllp& dllp, Time at);
  void follow(const TraceEvent& event);

  WireChanges& changes_;
  const std::uint64_t id_;
  std::array<Announced, kFcClasses> announced_;
  AskedRequests asked_;
  std::unordered_set<std::uint64_t> missed_;  // last completions that came damaged or not at all
  bool is_shown_ = false;
  std::array<std::optional<std::int64_t>, kWireValues> amounts_{0}, told_;
};

template <class Tell>
void WireChanges::make_until(Time now, const Tell& tell) {
  while (!changes_.empty() && changes_.top().at < now) {
    const Change change = changes_.top();
    changes_.pop();
    WireState& wire = *change.wire;
    std::optional<std::int64_t>& amount = wire.amounts_[change.value];
    amount = change.kind == Kind::kSet ? change.amount : amount.value_or(0) + change.amount;
    std::optional<std::int64_t>& told = wire.told_[change.value];
    if (wire.is_shown_ && told != amount) {
      told = amount;
      tell(wire.id_, change.value, change.at, static_cast<std::uint64_t>(*amount));
    }
  }
}

}  // namespace flitwise
