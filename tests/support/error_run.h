// SPDX-License-Identifier: Apache-2.0
/// Runs over a link with bit errors, from a few thousand TLPs in CI to millions.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "flitwise/system.h"
#include "support/pattern_memory.h"

namespace flitwise::test {

/// `requests` writes of 64 B (88 B on the wire), of which every 1,000th is hit on average: every
/// byte arrives once and in order. [LNK-7.4] to [LNK-7.15]
inline void expect_every_byte_once_and_in_order(std::uint64_t requests) {
  constexpr double kBitsOfOneWrite = 88 * 8;
  Config config;
  config.link.identity = Identity::kBdf;
  config.link.error_rate = 1 / (1'000 * kBitsOfOneWrite);
  config.workload.requests = requests;
  PatternMemory memory("pattern_memory");
  System system(config, memory.socket);
  const RunResult result = system.run();
  const DirectionResult& up = result.rows<LinkResult>().at(0).up;
  EXPECT_EQ(memory.out_of_place, 0U);
  EXPECT_EQ(memory.bytes, requests * 64);
  EXPECT_EQ(up.tlps, requests);
  EXPECT_TRUE(result.errors.empty());
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  // One hit in 1,000 transmissions, replays included.
  const double hits = static_cast<double>(up.tlps + up.replays) / 1'000;
  EXPECT_NEAR(static_cast<double>(up.corrupted), hits, 4.5 * std::sqrt(hits));
  EXPECT_EQ(up.bits.total(), static_cast<std::uint64_t>(up.window.fs / 31'250) * 16);
  std::printf(
      "%llu writes, %llu transmissions damaged: %llu replays of %llu TLPs, %llu retrains\n",
      static_cast<unsigned long long>(up.tlps), static_cast<unsigned long long>(up.corrupted),
      static_cast<unsigned long long>(up.replay_events),
      static_cast<unsigned long long>(up.replays), static_cast<unsigned long long>(up.retrains));
}

}  // namespace flitwise::test
