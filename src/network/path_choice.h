// SPDX-License-Identifier: Apache-2.0
/// By which of its candidates a switch sends a packet: ECMP, or adaptive routing for those of the
/// class for it. [NW-2] [NW-4] [NW-5]
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/random.h"
#include "common/ranges.h"
#include "flitwise/config.h"
#include "network/network_graph.h"
#include "network/switch_view.h"

namespace flitwise {

/// Of all switches of a network.
struct PathRules {
  struct {
    bool is_on = true;
    std::uint8_t mask = 0xfc, value = 0x88;  ///< of the ToS byte: those with (ToS & mask) == value
    AdaptiveMetric metric = AdaptiveMetric::kQueue;
    std::uint64_t level = 1;  ///< of the metric: what is in one level is as good; 1: exact
    AdaptiveTie tie = AdaptiveTie::kRandom;
    bool is_by_flowlet = false;            ///< else each packet for itself
    Time flowlet_gap = Time::from_us(5);   ///< a longer one begins a new flowlet
    std::uint32_t flowlet_entries = 1024;  ///< a switch; a power of two
  } adaptive;
};

/// What is wrong with them, as a sentence; empty: nothing.
std::string complaint_about(const PathRules& rules);

/// The choice at one switch.
class PathChoice {
 public:
  struct Counts {
    std::uint64_t ecmp = 0, adaptive = 0;  ///< packets
    /// Those of ECMP that had a choice, by the place of their port among the candidates.
    std::vector<std::uint64_t> buckets;
  };

  /// `random`: of its own, of stream `ecmp`. `rules` have to outlive it.
  PathChoice(const PathRules& rules, std::uint32_t seed, Random random);

  bool is_adaptive(const SwitchView& seen) const {
    return rules_.adaptive.is_on &&
           ((seen.tos & rules_.adaptive.mask) == rules_.adaptive.value || seen.has_ar_bit);
  }
  /// The place of that of ECMP among the candidates. REQUIRES: there are some.
  std::uint32_t place_of(const SwitchView& seen, PortSet candidates) const {
    return candidates.size() == 1 ? 0 : with_seed(seen.hash, seed_) % candidates.size();
  }
  /// One of the candidates: candidates[H(5-tuple, seed) mod n], the same port for a tuple while
  /// they stay; or by the metric. metric(port) is how loaded it is: bytes in its queue, or
  /// femtoseconds for which it was busy; it is asked of packets with adaptive routing alone, once a
  /// candidate. REQUIRES: candidates is not empty; now does not fall.
  template <class Metric>
  PortId choose(Time now, const SwitchView& seen, PortSet candidates, Metric metric) {
    if (!is_adaptive(seen)) {
      ++counts_.ecmp;
      const std::uint32_t place = place_of(seen, candidates);
      if (candidates.size() > 1) {
        count(place);
      }
      return candidates[place];
    }
    ++counts_.adaptive;
    if (candidates.size() == 1) {
      return candidates[0];
    }
    if (!rules_.adaptive.is_by_flowlet) {
      return least_loaded(candidates, metric);
    }
    Flowlet& flowlet = flowlets_[seen.hash & (flowlets_.size() - 1)];
    const bool goes_on = flowlet.hash == seen.hash && now - flowlet.last <= gap() &&
                         contains(candidates, flowlet.port);
    if (!goes_on) {
      flowlet.hash = seen.hash;
      flowlet.port = least_loaded(candidates, metric);
    }
    flowlet.last = now;
    return flowlet.port;
  }
  const Counts& counts() const { return counts_; }

 private:
  struct Flowlet {
    std::uint32_t hash = 0;
    PortId port = kNoNetworkPort;
    Time last{};
  };

  void count(std::uint32_t place) {
    if (place >= counts_.buckets.size()) {
      counts_.buckets.resize(place + 1);  // once a place
    }
    ++counts_.buckets[place];
  }
  Time gap() const { return rules_.adaptive.flowlet_gap; }
  std::uint64_t level_of(std::uint64_t load) const {
    return rules_.adaptive.level == 1 ? load : load / rules_.adaptive.level;
  }
  template <class Metric>
  PortId least_loaded(PortSet candidates, Metric metric) {
    std::uint64_t least = ~std::uint64_t{0};
    std::uint32_t ties = 0;
    PortId chosen = kNoNetworkPort;
    for (const PortId port : candidates) {
      const std::uint64_t level = level_of(metric(port));
      if (level < least) {
        least = level;
        ties = 1;
        chosen = port;
      } else if (level == least && rules_.adaptive.tie == AdaptiveTie::kRandom) {
        chosen = random_.below(++ties) == 0 ? port : chosen;  // each of them alike
      }
    }
    return chosen;
  }

  const PathRules& rules_;
  const std::uint32_t seed_;
  Random random_;
  std::vector<Flowlet> flowlets_;  // by low bits of the hash
  Counts counts_;
};

/// How long a port was busy in about the last window, for the metric `util`: that of this window
/// so far, and of the one before it the part that the window still reaches.
class PortUtilisation {
 public:
  explicit PortUtilisation(Time window) : window_(window) {}

  /// It sends for `span`, from now on. REQUIRES: now does not fall.
  void add(Time now, Time span) {
    move(now);
    busy_ += span;
  }
  /// Femtoseconds; may exceed the window where it is busy beyond now.
  std::uint64_t busy(Time now) {
    move(now);
    const double part =
        1 - static_cast<double>((now - begin_).fs) / static_cast<double>(window_.fs);
    return static_cast<std::uint64_t>(
        busy_.fs + static_cast<std::int64_t>(static_cast<double>(before_.fs) * part));
  }

 private:
  void move(Time now) {
    if (now - begin_ < window_) {
      return;
    }
    const std::int64_t windows = (now - begin_).fs / window_.fs;
    before_ = windows == 1 ? busy_ : Time{};
    busy_ = Time{};
    begin_ += window_ * windows;
  }

  Time window_, begin_{}, busy_{}, before_{};
};

}  // namespace flitwise
