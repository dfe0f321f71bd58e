// SPDX-License-Identifier: Apache-2.0
/// In front of the traces: shows them a window in time, some units, or what is around a trigger.
/// What it leaves out is told as not shown. (docs/traces.md)
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "trace/trace_sink.h"

namespace flitwise {

class TraceGate final : public TraceSink {
 public:
  /// `behind` outlives this object.
  TraceGate(TraceSelection selection, TraceSink& behind);

  void add(const TracedLink& link) override;
  void record(const TraceEvent& event) override;
  void over(const RequestEvent& event) override;
  /// What a trigger may still have wanted goes on, not shown. Those behind are not flushed.
  void flush() override;

  /// What the user has asked for and never was, a sentence each: a word that no unit had, a trigger
  /// that did not come, a window without units.
  std::vector<std::string> notes() const;

  /// Units that may wait for a trigger; those beyond are left out, oldest first.
  static constexpr std::size_t kMostHeld = 1'000'000;

 private:
  /// An event with a packet of its own: the one of the run goes on meanwhile.
  struct Held {
    PacketRef packet;
    std::optional<TraceEvent> unit;  ///< else it is a request that is over
    Time at;                         ///< of its first symbol, or of its end
    bool is_wanted;
  };
  bool is_in_window(Time at) const { return selection_.from <= at && at <= selection_.until; }
  bool has_words_of(const TraceEvent& event);
  bool has_words_of(const Packet& packet);
  bool is_trigger(const TraceEvent& event) const;
  bool waits_for_trigger() const {
    return selection_.trigger != TraceSelection::Trigger::kNone && !shown_from_;
  }
  bool is_around_trigger(Time at) const;
  void fire(Time from, Time until);
  void hold(const Packet& packet, const std::optional<TraceEvent>& unit, Time at, bool is_wanted);
  void let_go(Time now);
  void pass_first();
  void pass(TraceEvent event, bool is_shown);

  const TraceSelection selection_;
  TraceSink& behind_;
  PacketPool copies_;
  std::deque<Held> held_;
  std::optional<Time> shown_from_;  // by the trigger
  Time shown_until_{};
  std::unordered_set<std::uint64_t> shown_;  // requests under way of which a unit was wanted
  std::set<std::string> links_, types_, requesters_;  // that there were, as far as words are asked
  bool has_shown_ = false;
  bool has_too_many_ = false;
};

}  // namespace flitwise
