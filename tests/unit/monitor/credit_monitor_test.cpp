// SPDX-License-Identifier: Apache-2.0
// Credits as a watcher counts them. [LNK-8.1] to [LNK-8.5]
#include "monitor/credit_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "link/shared_credits.h"
#include "unit/monitor/monitor_support.h"

namespace flitwise::credit_monitor_test {
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

/// A direction of a link in flit mode, with shared credits.
class SharedCreditMonitorTest : public ::testing::Test {
 protected:
  void told(DllpType type, FcClass fc, unsigned header, unsigned data, bool is_shared) {
    const PacketRef dllp = credits(pool, type, fc, header, data);
    dllp->dllp.is_shared = is_shared;
    monitor.told(*dllp, {});
  }
  /// Two of each class, and of shared ones as many as given.
  void init(unsigned posted, unsigned completion) {
    for (const FcClass fc : {FcClass::kPosted, FcClass::kNonPosted, FcClass::kCompletion}) {
      told(DllpType::kInitFc1, fc, 2, 32, false);
    }
    told(DllpType::kInitFc1, FcClass::kPosted, posted, 64, true);
    told(DllpType::kInitFc1, FcClass::kNonPosted, 0, 0, true);
    told(DllpType::kInitFc1, FcClass::kCompletion, completion, completion == 0 ? 0 : 64, true);
  }
  void send(TlpType type, unsigned count, bool is_on_dedicated = false) {
    for (unsigned i = 0; i < count; ++i) {
      const PacketRef one = packet(pool, type, 16);
      one->uses_dedicated_credits = is_on_dedicated;
      if (!monitor.sent_in_flit(*one, kind_of(one->tlp))) {
        monitor.report(*one, {});
      }
    }
  }
  PacketPool pool;
  test::Reported reported;
  CreditMonitor monitor{reported.reporter, SharedCredits::kApart};
};

// [LNK-11.23] [LNK-11.25]
TEST_F(SharedCreditMonitorTest, EachPoolHasItsOwnLimit) {
  init(4, 0);
  send(TlpType::kMWr, 4);
  send(TlpType::kMWr, 2, true);
  EXPECT_THAT(reported.rules(), IsEmpty());
  send(TlpType::kMWr, 1);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-8.3"));
  send(TlpType::kMWr, 1, true);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-8.3", "LNK-8.3"));
}

// [LNK-11.24] Neither reads nor completions have a mark: they take dedicated ones.
TEST_F(SharedCreditMonitorTest, ZeroIsNoPool) {
  init(4, 0);
  send(TlpType::kMRd, 2);
  send(TlpType::kCplD, 2);
  EXPECT_THAT(reported.rules(), IsEmpty());
  send(TlpType::kMRd, 1);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-8.3"));
}

// [LNK-11.26]
TEST_F(SharedCreditMonitorTest, MergedOnesAreOnePool) {
  monitor = CreditMonitor{reported.reporter, SharedCredits::kMerged};
  init(4, 0);
  send(TlpType::kMWr, 2);
  send(TlpType::kCplD, 2);
  EXPECT_THAT(reported.rules(), IsEmpty());
  send(TlpType::kCplD, 1);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-8.3"));
}

// [LNK-11.27] Five more headers and 20 more units of posted requests, by their low bits.
TEST_F(SharedCreditMonitorTest, LNK_11_24_AnUpdateOpensNoPool) {
  init(4, 4);
  told(DllpType::kUpdateFc, FcClass::kNonPosted, 5, 5, true);
  EXPECT_THAT(reported.rules(), IsEmpty());
  send(TlpType::kMRd, 3);  // of two dedicated ones
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-8.3"));
}

TEST_F(SharedCreditMonitorTest, AnUpdateOfAllClassesGoesOnFromTheLastLimit) {
  init(4, 4);
  told(DllpType::kUpdateFc, FcClass::kPosted, 6, 130, true);
  const PacketRef update = test::dllp(pool, DllpType::kOptimizedUpdateFc);
  OptimizedUpdateFc fields;
  fields.classes[0] = {11, 150};
  fields.classes[2] = {5, 64};
  update->dllp.raw = encode(fields);
  monitor.told(*update, {});
  send(TlpType::kMWr, 11);
  send(TlpType::kCplD, 5);
  EXPECT_THAT(reported.rules(), IsEmpty());
  send(TlpType::kMWr, 1);
  send(TlpType::kCplD, 1);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-8.3", "LNK-8.3"));
}

// What a script says of them on a link that has none is nothing.
TEST_F(CreditMonitorTest, WithoutSharedCreditsNothingIsToldOfThem) {
  init(1, 0);
  const PacketRef forged = credits(pool, DllpType::kUpdateFc, FcClass::kPosted, 9, 9);
  forged->dllp.is_shared = true;
  monitor.told(*forged, {});
  send(2);
  EXPECT_THAT(reported.rules(), ElementsAre("LNK-8.3"));
}

}  // namespace
}  // namespace flitwise::credit_monitor_test
