// SPDX-License-Identifier: Apache-2.0
// When resets and stopped contexts end, with a stand-in for the rest of the device.
#include "endpoint/reset_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/endpoint/device_fakes.h"

namespace flitwise::reset_control_test {
namespace {

using testing::ElementsAre;

struct FakeScope final : ResetScope {
  bool is_clear() const override { return busy.empty(); }
  bool is_clear(unsigned function) const override {
    return std::find(busy.begin(), busy.end(), function) == busy.end();
  }
  bool has_unsent(DomainId /*domain*/) const override { return unsent; }
  void forget(unsigned function, ResetKind kind) override {
    forgotten.emplace_back(function, kind);
  }
  std::optional<DeviceIdentity> context_to_stop() const override { return order; }
  void context_stopped(std::optional<DomainId> domain, Time /*now*/) override {
    stopped.push_back(domain);
    order.reset();
  }

  std::vector<unsigned> busy;
  bool unsent = false;
  std::vector<std::pair<unsigned, ResetKind>> forgotten;
  std::optional<DeviceIdentity> order;
  std::vector<std::optional<DomainId>> stopped;
};

class ResetControlTest : public testing::Test {
 protected:
  test::RunningFunctions functions_{test::device_of(3)};
  DeviceContexts contexts_{3};
  test::FakeOutput output_;
  FakeScope scope_;
  ResetControl resets_{functions_, contexts_, output_, scope_};
};

TEST_F(ResetControlTest, DHI_D4_AFunctionEndsItsResetWhenNothingOfItIsUnderWay) {
  scope_.busy = {1};
  resets_.start(1, ResetKind::kFunctionLevel, Time{});
  resets_.start(2, ResetKind::kFunctionLevel, Time{});
  resets_.do_duties(Time{});
  EXPECT_TRUE(functions_.is_in_reset(1));
  EXPECT_THAT(scope_.forgotten, ElementsAre(testing::Pair(2U, ResetKind::kFunctionLevel)));
  scope_.busy.clear();
  resets_.do_duties(Time{});
  EXPECT_EQ(functions_.in_reset(), 0U);
  EXPECT_FALSE(functions_.is_running(1)) << "it waits for its Bus Master Enable";
  EXPECT_TRUE(functions_.enable_vf(1, true));
  EXPECT_EQ(resets_.resets(), 2U);
}

TEST_F(ResetControlTest, DHI_D4_TheResetOfFunction0TakesAllWithIt) {
  scope_.busy = {2};
  resets_.start(0, ResetKind::kConventional, Time{});
  EXPECT_EQ(functions_.in_reset(), 3U);
  EXPECT_TRUE(functions_.is_in_conventional_reset());
  resets_.do_duties(Time{});
  EXPECT_TRUE(scope_.forgotten.empty());
  scope_.busy.clear();
  resets_.do_duties(Time{});
  EXPECT_THAT(scope_.forgotten, ElementsAre(testing::Pair(0U, ResetKind::kConventional)));
  EXPECT_FALSE(functions_.is_bus_master());
  EXPECT_TRUE(functions_.is_running(0));
  EXPECT_EQ(functions_.not_running(), 2U);
}

TEST_F(ResetControlTest, LNK_9_20_AContextHasStoppedWhenNothingOfItIsUnderWay) {
  scope_.order = functions_.identity_of(DomainId{1});
  contexts_.begin_transfer(DomainId{1});
  resets_.check_context_stop(Time{});
  EXPECT_TRUE(contexts_.is_over(DomainId{1}));
  EXPECT_TRUE(scope_.stopped.empty());
  contexts_.end_transfer(DomainId{1});
  scope_.unsent = true;
  resets_.do_duties(Time{});
  EXPECT_TRUE(scope_.stopped.empty());
  scope_.unsent = false;
  resets_.do_duties(Time{});
  EXPECT_THAT(scope_.stopped, ElementsAre(DomainId{1}));
  resets_.do_duties(Time{});
  EXPECT_EQ(scope_.stopped.size(), 1U);
}

TEST_F(ResetControlTest, AContextThatTheDeviceDoesNotHaveHasStoppedAtOnce) {
  scope_.order = DeviceIdentity(Bdf::of(7, 0, 0));
  resets_.check_context_stop(Time{});
  EXPECT_THAT(scope_.stopped, ElementsAre(std::nullopt));
}

}  // namespace
}  // namespace flitwise::reset_control_test
