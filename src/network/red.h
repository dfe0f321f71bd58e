// SPDX-License-Identifier: Apache-2.0
/// Which packets a queue marks, by how long it is: random early detection with ECN. [CC-1]
#pragma once

#include <cstdint>
#include <string>

#include "common/random.h"
#include "network/switch_view.h"

namespace flitwise {

/// Of one queue. Up to `low` bytes none is marked, from `high` on each one, between them a share
/// that rises from 0 to `most`.
struct RedRules {
  bool is_on = true;
  std::uint64_t low = 5'000, high = 200'000;  ///< bytes: Kmin, Kmax
  double most = 0.01;                         ///< Pmax
  /// Packets without ECT are dropped where others are marked; else they pass.
  bool drops_not_ect = true;
};

/// What is wrong with them, as a sentence; empty: nothing.
std::string complaint_about(const RedRules& rules);

enum class RedVerdict : std::uint8_t { kPass, kMark, kDrop };

/// For a packet that finds `queued` bytes before it. One random number where the queue is between
/// the two thresholds, none elsewhere. One that has CE already keeps it: kPass.
inline RedVerdict red_verdict(const RedRules& rules, std::uint64_t queued, Ecn ecn,
                              Random& random) {
  if (!rules.is_on || queued <= rules.low || ecn == Ecn::kCe) {
    return RedVerdict::kPass;
  }
  const auto share = [&] {
    return static_cast<double>(queued - rules.low) / static_cast<double>(rules.high - rules.low) *
           rules.most;
  };
  if (queued < rules.high && !random.chance(share())) {
    return RedVerdict::kPass;
  }
  return ecn != Ecn::kNotEct   ? RedVerdict::kMark
         : rules.drops_not_ect ? RedVerdict::kDrop
                               : RedVerdict::kPass;
}

}  // namespace flitwise
