// SPDX-License-Identifier: Apache-2.0
// Each algorithm, a class; and the filter behind them.
#include "srdma/weight_algorithms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flitwise/error.h"

namespace flitwise {
namespace {

// 0..1; all of a whole that is nothing.
double part_of(Time part, Time whole) {
  if (part <= Time{}) {
    return 0;
  }
  return part >= whole ? 1 : static_cast<double>(part.fs) / static_cast<double>(whole.fs);
}

Time full_delay(const WeightSetup& setup, Time base) {
  return setup.q_max > Time{} ? setup.q_max : base * 4;
}

double delay_level(const WeightSetup& setup, const SessionStats& stats) {
  return part_of(stats.queueing_delay(), full_delay(setup, stats.rtt_base));
}

// An algorithm that looks at one session at a time.
class LoneRule : public WeightRule {
 public:
  explicit LoneRule(const WeightSetup& setup) : setup_(setup) {}
  const char* name() const override { return name_of(setup_.algorithm); }
  void update(Time now, Time span, const std::vector<SessionStats>& stats,
              std::vector<FreshScore>& fresh) override {
    for (std::size_t i = 0; i < stats.size(); ++i) {
      if (stats[i].is_eligible) {
        look_at(i, now, span, stats[i], fresh[i]);
      }
    }
  }

 protected:
  virtual void look_at(std::size_t session, Time now, Time span, const SessionStats& stats,
                       FreshScore& fresh) = 0;
  /// A weight that says nothing of the level. [7]
  void set(double weight, const SessionStats& stats, FreshScore& fresh) const {
    fresh.is_fresh = true;
    fresh.score.weight = weight;
    if (!setup_.has_echo) {
      fresh.score.level = weight;
    } else if (stats.rtt_samples > 0) {
      fresh.score.level = delay_level(setup_, stats);
    }
  }
  const WeightSetup setup_;
};

/// A probe that is answered stands for traffic of which all came through. [7.1] [MO-3]
class BandwidthRatio : public LoneRule {
 public:
  using LoneRule::LoneRule;

 private:
  void look_at(std::size_t /*session*/, Time /*now*/, Time span, const SessionStats& stats,
               FreshScore& fresh) override {
    const SessionStats::Interval& interval = stats.interval;
    const bool has_traffic = interval.offered_bytes > 0;
    const double rated = stats.rated / 8 * static_cast<double>(span.fs) / 1e15;
    if ((!has_traffic && interval.probe_answers == 0) || !(rated > 0)) {
      return;
    }
    const auto achieved = static_cast<double>(interval.achieved_bytes);
    const double could = std::min(rated, static_cast<double>(interval.offered_bytes));
    const double share = has_traffic ? achieved / could : 1;
    fresh.is_fresh = true;
    switch (setup_.form) {
      case BandwidthForm::kDeficit: fresh.score = {1 - share, 1 - share}; break;
      case BandwidthForm::kLoad: fresh.score = {achieved / rated, achieved / rated}; break;
      case BandwidthForm::kCapability: fresh.score = {1 - share, share}; break;
    }
  }
};

class QueueingTime : public LoneRule {
 public:
  using LoneRule::LoneRule;

 private:
  void look_at(std::size_t /*session*/, Time /*now*/, Time /*span*/, const SessionStats& stats,
               FreshScore& fresh) override {
    if (stats.interval.rtt_samples > 0) {
      const double level = delay_level(setup_, stats);
      fresh = {{level, level}, true};
    }
  }
};

class EcnFraction : public LoneRule {
 public:
  using LoneRule::LoneRule;

 private:
  void look_at(std::size_t /*session*/, Time /*now*/, Time /*span*/, const SessionStats& stats,
               FreshScore& fresh) override {
    if (stats.interval.echoes > 0) {
      const double level = static_cast<double>(stats.interval.ce_echoes) / stats.interval.echoes;
      fresh = {{level, level}, true};
    }
  }
};

class FixedWeights : public LoneRule {
 public:
  using LoneRule::LoneRule;

 private:
  void look_at(std::size_t session, Time /*now*/, Time /*span*/, const SessionStats& stats,
               FreshScore& fresh) override {
    set(session < setup_.fixed.size() ? setup_.fixed[session] : 0, stats, fresh);
  }
};

class Activity : public LoneRule {
 public:
  using LoneRule::LoneRule;

 private:
  void look_at(std::size_t /*session*/, Time now, Time span, const SessionStats& stats,
               FreshScore& fresh) override {
    if (!setup_.is_by_idle_gap) {
      set(part_of(stats.interval.busy, span), stats, fresh);
    } else if (stats.sent_packets == 0) {
      set(0, stats, fresh);
    } else {
      set(1 - part_of(now - stats.last_sent, setup_.stale_time), stats, fresh);
    }
  }
};

/// Fixed bounds, or relative to the other sessions. [7.2]
class LatencyNorm : public WeightRule {
 public:
  explicit LatencyNorm(const WeightSetup& setup) : setup_(setup) {}
  const char* name() const override { return name_of(setup_.algorithm); }
  void update(Time /*now*/, Time /*span*/, const std::vector<SessionStats>& stats,
              std::vector<FreshScore>& fresh) override {
    Time base = Time::never(), least = Time::never(), most{};
    bool has_news = false;
    for (const SessionStats& one : stats) {
      if (is_member(one)) {
        base = std::min(base, one.rtt_base);
        least = std::min(least, one.rtt_ewma);
        most = std::max(most, one.rtt_ewma);
        has_news = has_news || one.interval.rtt_samples > 0;
      }
    }
    for (std::size_t i = 0; i < stats.size(); ++i) {
      const SessionStats& one = stats[i];
      if (!is_member(one) || !(setup_.is_minmax ? has_news : one.interval.rtt_samples > 0)) {
        continue;
      }
      const double level = part_of(one.rtt_ewma - base, full_delay(setup_, base));
      const bool is_spread = most > least && most - least >= setup_.lat_eps;
      fresh[i] = {{level, level}, true};
      if (setup_.is_minmax) {
        fresh[i].score.weight = is_spread ? part_of(one.rtt_ewma - least, most - least) : 0;
      }
    }
  }

 private:
  static bool is_member(const SessionStats& stats) {
    return stats.is_eligible && stats.rtt_samples > 0;
  }
  const WeightSetup setup_;
};

/// Weights are tried for an epoch each, and follow what they cost. [7.3]
class RandomProbe : public LoneRule {
 public:
  RandomProbe(const WeightSetup& setup, const Random& random)
      : LoneRule(setup), random_(random.split("weight")) {}

  void begin(SessionIndex session) override {
    if (session < tried_.size()) {
      tried_[session] = {};
    }
  }
  void update(Time now, Time span, const std::vector<SessionStats>& stats,
              std::vector<FreshScore>& fresh) override {
    tried_.resize(stats.size());
    for (std::size_t i = 0; i < stats.size(); ++i) {
      if (stats[i].is_eligible && !tried_[i].is_begun) {
        begin_epoch(tried_[i], stats[i]);
        tried_[i].weight = has_epoch_ ? fresh[i].score.weight : random_.real();
      }
    }
    if (!has_epoch_ || now >= epoch_end_) {
      if (has_epoch_) {
        end_epoch(stats);
      }
      has_epoch_ = true;
      epoch_end_ = now + setup_.probe_epoch;
    }
    LoneRule::update(now, span, stats, fresh);
  }

 private:
  struct Tried {
    double weight = 0;
    bool is_begun = false;
    std::uint64_t samples = 0, losses = 0;  // at the begin of the epoch, as is rtt_sum
    Time rtt_sum{};
    double cost = -1;  // fs a packet in this epoch; below 0: unknown
  };
  static void begin_epoch(Tried& own, const SessionStats& stats) {
    own.is_begun = true;
    own.samples = stats.rtt_samples;
    own.losses = stats.losses;
    own.rtt_sum = stats.rtt_sum;
  }
  // model: a packet that is lost counts as one that takes loss_cost.
  double cost_of(const Tried& own, const SessionStats& stats) const {
    const auto samples = static_cast<double>(stats.rtt_samples - own.samples);
    const auto losses =  // fewer where some were taken back
        static_cast<double>(stats.losses > own.losses ? stats.losses - own.losses : 0);
    if (samples + losses == 0) {
      return -1;
    }
    return (static_cast<double>((stats.rtt_sum - own.rtt_sum).fs) +
            losses * static_cast<double>(setup_.loss_cost.fs)) /
           (samples + losses);
  }
  void end_epoch(const std::vector<SessionStats>& stats) {
    double least = -1, most = -1;
    std::uint64_t eligible = 0;
    for (std::size_t i = 0; i < stats.size(); ++i) {
      Tried& own = tried_[i];
      own.cost = stats[i].is_eligible ? cost_of(own, stats[i]) : -1;
      eligible += stats[i].is_eligible ? 1 : 0;
      begin_epoch(own, stats[i]);
      if (own.cost >= 0) {
        least = least < 0 ? own.cost : std::min(least, own.cost);
        most = std::max(most, own.cost);
      }
    }
    for (Tried& own : tried_) {
      if (own.cost >= 0) {
        const double cost = most > least ? (own.cost - least) / (most - least) : 0;
        own.weight += setup_.eta * (cost - own.weight);
      }
    }
    if (random_.chance(setup_.explore) && eligible > 0) {
      std::uint64_t left = random_.below(eligible);
      std::size_t at = 0;
      for (; !stats[at].is_eligible || left-- > 0; ++at) {
      }
      tried_[at].weight = random_.real();
    }
  }
  void look_at(std::size_t session, Time /*now*/, Time /*span*/, const SessionStats& stats,
               FreshScore& fresh) override {
    set(tried_[session].weight, stats, fresh);
  }

  Random random_;
  std::vector<Tried> tried_;  // by index
  bool has_epoch_ = false;
  Time epoch_end_{};
};

}  // namespace

std::vector<std::string> refusals_of(const WeightSetup& setup, unsigned most_sessions) {
  std::vector<std::string> refusals;
  const auto need = [&](bool is_so, std::string sentence) {
    if (!is_so) {
      refusals.push_back(std::move(sentence));
    }
  };
  const WeightAlgorithm algorithm = setup.algorithm;
  need(setup.has_echo || algorithm != WeightAlgorithm::kEcnFraction,
       "ecn_fraction needs the echo of marks: turn the echo on, or take bandwidth_ratio");
  need(setup.has_echo || most_sessions <= 1 ||
           (algorithm != WeightAlgorithm::kLatencyNorm &&
            algorithm != WeightAlgorithm::kRandomProbe &&
            algorithm != WeightAlgorithm::kQueueingTime),
       fmt::format("{} needs the round trip of each of {} sessions: turn the echo on, or take "
                   "bandwidth_ratio",
                   name_of(algorithm), most_sessions));
  need(setup.gain > 0 && setup.gain <= 1,
       fmt::format("gain {} seen; expected more than 0, and at most 1", setup.gain));
  need(setup.eta > 0 && setup.eta <= 1,
       fmt::format("eta {} seen; expected more than 0, and at most 1", setup.eta));
  need(setup.explore >= 0 && setup.explore <= 1,
       fmt::format("explore {} seen; expected 0 to 1", setup.explore));
  need(setup.loss_penalty >= 0 && setup.loss_penalty <= 1,
       fmt::format("loss_penalty {} seen; expected 0 to 1", setup.loss_penalty));
  return refusals;
}

std::unique_ptr<WeightRule> make_weight_rule(const WeightSetup& setup, const Random& random) {
  switch (setup.algorithm) {
    case WeightAlgorithm::kBandwidthRatio: return std::make_unique<BandwidthRatio>(setup);
    case WeightAlgorithm::kLatencyNorm: return std::make_unique<LatencyNorm>(setup);
    case WeightAlgorithm::kRandomProbe: return std::make_unique<RandomProbe>(setup, random);
    case WeightAlgorithm::kEcnFraction: return std::make_unique<EcnFraction>(setup);
    case WeightAlgorithm::kStatic: return std::make_unique<FixedWeights>(setup);
    case WeightAlgorithm::kActivity: return std::make_unique<Activity>(setup);
    case WeightAlgorithm::kQueueingTime: break;
  }
  return std::make_unique<QueueingTime>(setup);
}

void WeightingSystem::begin(SessionIndex session, const std::vector<SessionStats>& stats) {
  SessionScore sum;
  int others = 0;
  for (SessionIndex one = 0; one < kept_.size(); ++one) {
    if (one != session && stats[one].is_eligible) {
      const SessionScore its = score(one, stats[one]);
      sum = {sum.level + its.level, sum.weight + its.weight};
      ++others;
    }
  }
  kept_.resize(std::max<std::size_t>(kept_.size(), session + 1U));
  kept_[session] = {};
  if (others > 0) {
    kept_[session].score = {sum.level / others, sum.weight / others};
  }
  rule_->begin(session);
}

void WeightingSystem::change(const WeightSetup& setup, const Random& random) {
  setup_ = &setup;
  rule_ = make_weight_rule(setup, random);
}

void WeightingSystem::update(Time now, Time span, const std::vector<SessionStats>& stats) {
  fresh_.resize(stats.size());
  for (std::size_t i = 0; i < stats.size(); ++i) {
    fresh_[i] = {kept_[i].score, false};
  }
  rule_->update(now, span, stats, fresh_);
  for (std::size_t i = 0; i < stats.size(); ++i) {
    if (!fresh_[i].is_fresh) {
      continue;
    }
    Kept& own = kept_[i];
    const auto filter = [&](double& kept, double value) {
      if (!std::isfinite(value)) {
        throw SimulationError(
            fmt::format("weight algorithm {} says {} of session {}; expected a number",
                        rule_->name(), value, i));
      }
      value = std::clamp(value, 0.0, 1.0);
      kept = own.is_measured && setup_->gain < 1 ? kept + setup_->gain * (value - kept) : value;
    };
    filter(own.score.level, fresh_[i].score.level);
    filter(own.score.weight, fresh_[i].score.weight);
    own.is_measured = true;
  }
}

void WeightingSystem::punish(SessionIndex session) {
  SessionScore& score = kept_[session].score;
  const double sign = setup_->is_capability() ? -1 : 1;
  score.level = std::min(1.0, score.level + setup_->loss_penalty);
  score.weight = std::clamp(score.weight + sign * setup_->loss_penalty, 0.0, 1.0);
}

}  // namespace flitwise
