// SPDX-License-Identifier: Apache-2.0
// Handles that the device gives up on the host's order: not before they are idle, and to nobody
// before that is said. [DHI D15]
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "dhi/device_handle_table.h"
#include "support/handle_tables.h"

namespace flitwise::device_handle_orders_test {
namespace {

constexpr std::uint8_t kEpoch = 7;

DeviceIdentity identity(unsigned domain) {
  return {Bdf::of(1, 0, domain % 2), Pasid{domain}, false, false};
}

DeallocMessage one(unsigned dhi) {
  return {DeallocScope::kOne, Dhi{static_cast<std::uint16_t>(dhi)}, {}, {}, kEpoch};
}
DeallocMessage range(unsigned lower, unsigned upper) {
  DeallocMessage message = one(lower);
  message.scope = DeallocScope::kRange;
  message.upper = Dhi{static_cast<std::uint16_t>(upper)};
  return message;
}
DeallocMessage of_function(unsigned function) {
  return {DeallocScope::kFunction, {}, {}, Bdf::of(1, 0, function), kEpoch};
}
const DeallocMessage kAll{DeallocScope::kAll, {}, {}, {}, kEpoch};

class DeviceHandleOrders : public ::testing::TestWithParam<VictimPolicy> {
 protected:
  DeviceHandleOrders() {
    DeviceHandleTableConfig config;
    config.range = {Dhi{8}, Dhi{11}};
    config.epoch = kEpoch;
    config.victim = GetParam();
    table_ = std::make_unique<DeviceHandleTable>(config);
  }
  Dhi allocate(unsigned domain) {
    return table_->allocate(DomainId{domain}, identity(domain), false, 0).dhi;
  }
  bool has(unsigned dhi) const {
    return table_->resolve(Dhi{static_cast<std::uint16_t>(dhi)}).has_value();
  }
  std::unique_ptr<DeviceHandleTable> table_;
};

TEST_P(DeviceHandleOrders, D15_EpochAndRangeAreChecked) {
  EXPECT_EQ(table_->check(one(8)), HandleStatus::kOk) << "one that is free has been given up";
  EXPECT_EQ(table_->check(one(7)), HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(table_->check(range(8, 11)), HandleStatus::kOk);
  EXPECT_EQ(table_->check(range(8, 12)), HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(table_->check(range(7, 9)), HandleStatus::kHandleOutOfRange);
  EXPECT_EQ(table_->check(kAll), HandleStatus::kOk);
  DeallocMessage stale = kAll;
  stale.epoch = kEpoch + 1;
  EXPECT_EQ(table_->check(stale), HandleStatus::kEpochMismatch);
}

// [DHI D10]
TEST_P(DeviceHandleOrders, D10_AHandleInUseIsWaitedForAndNotFound) {
  const Dhi dhi = allocate(0);
  const HandlePin pin = table_->pin(dhi, UseKind::kNonPosted);
  table_->hold(3, one(8));
  EXPECT_FALSE(table_->find(DomainId{0}));
  EXPECT_TRUE(has(8));
  EXPECT_FALSE(table_->is_drained(3));
  EXPECT_FALSE(table_->is_draining()) << "nothing goes before the whole order does";
  table_->completed(pin);
  EXPECT_TRUE(table_->is_drained(3));
  table_->release(3);
  EXPECT_FALSE(has(8));
  EXPECT_FALSE(table_->is_held(3U));
}

TEST_P(DeviceHandleOrders, D15_WhatAnOrderCoversIsGivenToNobodyUntilItIsReleased) {
  table_->hold(0, one(8));
  EXPECT_EQ(allocate(0), Dhi{9});
  EXPECT_EQ(allocate(1), Dhi{10});
  EXPECT_EQ(allocate(2), Dhi{11});
  EXPECT_EQ(table_->choose().outcome, MissOutcome::kVictimReady) << "one of the others";
  EXPECT_EQ(allocate(3), Dhi{9});
  table_->release(0);
  EXPECT_EQ(allocate(4), Dhi{8});
}

TEST_P(DeviceHandleOrders, D15_WithAllHeldThereIsNothingToHaveNotEvenAVictim) {
  allocate(0);
  allocate(1);
  table_->hold(0, kAll);
  const Choice choice = table_->choose();
  EXPECT_EQ(choice.outcome, MissOutcome::kWaitForOrder);
  EXPECT_FALSE(choice.victim);
  table_->release(0);
  EXPECT_EQ(test::valid_entries(*table_), 0U);
  EXPECT_EQ(table_->choose().outcome, MissOutcome::kFreeHandle);
}

TEST_P(DeviceHandleOrders, D15_AFunctionGetsNoNewHandleWhileItsOwnGo) {
  allocate(0);
  allocate(1);
  table_->hold(0, of_function(1));
  EXPECT_TRUE(table_->is_held(Bdf::of(1, 0, 1)));
  EXPECT_FALSE(table_->is_held(Bdf::of(1, 0, 0)));
  EXPECT_FALSE(table_->find(DomainId{1}));
  EXPECT_TRUE(table_->find(DomainId{0}));
  EXPECT_EQ(allocate(2), Dhi{10}) << "of the other function";
  table_->release(0);
  EXPECT_TRUE(has(8));
  EXPECT_FALSE(has(9));
  EXPECT_FALSE(table_->is_held(Bdf::of(1, 0, 1)));
}

TEST_P(DeviceHandleOrders, D15_OfTwoOrdersForAHandleTheLastLetsItGo) {
  allocate(0);
  table_->hold(0, one(8));
  table_->hold(1, kAll);
  table_->release(0);
  EXPECT_FALSE(has(8));
  EXPECT_TRUE(table_->is_drained(1));
  EXPECT_EQ(table_->choose().outcome, MissOutcome::kWaitForOrder);
  table_->release(1);
  EXPECT_EQ(table_->choose().outcome, MissOutcome::kFreeHandle);
}

// [DHI D4]
TEST_P(DeviceHandleOrders, D4_AResetForgetsOrders) {
  allocate(0);
  table_->hold(0, kAll);
  table_->reset({Dhi{8}, Dhi{11}}, kEpoch + 1);
  EXPECT_FALSE(table_->is_held(0U));
  EXPECT_EQ(table_->choose().outcome, MissOutcome::kFreeHandle);
  allocate(0);
  table_->hold(0, {DeallocScope::kAll, {}, {}, {}, kEpoch + 1});
  table_->reset_function(Bdf::of(1, 0, 0));
  EXPECT_TRUE(table_->is_drained(0));
  EXPECT_EQ(table_->choose().outcome, MissOutcome::kWaitForOrder);
  table_->release(0);
  EXPECT_EQ(table_->choose().outcome, MissOutcome::kFreeHandle);
}

// Whatever else happens, what is held is neither found nor given away, and nothing is lost.
TEST_P(DeviceHandleOrders, D15_LongRandomSequencesLoseNoHandle) {
  std::mt19937_64 random(11);
  std::map<unsigned, DeallocMessage> held;
  std::vector<HandlePin> pins;
  unsigned releases = 0;
  for (int i = 0; i < 50'000; ++i) {
    const auto domain = static_cast<unsigned>(random() % 8);
    const auto tag = static_cast<unsigned>(random() % kDeallocOrders);
    switch (random() % 6) {
      case 0:
      case 1: {
        if (!table_->find(DomainId{domain}) && !table_->is_held(identity(domain).bdf)) {
          const Choice choice = table_->choose();
          if (choice.outcome == MissOutcome::kFreeHandle ||
              choice.outcome == MissOutcome::kVictimReady) {
            const Dhi dhi = allocate(domain);
            for (const auto& [other, message] : held) {
              ASSERT_FALSE(message.scope == DeallocScope::kAll ||
                           (message.scope == DeallocScope::kOne && message.dhi == dhi) ||
                           (message.scope == DeallocScope::kFunction &&
                            message.function == identity(domain).bdf))
                  << "order " << other;
            }
          }
        }
        break;
      }
      case 2:
        if (const auto dhi = table_->find(DomainId{domain})) {
          pins.push_back(table_->pin(*dhi, UseKind::kNonPosted));
        }
        break;
      case 3:
        if (!pins.empty()) {
          table_->completed(pins.back());
          pins.pop_back();
        }
        break;
      case 4:
        if (!table_->is_held(tag)) {
          const DeallocMessage messages[] = {one(8 + domain % 4), of_function(domain % 2), kAll};
          held[tag] = messages[random() % 3];
          table_->hold(tag, held[tag]);
        }
        break;
      case 5:
        if (table_->is_held(tag) && table_->is_drained(tag)) {
          table_->release(tag);
          held.erase(tag);
          ++releases;
        }
        break;
    }
  }
  EXPECT_GT(releases, 1000U);
  std::for_each(pins.begin(), pins.end(), [this](HandlePin pin) { table_->completed(pin); });
  for (const auto& [tag, message] : held) {
    ASSERT_TRUE(table_->is_drained(tag));
    table_->release(tag);
  }
  for (unsigned domain = 0; domain < 8; ++domain) {
    table_->end_context(DomainId{domain});
    if (const auto dhi = table_->find(DomainId{domain})) {
      table_->deallocate(*dhi);
    }
  }
  EXPECT_EQ(test::valid_entries(*table_), 0U);
  for (unsigned domain = 0; domain < 4; ++domain) {
    EXPECT_EQ(table_->choose().outcome, MissOutcome::kFreeHandle);
    allocate(domain);
  }
}

// [DHI D12]
TEST(SoftwareHandleOrders, D15_NoHandleIsInstalledForAFunctionThatGivesUpItsHandles) {
  DeviceHandleTableConfig config;
  config.range = {Dhi{8}, Dhi{11}};
  config.epoch = kEpoch;
  config.management = HandleManagement::kSoftware;
  DeviceHandleTable table(config);
  const auto install = [&](unsigned domain, std::uint16_t dhi) {
    return table.install(DomainId{domain}, {Dhi{dhi}, identity(domain), false, 0, kEpoch});
  };
  ASSERT_EQ(install(0, 8), HandleStatus::kOk);
  const HandlePin read = table.pin(Dhi{8}, UseKind::kNonPosted);
  table.hold(3, of_function(0));
  EXPECT_EQ(install(2, 9), HandleStatus::kHandleBusy) << "of the same function";
  EXPECT_EQ(install(1, 10), HandleStatus::kOk) << "of another one";
  table.completed(read);
  ASSERT_TRUE(table.is_drained(3));
  table.release(3);
  EXPECT_EQ(install(2, 9), HandleStatus::kOk);
}

INSTANTIATE_TEST_SUITE_P(Policies, DeviceHandleOrders,
                         ::testing::Values(VictimPolicy::kFifo, VictimPolicy::kLru,
                                           VictimPolicy::kLfu),
                         [](const auto& policy) {
                           return policy.param == VictimPolicy::kFifo  ? "fifo"
                                  : policy.param == VictimPolicy::kLru ? "lru"
                                                                       : "lfu";
                         });

}  // namespace
}  // namespace flitwise::device_handle_orders_test
