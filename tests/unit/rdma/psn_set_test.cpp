// SPDX-License-Identifier: Apache-2.0
// Sets of PSNs against sets of numbers, around the circle.
#include <gtest/gtest.h>

#include <set>

#include "common/random.h"
#include "rdma/psn_set.h"

namespace flitwise::psn_set_test {
namespace {

// [PS-1]: PSNs as the distance from the first base, which no test passes 2^23 of.
struct Reference {
  Psn first;
  std::set<std::uint32_t> distances;

  Psn at(std::uint32_t distance) const { return psn_plus(first, distance); }
  Psn first_in(std::uint32_t from, std::uint32_t end) const {
    const auto found = distances.lower_bound(from);
    return at(found == distances.end() || *found >= end ? end : *found);
  }
  Psn first_missing(std::uint32_t from, std::uint32_t end) const {
    while (from < end && distances.count(from) > 0) {
      ++from;
    }
    return at(from);
  }
};

TEST(PsnSet, PS_1_IsASetOfNumbersAroundTheCircle) {
  constexpr std::uint64_t kSeed = 5;
  Random random(kSeed);
  PsnSet set;
  Reference reference{0xff'ff00, {}};
  set.reset(reference.first);
  std::uint32_t base = 0;
  for (unsigned i = 0; i < 200'000; ++i) {
    const std::uint32_t span = i < 100'000 ? 200 : 1000;
    const auto near = base + static_cast<std::uint32_t>(random.below(span));
    switch (random.below(6)) {
      case 0:
      case 1:
      case 2:
        ASSERT_EQ(set.insert(reference.at(near)), reference.distances.insert(near).second) << i;
        break;
      case 3: ASSERT_EQ(set.erase(reference.at(near)), reference.distances.erase(near) > 0); break;
      case 4:
        if (random.chance(0.1)) {
          base += static_cast<std::uint32_t>(random.below(90));
          set.advance(reference.at(base));
          reference.distances.erase(reference.distances.begin(),
                                    reference.distances.lower_bound(base));
        }
        break;
      default: {
        const std::uint32_t end = near + static_cast<std::uint32_t>(random.below(300));
        ASSERT_EQ(set.first_in(reference.at(near), reference.at(end)),
                  reference.first_in(near, end))
            << kSeed << " " << i;
        ASSERT_EQ(set.first_missing(reference.at(near), reference.at(end)),
                  reference.first_missing(near, end))
            << kSeed << " " << i;
        std::uint64_t bits = 0;
        for (unsigned bit = 0; bit < 64; ++bit) {
          bits |= std::uint64_t{reference.distances.count(near + bit)} << bit;
        }
        ASSERT_EQ(set.bits(reference.at(near)), bits) << kSeed << " " << i;
      }
    }
    ASSERT_EQ(set.size(), reference.distances.size());
    ASSERT_EQ(set.contains(reference.at(near)), reference.distances.count(near) > 0);
    ASSERT_TRUE(reference.distances.empty() ||
                psn_distance(set.end(), reference.at(*reference.distances.rbegin())) > 0);
  }
}

TEST(PsnSet, PS_3_ReachesAcrossTheWholeWindow) {
  PsnSet set;
  set.reset(0xff'ffff);
  EXPECT_FALSE(set.contains(0xff'ffff));
  EXPECT_EQ(set.first_in(0xff'ffff, 5), 5U);
  EXPECT_EQ(set.first_missing(0xff'ffff, 5), 0xff'ffffU);
  const Psn far = psn_plus(0xff'ffff, kMostOutstandingPsns - 1);
  EXPECT_TRUE(set.insert(3));
  EXPECT_TRUE(set.insert(far));
  EXPECT_FALSE(set.insert(3));
  EXPECT_EQ(set.first_in(4, psn_plus(far, 1)), far);
  set.advance(far);
  EXPECT_EQ(set.size(), 1U);
  EXPECT_FALSE(set.contains(3));
  set.advance(psn_plus(far, 1));
  EXPECT_TRUE(set.empty());
}

}  // namespace
}  // namespace flitwise::psn_set_test
