// SPDX-License-Identifier: Apache-2.0
// Handles as a watcher follows them. [DHI D8] [DHI D11] [DHI S2]
#include "monitor/handle_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dhi/dhi_message.h"
#include "unit/monitor/monitor_support.h"

namespace flitwise::handle_monitor_test {
namespace {

using test::packet;

class HandleMonitorTest : public ::testing::TestWithParam<DhiForm> {
 protected:
  static DeviceIdentity domain(std::uint32_t pasid) {
    DeviceIdentity identity;
    identity.bdf = Bdf::of(1, 0, 0);
    identity.pasid = Pasid{pasid};
    return identity;
  }
  void alloc(std::uint16_t handle, const DeviceIdentity& identity) {
    AllocMessage message;
    message.dhi = Dhi{handle};
    message.identity = identity;
    PacketRef told = pool.make(PacketKind::kTlp);
    write_dhi_message(*told, identity.bdf, message);
    monitor.told(*told);
  }
  void dealloc(std::uint16_t first, std::uint16_t last) {
    DeallocMessage message;
    message.scope = first == last ? DeallocScope::kOne : DeallocScope::kRange;
    message.dhi = Dhi{first};
    message.upper = first == last ? Dhi{} : Dhi{last};
    tell(message);
  }
  void tell(const DeallocMessage& message) {
    PacketRef told = pool.make(PacketKind::kTlp);
    write_dhi_message(*told, Bdf::of(1, 0, 0), message);
    monitor.told(*told);
  }
  void order(Bdf function, std::uint8_t tag, std::uint16_t handle) {
    PacketRef sent = pool.make(PacketKind::kTlp);
    write_dhi_message(*sent, Bdf{},
                      DeallocOrder{{DeallocScope::kOne, Dhi{handle}, Dhi{}, Bdf{}, 0}, tag},
                      function);
    monitor.ordered(*sent);
  }
  void done(Bdf function, std::uint8_t tag, HandleStatus status) {
    PacketRef sent = pool.make(PacketKind::kTlp);
    write_dhi_message(*sent, function, DeallocDone{tag, status, 0});
    monitor.told(*sent);
  }
  bool fits(std::uint16_t handle, const DeviceIdentity& identity) {
    PacketRef used = packet(pool, TlpType::kMWr);
    used->tlp.requester_id = Bdf{};
    apply_identity(used->tlp, form, identity, Dhi{handle});
    used->identity = identity;
    used->has_identity = true;
    const bool is_in_requester_id = GetParam() == DhiForm::kRidDirect;
    EXPECT_EQ(monitor.fits_plainly(*used), is_in_requester_id && monitor.fits(*used));
    return monitor.fits(*used);
  }
  PacketPool pool;
  test::Reported reported;
  IdentityForm form{Identity::kDhi, GetParam(), 8};
  HandleMonitor monitor{reported.reporter, form};
};

// [DHI D8]
TEST_P(HandleMonitorTest, AnAllocComesBeforeEachUse) {
  EXPECT_FALSE(fits(3, domain(7)));
  alloc(3, domain(7));
  EXPECT_TRUE(fits(3, domain(7)));
  EXPECT_FALSE(fits(4, domain(7)));
}
// [DHI D11]
TEST_P(HandleMonitorTest, AnAllocOverAValidHandleTakesItFromTheOldDomain) {
  alloc(3, domain(7));
  alloc(3, domain(8));
  EXPECT_FALSE(fits(3, domain(7)));
  EXPECT_TRUE(fits(3, domain(8)));
}
TEST_P(HandleMonitorTest, ADeallocEndsWhatItNames) {
  for (std::uint16_t handle = 0; handle < 8; ++handle) {
    alloc(handle, domain(handle));
  }
  dealloc(0, 0);
  dealloc(3, 5);
  for (std::uint16_t handle = 0; handle < 8; ++handle) {
    EXPECT_EQ(fits(handle, domain(handle)), handle == 1 || handle == 2 || handle > 5) << handle;
  }
}
// [DHI D11]
TEST_P(HandleMonitorTest, ADeallocOfAFunctionOrOfAllEndsTheirHandles) {
  DeviceIdentity other = domain(7);
  other.bdf = Bdf::of(1, 0, 1);
  alloc(1, domain(7));
  alloc(2, other);
  alloc(3, domain(8));
  DeallocMessage message;
  message.scope = DeallocScope::kFunction;
  message.function = other.bdf;
  tell(message);
  EXPECT_TRUE(fits(1, domain(7)));
  EXPECT_FALSE(fits(2, other));
  EXPECT_TRUE(fits(3, domain(8)));
  message = DeallocMessage();
  message.scope = DeallocScope::kAll;
  tell(message);
  EXPECT_FALSE(fits(1, domain(7)));
  EXPECT_FALSE(fits(3, domain(8)));
}
// [DHI D15] [DHI-33]
TEST_P(HandleMonitorTest, WhatTheHostHasFreedEndsWithTheDoneOfItsTag) {
  const Bdf device = Bdf::of(1, 0, 0);
  alloc(1, domain(7));
  alloc(2, domain(8));
  order(device, 3, 1);
  order(device, 4, 2);
  EXPECT_TRUE(fits(1, domain(7))) << "in use until the device says that it is not";
  done(device, 4, HandleStatus::kOk);
  EXPECT_TRUE(fits(1, domain(7)));
  EXPECT_FALSE(fits(2, domain(8)));
  done(device, 3, HandleStatus::kEpochMismatch);
  EXPECT_TRUE(fits(1, domain(7))) << "nothing was done";
  done(device, 3, HandleStatus::kOk);
  EXPECT_TRUE(fits(1, domain(7))) << "the order is over";
  order(device, 3, 1);
  done(Bdf::of(1, 0, 1), 3, HandleStatus::kOk);
  EXPECT_TRUE(fits(1, domain(7))) << "another function's";
  done(device, 3, HandleStatus::kOk);
  EXPECT_FALSE(fits(1, domain(7)));
}
// [DHI S2]
TEST_P(HandleMonitorTest, TheHostFindsWhomTheSenderMeant) {
  PacketRef used = packet(pool, TlpType::kMWr);
  used->identity = domain(7);
  used->has_identity = true;
  EXPECT_TRUE(HandleMonitor::fits_resolution(*used)) << "not resolved, which is refused elsewhere";
  used->resolved = domain(7);
  EXPECT_TRUE(HandleMonitor::fits_resolution(*used));
  used->resolved = domain(8);
  EXPECT_FALSE(HandleMonitor::fits_resolution(*used));
  monitor.report_resolution(*used, {});
  EXPECT_THAT(reported.rules(), ::testing::ElementsAre("DHI S2"));
}

INSTANTIATE_TEST_SUITE_P(Forms, HandleMonitorTest,
                         ::testing::Values(DhiForm::kRidDirect, DhiForm::kTag, DhiForm::kPrefix),
                         [](const auto& form_info) {
                           return form_info.param == DhiForm::kRidDirect ? "rid_direct"
                                  : form_info.param == DhiForm::kTag     ? "tag"
                                                                         : "prefix";
                         });

}  // namespace
}  // namespace flitwise::handle_monitor_test
