// SPDX-License-Identifier: Apache-2.0
// Credits as a watcher counts them. [LNK-8.1] to [LNK-8.5]
#include "monitor/credit_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/monitor/monitor_support.h"

namespace flitwise {
namespace {

using test::credits;
using test::packet;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class CreditMonitorTest : public ::testing::Test {
 protected:
  void init(unsigned header, unsigned data, unsigned scale = 1) {
    monitor.told(*credits(pool, DllpType::kInitFc1, FcClass::kPosted, header, data, scale), {});
  }
  void update(unsigned header, unsigned data) {
    monitor.told(*credits(pool, DllpType::kUpdateFc, FcClass::kPosted, header, data), {});
  }
  void send(unsigned count, unsigned dws = 16) {
    for (unsigned i = 0; i < count; ++i) {
      const PacketRef write = packet(pool, TlpType::kMWr, dws);
      if (!monitor.sent(write->tlp, kind_of(write->tlp))) {
        monitor.report(*write, {});
      }
    }
  }
  PacketPool pool;
  test::Reported reported;
  CreditMonitor monitor{reported.reporter};
};

// [LNK-8.10]
TEST_F(CreditMonitorTest, NothingMayGoBeforeInitFc) {
  send(1);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-8.10"));
}

// [LNK-8.3]
TEST_F(CreditMonitorTest, HeadersUpToTheLimitAndNoFurther) {
  init(4, 0);
  send(4);
  EXPECT_THAT(reported.rules(), IsEmpty());
  send(1);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-8.3"));
}

// [LNK-8.1] Five DWs take two units.
TEST_F(CreditMonitorTest, DataIsCountedInStartedUnitsOfSixteenBytes) {
  init(0, 4);
  send(2, 5);
  EXPECT_THAT(reported.rules(), IsEmpty());
  send(1, 1);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-8.3"));
}

// [LNK-8.3] The counters of the DLLP run round many times.
TEST_F(CreditMonitorTest, LimitsGoOnPastTheEndOfTheCounter) {
  init(100, 0);
  for (unsigned i = 1; i <= 40; ++i) {
    send(100);
    update((100 + 100 * i) & 0xffU, 0);
  }
  EXPECT_THAT(reported.rules(), IsEmpty());
  send(101);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-8.3"));
}

// [LNK-8.4] With scale x16 a field counts sixteen credits.
TEST_F(CreditMonitorTest, ScaledFieldsCountMore) {
  init(2, 8, 3);
  send(32);
  EXPECT_THAT(reported.rules(), IsEmpty());
  send(1);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-8.3"));
}

// [LNK-8.5] [LNK-8.11]
TEST_F(CreditMonitorTest, InfiniteStaysInfiniteAndTheFirstInitCounts) {
  init(0, 0);
  init(1, 1);
  update(1, 1);
  send(500);
  EXPECT_THAT(reported.rules(), IsEmpty());
}

// [LNK-8.8]
TEST_F(CreditMonitorTest, AnUpdateTakesNothingBack) {
  init(100, 0);
  update(90, 0);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-8.8"));
}

}  // namespace
}  // namespace flitwise
