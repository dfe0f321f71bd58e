// SPDX-License-Identifier: Apache-2.0
// Pauses of ports of entry. [CC-6]
#include "network/pfc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/random.h"

namespace flitwise::pfc_test {
namespace {

using testing::HasSubstr;

TEST(Pfc, CC_6_APortPausesAtXoffAndGoesOnAtXon) {
  const PfcRules rules{true, 3000, 1000};
  PfcIngress port;
  EXPECT_EQ(port.came(rules, 2999), PfcAction::kNone);
  EXPECT_EQ(port.came(rules, 1), PfcAction::kPause);
  EXPECT_EQ(port.came(rules, 4000), PfcAction::kNone);  // what was on its way
  EXPECT_EQ(port.left(rules, 4000), PfcAction::kNone);
  EXPECT_EQ(port.left(rules, 1999), PfcAction::kNone);
  EXPECT_TRUE(port.has_paused());
  EXPECT_EQ(port.left(rules, 1), PfcAction::kResume);
  EXPECT_EQ(port.left(rules, 1000), PfcAction::kNone);
  EXPECT_EQ(port.bytes(), 0);
  PfcIngress off;
  EXPECT_EQ(off.came({false, 1, 1}, 1'000'000), PfcAction::kNone);
}

TEST(Pfc, CC_6_DefaultsAreASharePerPortLessTheHeadroom) {
  const PfcRules rules = pfc_of(1 << 20, 8, 4096);
  EXPECT_EQ(rules.xoff, (128 << 10) - (40 << 10));
  EXPECT_EQ(rules.xon, rules.xoff - 8192);
  const EdgeRate edge{100, Time::from_us(1)};
  EXPECT_EQ(complaint_about(rules, 1 << 20, 8, 4096, edge), "");
  EXPECT_THAT(complaint_about(pfc_of(1 << 20, 26, 4096), 1 << 20, 26, 4096, edge),
              HasSubstr("XOFF of -631 and XON of -8823 bytes seen for 26 ports and a queue of "
                        "1048576 bytes; expected both above 0"));
  EXPECT_THAT(complaint_about(pfc_of(1 << 20, 22, 4096), 1 << 20, 22, 4096, edge),
              HasSubstr("XOFF of 6702 and XON of -1490 bytes"));
  EXPECT_THAT(complaint_about({true, 5000, 5000}, 1 << 20, 2, 4096, edge),
              HasSubstr("XON of 5000 bytes seen; expected less than XOFF, 5000"));
  EXPECT_THAT(complaint_about({true, 100'000, 5000}, 1 << 20, 8, 4096, edge),
              HasSubstr("packets could be dropped"));
  EXPECT_EQ(complaint_about({false, 0, 0}, 0, 8, 4096, edge), "");
}

TEST(Pfc, TheHeadroomHoldsWhatIsOnItsWay) {
  EXPECT_EQ(pfc_headroom({100, Time::from_us(1)}, 4096), 2U * 12'500 + 2U * (4096 + 128));
  EXPECT_EQ(pfc_headroom({400, Time::from_us(1)}, 1024), 2U * 50'000 + 2U * (1024 + 128));
}

TEST(Pfc, TimesOfPausesAddUp) {
  PausedOutput port;
  port.resume(Time::from_ns(1));
  port.pause(Time::from_ns(10));
  port.pause(Time::from_ns(15));
  EXPECT_TRUE(port.is_paused());
  EXPECT_EQ(port.paused(Time::from_ns(18)), Time::from_ns(8));
  port.resume(Time::from_ns(20));
  EXPECT_FALSE(port.is_paused());
  port.pause(Time::from_ns(50));
  EXPECT_EQ(port.paused(Time::from_ns(53)), Time::from_ns(13));
  EXPECT_EQ(port.times(), 2U);
}

// Senders of all ports but one send to that one as fast as they may. Nothing is dropped, and the
// output never idles.
TEST(Pfc, CC_6_ThresholdsThatAreAcceptedNeverDrop) {
  constexpr unsigned kPorts = 8;
  constexpr std::uint32_t kPacket = 4178;
  constexpr std::uint64_t kRoom = 1 << 20;
  const EdgeRate edge{100, Time::from_us(1)};
  const PfcRules rules = pfc_of(kRoom, kPorts, 4096);
  ASSERT_EQ(complaint_about(rules, kRoom, kPorts, 4096, edge), "");
  // In steps of a packet: 3 of them are on the edge in either direction.
  constexpr unsigned kWay = 3;
  struct Sender {
    PfcIngress entry;
    std::vector<bool> way = std::vector<bool>(kWay), told = std::vector<bool>(kWay);
  };
  std::vector<Sender> senders(kPorts - 1);
  std::vector<std::size_t> queue;
  std::uint64_t peak = 0, idle = 0;
  for (unsigned step = 0; step < 20'000; ++step) {
    for (std::size_t i = 0; i < senders.size(); ++i) {
      Sender& one = senders[i];
      if (one.way[step % kWay]) {
        one.entry.came(rules, kPacket);
        queue.push_back(i);
      }
      one.way[step % kWay] = !one.told[step % kWay];
      one.told[step % kWay] = one.entry.has_paused();
    }
    peak = std::max<std::uint64_t>(peak, queue.size() * kPacket);
    if (!queue.empty()) {
      senders[queue.front()].entry.left(rules, kPacket);
      queue.erase(queue.begin());
    } else if (step > kWay) {
      ++idle;
    }
  }
  EXPECT_LE(peak, kRoom);
  EXPECT_GT(peak, kRoom / 2);
  EXPECT_EQ(idle, 0U);
}

}  // namespace
}  // namespace flitwise::pfc_test
