// SPDX-License-Identifier: Apache-2.0
/// The weighting system of a session group: seven algorithms behind one interface, and the filter
/// that each of them goes through. [6.3] [7]
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "common/random.h"
#include "common/ranges.h"
#include "flitwise/config.h"
#include "srdma/session.h"
#include "srdma/session_stats.h"

namespace flitwise {

inline constexpr std::array<const char*, 7> kWeightAlgorithmNames = {
    "bandwidth_ratio", "latency_norm", "random_probe", "queueing_time",
    "ecn_fraction",    "static",       "activity"};
constexpr const char* name_of(WeightAlgorithm algorithm) {
  return kWeightAlgorithmNames[static_cast<std::size_t>(algorithm)];
}

/// Of bandwidth_ratio. 60 of 100 are 0.4, 0.6 and 0.6; of the last one 1 is good. [7.1]
enum class BandwidthForm : std::uint8_t { kDeficit, kLoad, kCapability };

struct WeightSetup {
  WeightAlgorithm algorithm = WeightAlgorithm::kQueueingTime;
  BandwidthForm form = BandwidthForm::kDeficit;
  bool has_echo = true;                   ///< else the level of a session is its weight [7]
  bool is_minmax = false;                 ///< latency_norm over the sessions, not by fixed bounds
  bool is_by_idle_gap = false;            ///< activity = 1 - idle gap / stale_time
  double gain = 0.125;                    ///< g_w, above 0; 1: no filter
  Time q_max{};                           ///< delay of level 1; 0: 4 times the least RTT
  Time lat_eps = Time::from_ns(500);      ///< of minmax: a smaller spread is none
  Time stale_time = Time::from_us(100);   ///< of is_by_idle_gap
  Time probe_epoch = Time::from_us(100);  ///< of random_probe, as are those below
  double eta = 0.25, explore = 0.05;
  Time loss_cost = Time::from_ns(524'288);  ///< what a loss adds to the latency of a packet
  double loss_penalty = 0.25;               ///< of LR-5
  std::vector<double> fixed{};              ///< of static, by index; 0 beyond its end

  /// Is a high weight good? [7.1]
  bool is_capability() const {
    return algorithm == WeightAlgorithm::kBandwidthRatio && form == BandwidthForm::kCapability;
  }
};

/// Why there is no such weighting in a group of up to so many sessions, a sentence each. [7.5]
std::vector<std::string> refusals_of(const WeightSetup& setup, unsigned most_sessions);

/// What an algorithm says of one session. The score is the one that it has, till it says another.
struct FreshScore {
  SessionScore score;
  bool is_fresh = false;  ///< false: it knows nothing new, and the session keeps its score
};

/// One algorithm. Any finite value will do: they are clamped.
class WeightRule {
 public:
  virtual ~WeightRule() = default;
  virtual const char* name() const = 0;
  /// There is a new session of this index.
  virtual void begin(SessionIndex /*session*/) {}
  /// Stands in `fresh` for each index that is eligible what the interval of that span has told.
  virtual void update(Time now, Time span, const std::vector<SessionStats>& stats,
                      std::vector<FreshScore>& fresh) = 0;
};
/// random: of stream `weight`, of random_probe.
std::unique_ptr<WeightRule> make_weight_rule(const WeightSetup& setup, const Random& random);

/// Scores of all sessions of a group, by index. update() is O(sessions).
class WeightingSystem {
 public:
  /// `setup` outlives it.
  WeightingSystem(const WeightSetup& setup, const Random& random)
      : WeightingSystem(setup, make_weight_rule(setup, random)) {}
  WeightingSystem(const WeightSetup& setup, std::unique_ptr<WeightRule> rule)
      : setup_(&setup), rule_(std::move(rule)) {}

  /// Its score is the mean of those that are eligible, 0 without any. [CT-4]
  void begin(SessionIndex session, const std::vector<SessionStats>& stats);
  /// Another algorithm from the next update on. Scores stay till then. [6.3] [WT-C10]
  void change(const WeightSetup& setup, const Random& random);
  /// Sessions that are eligible get what the algorithm says, clamped and filtered. What is no
  /// number ends the run, and names the algorithm. [6.3] [WT-C5]
  void update(Time now, Time span, const std::vector<SessionStats>& stats);
  /// A loss found by NAK or SACK. [LR-5]
  void punish(SessionIndex session);

  /// With what overrides the algorithm. [MO-3]
  SessionScore score(SessionIndex session, const SessionStats& stats) const {
    return stats.is_timed_out || !stats.is_alive
               ? SessionScore{1, setup_->is_capability() ? 0.0 : 1.0}
               : kept_[session].score;
  }
  const WeightSetup& setup() const { return *setup_; }

 private:
  const WeightSetup* setup_;
  std::unique_ptr<WeightRule> rule_;
  struct Kept {
    SessionScore score;
    bool is_measured = false;  ///< the first value stands as it is
  };
  std::vector<Kept> kept_;
  std::vector<FreshScore> fresh_;
};

}  // namespace flitwise
