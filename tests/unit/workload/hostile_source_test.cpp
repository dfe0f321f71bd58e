// SPDX-License-Identifier: Apache-2.0
// What a hostile device sends is of every kind, and the same for the same seed.
#include "workload/hostile_source.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tlp/tlp_check.h"
#include "tlp/tlp_codec.h"

namespace flitwise::hostile_source_test {
namespace {

TEST(HostileSource, MeetsEveryTypeAndNearlyEveryViolation) {
  const HostileTarget target{
      Bdf::of(1, 0, 0),       2, 1U << 30, 1U << 20, {Identity::kDhi, DhiForm::kPrefix, 8},
      HandleRange::of_bits(7)};
  HostileSource source(target, Random(7));
  PacketPool pool;
  std::array<unsigned, kTlpTypes> types{};
  std::array<unsigned, kTlpViolations> violations{};
  TlpLimits limits;
  limits.has_pasid = false;
  for (int i = 0; i < 20'000; ++i) {
    const std::vector<std::uint8_t>& bytes = source.next();
    ASSERT_LE(bytes.size(), kMostTlpBytes);
    const PacketRef packet = pool.make(PacketKind::kTlp);
    write_raw(*packet, bytes.data(), bytes.size());
    if (packet->has_bad_ecrc) {
      ++violations[static_cast<std::size_t>(TlpViolation::kEcrcMismatch)];
    }
    const auto violation = packet->malformed ? packet->malformed : check_tlp(packet->tlp, limits);
    if (violation) {
      ++violations[static_cast<std::size_t>(*violation)];
    } else {
      ++types[static_cast<std::size_t>(packet->tlp.type)];
    }
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    EXPECT_GT(types[i], 0U) << name_of(static_cast<TlpType>(i));
  }
  for (std::size_t i = 0; i < violations.size(); ++i) {
    const auto violation = static_cast<TlpViolation>(i);
    // One needs a receiver that takes PASIDs but not on translated requests, one comes from above.
    if (violation != TlpViolation::kTranslatedWithPasid &&
        violation != TlpViolation::kInterruptFromAbove) {
      EXPECT_GT(violations[i], 0U) << name_of(violation);
    }
  }
}

TEST(HostileSource, SameSeedSamePackets) {
  const HostileTarget target{Bdf::of(1, 0, 0), 1, 1U << 30, 0, {}, {}};
  HostileSource one(target, Random(3));
  HostileSource two(target, Random(3));
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(one.next(), two.next());
  }
}

}  // namespace
}  // namespace flitwise::hostile_source_test
