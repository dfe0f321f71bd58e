// SPDX-License-Identifier: Apache-2.0
#include "srdma/session_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace flitwise {
namespace {

constexpr unsigned kMostDoublings = 10;  // of the back-off

template <class Of>
std::size_t count_where(const std::vector<ControlledSession>& sessions, Of of) {
  return static_cast<std::size_t>(std::count_if(sessions.begin(), sessions.end(), of));
}

Time cooldown_of(const std::optional<Time>& given, const std::vector<ControlledSession>& sessions) {
  Time rtt{};
  for (const ControlledSession& one : sessions) {
    rtt = std::max(rtt, one.rtt);
  }
  return given.value_or(rtt * 5);
}

}  // namespace

std::vector<std::string> refusals_of(const ControlSetup& setup,
                                     const std::vector<double>& thresholds) {
  std::vector<std::string> refusals;
  const auto need = [&](bool is_so, std::string sentence) {
    if (!is_so) {
      refusals.push_back(std::move(sentence));
    }
  };
  const auto is_share = [](double value) { return value >= 0 && value <= 1; };
  need(is_share(setup.threshold),
       fmt::format("threshold {} seen; expected 0 to 1", setup.threshold));
  need(is_share(setup.relaxed),
       fmt::format("relax threshold {} seen; expected 0 to 1", setup.relaxed));
  need(!(setup.relaxed > setup.threshold),
       fmt::format("relax threshold {} seen; expected at most the threshold, which is {}",
                   setup.relaxed, setup.threshold));
  for (const double threshold : thresholds) {
    need(is_share(threshold),
         fmt::format("threshold {} of a session seen; expected 0 to 1", threshold));
    need(!(setup.relaxed > threshold),
         fmt::format("relax threshold {} seen; expected at most the threshold of each session, and "
                     "one has {}",
                     setup.relaxed, threshold));
  }
  need(
      setup.least_sessions >= 1 && setup.least_sessions <= setup.most_sessions,
      fmt::format("{} to {} sessions seen; expected 1 at least, and the first not above the second",
                  setup.least_sessions, setup.most_sessions));
  need(setup.quorum >= 1 && setup.quorum <= setup.most_sessions,
       fmt::format("quorum {} seen; expected 1 to {} sessions", setup.quorum, setup.most_sessions));
  need(setup.relax_quorum <= setup.most_sessions,
       fmt::format("relax quorum {} seen; expected up to {} sessions, or 0: all of them",
                   setup.relax_quorum, setup.most_sessions));
  need(setup.most_cost >= 0 && setup.session_cost >= 0 && setup.byte_cost >= 0 &&
           setup.crypto_cost >= 0,
       "a cost below 0 seen; expected 0 or more");
  need(setup.interval > Time{}, "a control interval of 0 seen; expected more");
  need(!setup.is_capability || !setup.is_by_weight,
       "weights of form capability are high where a session is good; expected thresholds of the "
       "level");
  return refusals;
}

double cost_of(const ControlSetup& setup, std::uint64_t state_bytes, bool is_secured,
               double packets_per_second) {
  return setup.session_cost + setup.byte_cost * static_cast<double>(state_bytes) +
         (is_secured ? setup.crypto_cost * packets_per_second : 0);
}

bool SessionControl::is_congested(const std::vector<ControlledSession>& sessions) const {
  const auto is_above = [&](const ControlledSession& one) {
    return held(one.score) > one.threshold.value_or(setup_.threshold);
  };
  const std::size_t above = count_where(sessions, is_above);
  switch (setup_.mode) {
    case CongestedMode::kAll: return above == sessions.size();
    case CongestedMode::kAny: return above > 0;
    case CongestedMode::kQuorum: return above >= setup_.quorum;
    case CongestedMode::kMean: break;
  }
  double sum = 0;
  for (const ControlledSession& one : sessions) {
    sum += held(one.score);
  }
  return sum > setup_.threshold * static_cast<double>(sessions.size());
}

bool SessionControl::is_relaxed(const std::vector<ControlledSession>& sessions) const {
  const std::size_t below = count_where(
      sessions, [&](const ControlledSession& one) { return held(one.score) < setup_.relaxed; });
  return below >= (setup_.relax_quorum == 0 ? sessions.size() : setup_.relax_quorum);
}

// The first of CT-3 in its order.
SessionIndex SessionControl::victim_of(const std::vector<ControlledSession>& sessions) const {
  const auto rank = [&](const ControlledSession& one) {
    const double bad = setup_.is_capability ? -one.score.weight : one.score.weight;
    return std::make_tuple(one.cost, bad, one.opened.fs, one.session);
  };
  return std::max_element(sessions.begin(), sessions.end(),
                          [&](const ControlledSession& a, const ControlledSession& b) {
                            return rank(a) < rank(b);
                          })
      ->session;
}

ControlDecision SessionControl::decide(Time now,
                                       const std::vector<ControlledSession>& sessions) const {
  using Action = ControlDecision::Action;
  using Cause = ControlDecision::Cause;
  const auto is_within = [now](const std::optional<Time>& last, Time span) {
    return last && now - *last < span;
  };
  if (!setup_.is_on || sessions.empty()) {
    return {};
  }
  if (is_congested(sessions)) {
    if (sessions.size() + pending_ >= setup_.most_sessions) {
      return {Action::kNone, Cause::kMost, kNoSessionIndex};
    }
    if (is_within(last_add_, cooldown_of(setup_.add_cooldown, sessions)) || now < back_off_until_) {
      return {Action::kNone, Cause::kAddWait, kNoSessionIndex};
    }
    return {Action::kAdd, Cause::kCongested, kNoSessionIndex};
  }
  if (!is_relaxed(sessions)) {
    return {};
  }
  double cost = 0;
  for (const ControlledSession& one : sessions) {
    cost += one.cost;
  }
  if (!(cost > setup_.most_cost)) {
    return {Action::kNone, Cause::kCheap, kNoSessionIndex};
  }
  if (sessions.size() <= setup_.least_sessions) {
    return {Action::kNone, Cause::kLeast, kNoSessionIndex};
  }
  if (is_within(last_remove_, cooldown_of(setup_.remove_cooldown, sessions))) {
    return {Action::kNone, Cause::kRemoveWait, kNoSessionIndex};
  }
  return {Action::kRemove, Cause::kRelaxed, victim_of(sessions)};
}

void SessionControl::note(Time now, const ControlDecision& decision) {
  ++counts_[static_cast<std::size_t>(decision.cause)];
  if (decision.action == ControlDecision::Action::kRemove) {
    last_remove_ = now;
  }
}

void SessionControl::begin_add(Time now) {
  ++pending_;
  last_add_ = now;
}

void SessionControl::end_add(Time now, bool is_done) {
  --pending_;
  if (is_done) {
    failures_ = 0;
    return;
  }
  ++failed_adds_;
  back_off_until_ =
      now + setup_.interval * (std::int64_t{1} << std::min(failures_, kMostDoublings));
  ++failures_;
}

}  // namespace flitwise
