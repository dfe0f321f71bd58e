// SPDX-License-Identifier: Apache-2.0
// The shape of single TLPs as a watcher sees it, beside the checks of the model's receivers.
#include "monitor/request_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/random.h"
#include "tlp/tlp_check.h"
#include "unit/monitor/monitor_support.h"

namespace flitwise::request_monitor_test {
namespace {

using test::packet;
using ::testing::Contains;
using ::testing::IsEmpty;

std::vector<std::string> rules_broken_by(const Packet& sent, std::uint32_t mrrs = 512) {
  test::Reported reported;
  const RequestMonitor monitor(reported.reporter, 256, mrrs);
  if (!monitor.fits(sent.tlp, kind_of(sent.tlp))) {
    monitor.report(sent, {});
  }
  return reported.rules();
}

class RequestMonitorTest : public ::testing::Test {
 protected:
  PacketPool pool;
  PacketRef write = [this] {
    PacketRef made = packet(pool, TlpType::kMWr, 16, 0x1000);
    made->tlp.first_be = made->tlp.last_be = 0xf;
    return made;
  }();
  Tlp& tlp = write->tlp;
};

// A rule that says "should": no violation.
TEST_F(RequestMonitorTest, PRI_33_TheLastPageRequestOfAGroupShouldNotBeRelaxed) {
  constexpr std::uint32_t kLast = 4, kRead = 1;
  for (const bool is_relaxed : {false, true}) {
    for (const std::uint32_t last : {0U, kLast}) {
      test::Reported reported;
      PacketRef message = pool.make(PacketKind::kTlp);
      message->tlp.type = TlpType::kMsg;
      message->tlp.message_code = msg::kPageRequest;
      message->tlp.message_dw3 = 0x1000U | last | kRead;
      message->tlp.relaxed_ordering = is_relaxed;
      RequestMonitor(reported.reporter, 256, 512).advise(*message, {});
      EXPECT_EQ(reported.log.warnings().count("PRI-33"), is_relaxed && last != 0 ? 1U : 0U);
      EXPECT_EQ(reported.log.count(), 0U);
      message->tlp.message_code = msg::kPrgResponse;
      RequestMonitor(reported.reporter, 256, 512).advise(*message, {});
      EXPECT_LE(reported.log.warnings().size(), 1U);
    }
  }
}

// Software may raise MRRS after the set-up.
TEST_F(RequestMonitorTest, LNK_9_15_AReadIsBoundByTheMrrsThatIsSetNow) {
  std::uint32_t enabled = 512;
  test::Reported reported;
  const RequestMonitor monitor(reported.reporter, 256, 512, [&enabled] { return enabled; });
  const PacketRef read = packet(pool, TlpType::kMRd, 512, 0x1000);
  read->tlp.first_be = read->tlp.last_be = 0xf;
  enabled = 2048;
  monitor.report(*read, {});
  EXPECT_THAT(reported.rules(), IsEmpty());
  enabled = 1024;
  monitor.report(*read, {});
  EXPECT_THAT(reported.rules(), Contains("LNK-9.15"));
}

TEST_F(RequestMonitorTest, APlainWriteIsFine) {
  EXPECT_THAT(rules_broken_by(*write), IsEmpty());
}
// [LNK-9.14]
TEST_F(RequestMonitorTest, ARequestAcrossAPageIsNoticed) {
  tlp.address = 0x1fc0;
  EXPECT_THAT(rules_broken_by(*write), IsEmpty());
  tlp.address = 0x1fc4;
  EXPECT_THAT(rules_broken_by(*write), Contains("LNK-9.14"));
}
TEST_F(RequestMonitorTest, LNK_9_14_ACasReachesOneOperandOfItsTwo) {
  tlp.type = TlpType::kCas;
  tlp.length_dw = 4;
  tlp.address = 0x1ff8;
  EXPECT_THAT(rules_broken_by(*write), IsEmpty());
  tlp.length_dw = 8;
  EXPECT_THAT(rules_broken_by(*write), Contains("LNK-9.14"));
}
// [LNK-9.15]
TEST_F(RequestMonitorTest, APayloadOverMpsIsNoticed) {
  tlp.length_dw = 65;
  EXPECT_THAT(rules_broken_by(*write), Contains("LNK-9.15"));
}
TEST_F(RequestMonitorTest, AReadOverMrrsIsNoticedWhereThatBinds) {
  tlp.type = TlpType::kMRd;
  tlp.length_dw = 256;
  EXPECT_THAT(rules_broken_by(*write), Contains("LNK-9.15"));
  EXPECT_THAT(rules_broken_by(*write, 0), IsEmpty());
}
// [LNK-2.11] [LNK-1.5]
TEST_F(RequestMonitorTest, AnAddressTypeBelongsToMemoryRequests) {
  tlp.at = AddressType::kReserved;
  EXPECT_THAT(rules_broken_by(*write), Contains("LNK-1.5"));
  tlp.type = TlpType::kCplD;
  tlp.at = AddressType::kTranslated;
  EXPECT_THAT(rules_broken_by(*write), Contains("LNK-2.11"));
}
// [LNK-4.1]
TEST_F(RequestMonitorTest, ATranslationRequestIsARead) {
  tlp.at = AddressType::kTranslationRequest;
  EXPECT_THAT(rules_broken_by(*write), Contains("LNK-4.1"));
  tlp.type = TlpType::kMRd;
  tlp.length_dw = 2;
  EXPECT_THAT(rules_broken_by(*write), IsEmpty());
}

// [LNK-2.8] [LNK-2.9] All byte enables of short requests, beside the receiver's check.
TEST_F(RequestMonitorTest, ByteEnablesAgreeWithTheCheckOfTheReceiver) {
  for (const TlpType type : {TlpType::kMRd, TlpType::kMWr}) {
    for (const std::uint64_t address : {0x1000U, 0x1004U}) {
      for (const unsigned length : {1U, 2U, 3U}) {
        for (unsigned enables = 0; enables < 256; ++enables) {
          tlp.type = type;
          tlp.address = address;
          tlp.length_dw = static_cast<std::uint16_t>(length);
          tlp.first_be = static_cast<std::uint8_t>(enables & 0xfU);
          tlp.last_be = static_cast<std::uint8_t>(enables >> 4);
          EXPECT_EQ(rules_broken_by(*write).empty(), !check_format(tlp).has_value())
              << length << " DW at " << address << " with " << enables;
        }
      }
    }
  }
}

}  // namespace
}  // namespace flitwise::request_monitor_test
