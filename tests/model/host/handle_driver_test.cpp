// SPDX-License-Identifier: Apache-2.0
// The driver of software-managed handles between stand-ins: which end comes first.
#include "host/handle_driver.h"

#include <gtest/gtest.h>

#include <memory>

#include "dhi/handle_registers.h"
#include "host_fakes.h"

namespace flitwise::handle_driver_test {
namespace {

using namespace test;

constexpr std::uint64_t kDevice = 0x10'0000;

class HandleDriverTest : public ::testing::Test {
 protected:
  HandleDriverTest() {
    HandleDriver::Options options;
    options.device_block = kDevice;
    options.range = {Dhi{4}, Dhi{5}};
    options.identity_of = [](DomainId domain) {
      return DeviceIdentity{
          Bdf{static_cast<std::uint16_t>(0x100 + to_int(domain))}, {}, false, false};
    };
    options.context_of = [](DomainId domain) {
      return ContextId(ContextKind::kQueuePair, to_int(domain));
    };
    driver = std::make_unique<HandleDriver>(access, options);
  }
  /// Of each command so far: where it went, and its handle.
  std::vector<std::pair<bool, unsigned>> commands() const {
    std::vector<std::pair<bool, unsigned>> all;
    for (const FakeHostAccess::Write& write : access.writes) {
      all.emplace_back(write.address < kHandleBlocks, write.bytes[0]);
    }
    return all;
  }
  static constexpr bool kAtDevice = true, kAtHost = false;
  using Commands = std::vector<std::pair<bool, unsigned>>;

  FakeHostAccess access;
  std::unique_ptr<HandleDriver> driver;
};

// [DHI D12]
TEST_F(HandleDriverTest, D12_AllocGoesToTheHostFirst) {
  driver->context_started(DomainId{1});
  access.run();
  EXPECT_EQ(commands(), (Commands{{kAtHost, 4}, {kAtDevice, 4}}));
  EXPECT_EQ(driver->allocated(), 1U);
  EXPECT_TRUE(driver->is_quiet());
}

// [DHI D12] [DHI-36]
TEST_F(HandleDriverTest, D12_AllocNamesTheContextToBothEnds) {
  driver->context_started(DomainId{1});
  access.run();
  ASSERT_EQ(access.writes.size(), 2U);
  for (const FakeHostAccess::Write& write : access.writes) {
    constexpr std::size_t kUpper = handle_register::kUpper - handle_register::kHandle;
    EXPECT_EQ(boost::endian::load_little_u32(&write.bytes[kUpper]),
              ContextId(ContextKind::kQueuePair, 1).word());
  }
}

// [DHI D15]
TEST_F(HandleDriverTest, D15_DeallocGoesToTheDeviceFirst) {
  driver->context_started(DomainId{1});
  access.run();
  access.writes.clear();
  driver->context_ended(DomainId{1});
  access.run();
  EXPECT_EQ(commands(), (Commands{{kAtDevice, 4}, {kAtHost, 4}}));
  EXPECT_EQ(driver->freed(), 1U);
}

// [DHI D12]
TEST_F(HandleDriverTest, D12_ContextWaitsUntilAHandleIsFree) {
  for (std::uint32_t domain = 1; domain <= 3; ++domain) {
    driver->context_started(DomainId{domain});
  }
  access.run();
  EXPECT_EQ(driver->allocated(), 2U);
  driver->context_ended(DomainId{2});
  access.run();
  EXPECT_EQ(driver->allocated(), 3U);
}

// [DHI D12]
TEST_F(HandleDriverTest, D12_RefusalOfTheHostReachesNoDevice) {
  access.value_of = [](std::uint64_t) {
    return static_cast<std::uint32_t>(HandleStatus::kPasidNotGranted);
  };
  driver->context_started(DomainId{1});
  access.run();
  EXPECT_EQ(commands(), (Commands{{kAtHost, 4}}));
  EXPECT_EQ(driver->refused(), 1U);
}

TEST_F(HandleDriverTest, CommandThatIsBusyIsLookedAtAgain) {
  unsigned looks = 0;
  access.value_of = [&](std::uint64_t) { return ++looks < 3 ? handle_register::kBusy : 0U; };
  driver->context_started(DomainId{1});
  access.run();
  EXPECT_EQ(looks, 4U);
  EXPECT_EQ(driver->allocated(), 1U);
}

// [DHI D15]
TEST_F(HandleDriverTest, D15_EndOfAContextIsToldOnceBothEndsAreFree) {
  driver->context_started(DomainId{1});
  access.run();
  bool is_over = false;
  driver->end_context(DomainId{1}, [&] { is_over = true; });
  EXPECT_FALSE(is_over);
  access.run();
  EXPECT_TRUE(is_over);
  EXPECT_EQ(commands().size(), 4U);
}

}  // namespace
}  // namespace flitwise::handle_driver_test
