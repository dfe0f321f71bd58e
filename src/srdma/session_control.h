// SPDX-License-Identifier: Apache-2.0
/// When a session group adds a session, and when it closes which one. [9] [CT-1] to [CT-8]
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/ranges.h"
#include "flitwise/config.h"
#include "flitwise/time.h"
#include "srdma/session.h"
#include "srdma/session_stats.h"

namespace flitwise {

inline constexpr std::array<const char*, 4> kCongestedModeNames = {"all", "any", "quorum", "mean"};

struct ControlSetup {
  bool is_on = true;
  Time interval = Time::from_us(50);
  bool is_by_weight = false;  ///< thresholds hold the weight, else the level
  CongestedMode mode = CongestedMode::kAll;
  unsigned quorum = 1;                                      ///< q of mode quorum
  double threshold = 0.7;                                   ///< T
  double relaxed = 0.5;                                     ///< T_low
  unsigned relax_quorum = 0;                                ///< q_relax; 0: all of them
  double most_cost = 8;                                     ///< C
  double session_cost = 1, byte_cost = 0, crypto_cost = 0;  ///< c_base, c_mem, c_crypto [CT-2]
  unsigned least_sessions = 1, most_sessions = 64;
  std::optional<Time> add_cooldown, remove_cooldown;  ///< none: 5 times the largest RTT [CT-7]
  bool is_capability = false;                         ///< a high weight is good [7.1]
};

/// Why there is no such control, a sentence each. thresholds: of single sessions. [CT-8] [7.1]
std::vector<std::string> refusals_of(const ControlSetup& setup,
                                     const std::vector<double>& thresholds = {});

/// What decides of one eligible session.
struct ControlledSession {
  SessionIndex session = kNoSessionIndex;
  SessionScore score;
  std::optional<double> threshold;  ///< T_i
  double cost = 0;                  ///< [CT-2]
  Time opened{}, rtt{};
};

/// c_base + c_mem * state_bytes + c_crypto * packets/s of a secured session. [CT-2]
double cost_of(const ControlSetup& setup, std::uint64_t state_bytes, bool is_secured,
               double packets_per_second);

struct ControlDecision {
  enum class Action : std::uint8_t { kNone, kAdd, kRemove };
  /// Why not, or why.
  enum class Cause : std::uint8_t {
    kMixed,      ///< neither congested nor relaxed
    kCheap,      ///< relaxed, and the cost is within its limit
    kCongested,  ///< kAdd
    kRelaxed,    ///< kRemove
    kMost,       ///< congested: as many sessions as there may be
    kAddWait,    ///< congested: within the cool-down or a back-off
    kLeast,      ///< relaxed: as few sessions as there may be
    kRemoveWait  ///< relaxed: within the cool-down
  };
  Action action = Action::kNone;
  Cause cause = Cause::kMixed;
  SessionIndex victim = kNoSessionIndex;  ///< of kRemove [CT-3]
};
constexpr const char* name_of(ControlDecision::Action action) {
  constexpr const char* kNames[] = {"none", "add", "remove"};
  return name_in(kNames, action);
}
inline constexpr std::size_t kControlCauses = 8;
constexpr const char* name_of(ControlDecision::Cause cause) {
  constexpr const char* kNames[] = {"mixed", "cheap",        "congested",    "relaxed",
                                    "max",   "add_cooldown", "min_sessions", "remove_cooldown"};
  return name_in(kNames, cause);
}

/// What is remembered between decisions, and how many had which cause.
class SessionControl {
 public:
  /// `setup` outlives it.
  explicit SessionControl(const ControlSetup& setup) : setup_(setup) {}

  /// Once an interval, over all eligible sessions. O(sessions). Changes nothing.
  ControlDecision decide(Time now, const std::vector<ControlledSession>& sessions) const;
  /// Counts it; a removal is done. [CT-7]
  void note(Time now, const ControlDecision& decision);
  /// The handshake of a new session begins, and ends. After one that fails none is begun for a
  /// control interval, twice as long with each failure in a row, up to 1024 times. [CT-5]
  void begin_add(Time now);
  void end_add(Time now, bool is_done);

  unsigned pending() const { return pending_; }
  std::uint64_t failed_adds() const { return failed_adds_; }
  std::uint64_t count(ControlDecision::Cause cause) const {
    return counts_[static_cast<std::size_t>(cause)];
  }

 private:
  bool is_congested(const std::vector<ControlledSession>& sessions) const;
  bool is_relaxed(const std::vector<ControlledSession>& sessions) const;
  SessionIndex victim_of(const std::vector<ControlledSession>& sessions) const;
  double held(const SessionScore& score) const {
    return setup_.is_by_weight ? score.weight : score.level;
  }

  const ControlSetup& setup_;
  unsigned pending_ = 0, failures_ = 0;  // failures in a row
  std::optional<Time> last_add_, last_remove_;
  Time back_off_until_{};
  std::uint64_t failed_adds_ = 0;
  std::array<std::uint64_t, kControlCauses> counts_{};
};

}  // namespace flitwise
