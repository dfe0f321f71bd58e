// SPDX-License-Identifier: Apache-2.0
// Whether a posted request holds a TLP back: the same answer as the ordering table gives one by
// one.
#include "link/posted_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "common/random.h"
#include "link/ordering.h"

namespace flitwise::posted_index_test {
namespace {

Tlp random_tlp(Random& random, TlpType type) {
  Tlp tlp;
  tlp.type = type;
  tlp.tc = static_cast<std::uint8_t>(random.below(2));
  tlp.relaxed_ordering = random.chance(0.2);
  tlp.id_based_ordering = random.chance(0.8);
  tlp.id_is_handle = random.chance(0.1);
  tlp.requester_id.value = static_cast<std::uint16_t>(random.below(4));
  tlp.completer_id.value = static_cast<std::uint16_t>(random.below(4));
  tlp.has_pasid = random.chance(0.8);
  tlp.pasid = static_cast<Pasid>(random.below(3));
  return tlp;
}

TEST(PostedIndex, LNK_9_1_AnswersAsTheOrderingTableDoesForEachOne) {
  struct Waiting {
    Tlp tlp;
    std::uint64_t order;
    std::uint32_t token;
  };
  constexpr TlpType kLater[] = {TlpType::kMWr, TlpType::kMRd, TlpType::kFetchAdd, TlpType::kCplD};
  Random random(5);
  PostedIndex index;
  std::vector<Waiting> waiting;
  unsigned held_back = 0;
  constexpr unsigned kRounds = 30'000;
  for (std::uint64_t order = 1; order <= kRounds; ++order) {
    if (waiting.size() < 12 && random.chance(0.6)) {
      const Tlp tlp = random_tlp(random, TlpType::kMWr);
      waiting.push_back({tlp, order, index.add(tlp, order)});
    } else if (!waiting.empty()) {
      const auto leaves =
          waiting.begin() + static_cast<std::ptrdiff_t>(random.below(waiting.size()));
      index.remove(leaves->token);
      waiting.erase(leaves);
    }
    ASSERT_EQ(index.empty(), waiting.empty());
    const Tlp later = random_tlp(random, kLater[random.below(std::size(kLater))]);
    const std::uint64_t before = order - random.below(20);
    const bool completes = random.chance(0.1);
    const bool expected = std::any_of(waiting.begin(), waiting.end(), [&](const Waiting& one) {
      return one.order < before && passing(later, one.tlp, completes) == Passing::kNo;
    });
    ASSERT_EQ(index.holds_back(later, before, completes), expected) << order;
    held_back += expected ? 1 : 0;
  }
  EXPECT_GT(held_back, kRounds / 10);
  EXPECT_LT(held_back, kRounds - kRounds / 10);
}

}  // namespace
}  // namespace flitwise::posted_index_test
