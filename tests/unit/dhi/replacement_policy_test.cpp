// SPDX-License-Identifier: Apache-2.0
// The three victim orders, alone and against a naive one. [DHI D9]
#include "dhi/device_handle_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace flitwise::replacement_policy_test {
namespace {

std::vector<Slot> order_of(const ReplacementPolicy& policy) {
  std::vector<Slot> order;
  for (auto slot = policy.first(); slot; slot = policy.after(*slot)) {
    order.push_back(*slot);
  }
  return order;
}

TEST(ReplacementPolicy, D9_FifoIgnoresUses) {
  const auto policy = make_replacement_policy(VictimPolicy::kFifo, 3);
  policy->inserted(2);
  policy->inserted(0);
  policy->inserted(1);
  policy->used(2);
  EXPECT_EQ(order_of(*policy), (std::vector<Slot>{2, 0, 1}));
}

TEST(ReplacementPolicy, D9_LruMovesTheUsedToTheEnd) {
  const auto policy = make_replacement_policy(VictimPolicy::kLru, 3);
  policy->inserted(2);
  policy->inserted(0);
  policy->inserted(1);
  policy->used(2);
  EXPECT_EQ(order_of(*policy), (std::vector<Slot>{0, 1, 2}));
}

TEST(ReplacementPolicy, D9_LfuOrdersByCountThenByLastUse) {
  const auto policy = make_replacement_policy(VictimPolicy::kLfu, 4);
  for (Slot slot = 0; slot < 4; ++slot) {
    policy->inserted(slot);
  }
  for (const Slot slot : {0U, 0U, 3U, 1U, 3U}) {
    policy->used(slot);
  }
  EXPECT_EQ(order_of(*policy), (std::vector<Slot>{2, 1, 0, 3}));
  policy->removed(2);
  policy->inserted(2);
  EXPECT_EQ(order_of(*policy), (std::vector<Slot>{2, 1, 0, 3})) << "a new residency starts at zero";
}

TEST(ReplacementPolicy, D9_OneSlotIsEnough) {
  for (const auto kind : {VictimPolicy::kFifo, VictimPolicy::kLru, VictimPolicy::kLfu}) {
    const auto policy = make_replacement_policy(kind, 1);
    EXPECT_FALSE(policy->first());
    policy->inserted(0);
    policy->used(0);
    policy->used(0);
    EXPECT_EQ(order_of(*policy), std::vector<Slot>{0});
    policy->removed(0);
    EXPECT_FALSE(policy->first());
  }
}

/// Keeps everything and sorts when asked.
struct NaiveOrder {
  struct Item {
    Slot slot;
    std::uint64_t inserted, used, uses;
  };
  VictimPolicy kind;
  std::vector<Item> items{};
  std::uint64_t clock = 0;

  Item& at(Slot slot) {
    return *std::find_if(items.begin(), items.end(), [&](const Item& i) { return i.slot == slot; });
  }
  void insert(Slot slot) {
    ++clock;
    items.push_back({slot, clock, clock, 0});
  }
  void use(Slot slot) {
    at(slot).used = ++clock;
    ++at(slot).uses;
  }
  void remove(Slot slot) { items.erase(items.begin() + (&at(slot) - items.data())); }
  std::vector<Slot> order() const {
    std::vector<Item> sorted = items;
    std::sort(sorted.begin(), sorted.end(), [&](const Item& a, const Item& b) {
      switch (kind) {
        case VictimPolicy::kFifo: return a.inserted < b.inserted;
        case VictimPolicy::kLru: return a.used < b.used;
        case VictimPolicy::kLfu: return std::pair(a.uses, a.used) < std::pair(b.uses, b.used);
      }
      return false;
    });
    std::vector<Slot> slots;
    for (const Item& item : sorted) {
      slots.push_back(item.slot);
    }
    return slots;
  }
};

TEST(ReplacementPolicy, D9_RandomSequencesMatchANaiveOrder) {
  const std::uint64_t seed = 20250611;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  for (const auto kind : {VictimPolicy::kFifo, VictimPolicy::kLru, VictimPolicy::kLfu}) {
    std::mt19937_64 random(seed);
    constexpr Slot kSlots = 9;
    const auto policy = make_replacement_policy(kind, kSlots);
    NaiveOrder naive{kind};
    std::vector<bool> present(kSlots, false);
    for (int step = 0; step < 20'000; ++step) {
      const auto slot = static_cast<Slot>(random() % kSlots);
      if (!present[slot]) {
        policy->inserted(slot);
        naive.insert(slot);
        present[slot] = true;
      } else if (random() % 4 == 0) {
        policy->removed(slot);
        naive.remove(slot);
        present[slot] = false;
      } else {
        policy->used(slot);
        naive.use(slot);
      }
      ASSERT_EQ(order_of(*policy), naive.order()) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace flitwise::replacement_policy_test
