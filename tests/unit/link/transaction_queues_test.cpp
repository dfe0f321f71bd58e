// SPDX-License-Identifier: Apache-2.0
// Which TLP goes next: order between classes, credits, and passing by RO and IDO.
#include "link/transaction_queues.h"

#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "common/random.h"
#include "link/ordering.h"
#include "unit/link/link_support.h"

namespace flitwise::transaction_queues_test {
namespace {

constexpr Time kLater = Time::from_us(1);  // everything has come through the pipeline
constexpr FcClass kP = FcClass::kPosted;
constexpr FcClass kNp = FcClass::kNonPosted;
constexpr FcClass kCpl = FcClass::kCompletion;

class TransactionQueuesTest : public testing::Test {
 protected:
  explicit TransactionQueuesTest(RelaxedPassing mode = RelaxedPassing::kWhenBlocked)
      : queues_(64, mode) {}

  Tlp& push(TlpType type, std::uint64_t mark, unsigned dw = 16) {
    PacketRef packet = test::packet(pool_, type, dw, mark);
    Tlp& tlp = packet->tlp;
    queues_.push(std::move(packet));
    return tlp;
  }
  /// Credits of a class: headers only, data plentiful.
  void give(FcClass fc, std::uint32_t headers) {
    queues_.gates(fc).header.initialise(127, CreditScale::header(false, 127));
    queues_.gates(fc).header.consume(127 - headers);
  }
  /// Marks of all that can go now.
  std::vector<std::uint64_t> drain() {
    std::vector<std::uint64_t> marks;
    while (const auto position = queues_.choose(kLater)) {
      marks.push_back(queues_.take(*position)->tlp.address);
    }
    return marks;
  }

  PacketPool pool_;
  TransactionQueues queues_;
};

using Marks = std::vector<std::uint64_t>;

TEST_F(TransactionQueuesTest, OldestGoesFirstWhileAllHaveCredits) {
  push(TlpType::kMRd, 1);
  push(TlpType::kMWr, 2);
  push(TlpType::kCplD, 3);
  push(TlpType::kMWr, 4);
  EXPECT_EQ(drain(), (Marks{1, 2, 3, 4}));
  EXPECT_TRUE(queues_.empty());
}

TEST_F(TransactionQueuesTest, NothingLeavesBeforeItHasArrived) {
  queues_.push(test::packet(pool_, TlpType::kMWr, 16, 1), Time::from_ns(20));
  queues_.push(test::packet(pool_, TlpType::kMWr, 16, 2), Time::from_ns(30));
  queues_.push(test::packet(pool_, TlpType::kCplD, 16, 3), Time::from_ns(10));
  EXPECT_EQ(queues_.first_arrival(), Time::from_ns(10));
  EXPECT_FALSE(queues_.choose(Time::from_ns(19)));  // the completion passes no posted request
  EXPECT_EQ(queues_.take(*queues_.choose(Time::from_ns(20)))->tlp.address, 1U);
  EXPECT_FALSE(queues_.choose(Time::from_ns(29)));
  EXPECT_EQ(queues_.next_arrival(Time::from_ns(20)), Time::from_ns(30));
  EXPECT_EQ(drain(), (Marks{2, 3}));
}

TEST_F(TransactionQueuesTest, LNK_9_2_PostedPassesBlockedNonPosted) {
  give(kNp, 0);
  push(TlpType::kMRd, 1);
  push(TlpType::kMWr, 2);
  EXPECT_EQ(drain(), Marks{2});
  EXPECT_EQ(queues_.starved(kNp, kLater)->tlp.address, 1U);
}

TEST_F(TransactionQueuesTest, LNK_9_3_PostedPassesBlockedCompletions) {
  give(kCpl, 0);
  push(TlpType::kCplD, 1);
  push(TlpType::kMWr, 2);
  EXPECT_EQ(drain(), Marks{2});
}

TEST_F(TransactionQueuesTest, LNK_9_4_ReadNeverPassesBlockedPosted) {
  give(kP, 0);
  push(TlpType::kMWr, 1);
  push(TlpType::kMRd, 2).relaxed_ordering = true;  // RO does not help a read
  EXPECT_EQ(drain(), Marks{});
}

TEST_F(TransactionQueuesTest, LNK_9_4_ReadWithIdoOfAnotherIdentityPassesBlockedPosted) {
  give(kP, 0);
  push(TlpType::kMWr, 1);
  Tlp& same = push(TlpType::kMRd, 2);
  same.id_based_ordering = true;
  EXPECT_EQ(drain(), Marks{});
  same.requester_id = Bdf::of(1, 0, 1);
  EXPECT_EQ(drain(), Marks{2});
}

TEST_F(TransactionQueuesTest, LNK_9_5_NonPostedWithDataNeverPassesBlockedPostedUnlessRo) {
  give(kP, 0);
  push(TlpType::kMWr, 1);
  Tlp& atomic = push(TlpType::kFetchAdd, 2, 2);
  EXPECT_EQ(drain(), Marks{});
  atomic.relaxed_ordering = true;
  EXPECT_EQ(drain(), Marks{2});
}

TEST_F(TransactionQueuesTest, LNK_9_6_CompletionNeverPassesBlockedPostedUnlessRo) {
  give(kP, 0);
  push(TlpType::kMWr, 1);
  Tlp& completion = push(TlpType::kCplD, 2);
  EXPECT_EQ(drain(), Marks{});
  completion.relaxed_ordering = true;
  EXPECT_EQ(drain(), Marks{2});
}

TEST_F(TransactionQueuesTest, LNK_9_7_CompletionPassesBlockedNonPosted) {
  give(kNp, 0);
  push(TlpType::kMRd, 1);
  push(TlpType::kCplD, 2);
  push(TlpType::kMRd, 3);
  EXPECT_EQ(drain(), Marks{2});
}

TEST_F(TransactionQueuesTest, LNK_9_7_CompletionsKeepTheirOrder) {
  give(kCpl, 1);
  push(TlpType::kCplD, 1);
  push(TlpType::kCplD, 2);
  push(TlpType::kCplD, 3);
  EXPECT_EQ(drain(), Marks{1});
}

TEST_F(TransactionQueuesTest, LNK_9_20_NoClassStarvesWhileAnotherHasNoCredits) {
  for (const FcClass blocked : {kNp, kCpl}) {
    TransactionQueues queues(4, RelaxedPassing::kNever);
    queues.gates(blocked).header.initialise(1, CreditScale::header(false, 1));
    queues.gates(blocked).header.consume(1);
    queues.push(test::packet(pool_, blocked == kNp ? TlpType::kMRd : TlpType::kCplD));
    for (std::uint64_t i = 0; i < 100; ++i) {
      queues.push(test::packet(pool_, TlpType::kMWr));
      queues.push(test::packet(pool_, blocked == kNp ? TlpType::kCplD : TlpType::kMRd));
      for (int both = 0; both < 2; ++both) {
        const auto position = queues.choose(kLater);
        ASSERT_TRUE(position);
        queues.take(*position);
      }
    }
  }
}

TEST_F(TransactionQueuesTest, LNK_8_3_LargeTlpWaitsForDataCredits) {
  queues_.gates(kP).data.initialise(10, CreditScale::data(false, 10));
  push(TlpType::kMWr, 1, 32);  // 8 units
  push(TlpType::kMWr, 2, 16);  // 4 units
  push(TlpType::kMWr, 3, 8);   // 2 units
  EXPECT_EQ(drain(), Marks{1});
  queues_.gates(kP).data.update(14);
  EXPECT_EQ(drain(), (Marks{2, 3}));
}

TEST_F(TransactionQueuesTest, StallTimeRunsFromTheRefusalToTheCredits) {
  give(kP, 0);
  push(TlpType::kMWr, 1);
  queues_.note_stalls(Time::from_ns(10));
  EXPECT_EQ(queues_.stalls(Time::from_ns(25)).credits_posted, Time::from_ns(15));
  give(kP, 1);
  queues_.note_stalls(Time::from_ns(30));
  EXPECT_EQ(queues_.stalls(Time::from_ns(90)).credits_posted, Time::from_ns(20));
  EXPECT_EQ(queues_.stalls(Time::from_ns(90)).credits_nonposted, Time{});
}

class Never : public TransactionQueuesTest {
 protected:
  Never() : TransactionQueuesTest(RelaxedPassing::kNever) {}
};
class WhenBlocked : public TransactionQueuesTest {};
class Eager : public TransactionQueuesTest {
 protected:
  Eager() : TransactionQueuesTest(RelaxedPassing::kEager) {}
};

TEST_F(Never, LNK_9_1_NothingOvertakesABlockedPostedRequest) {
  queues_.gates(kP).data.initialise(10, CreditScale::data(false, 10));
  push(TlpType::kMWr, 1, 64);
  push(TlpType::kMWr, 2, 4).relaxed_ordering = true;
  push(TlpType::kCplD, 3).relaxed_ordering = true;
  EXPECT_EQ(drain(), Marks{});
  queues_.gates(kP).data.update(17);
  EXPECT_EQ(drain(), (Marks{1, 2, 3}));
}

TEST_F(WhenBlocked, LNK_9_1_RoOvertakesOnlyWhereTheOlderLacksCredits) {
  push(TlpType::kMWr, 1, 64);
  push(TlpType::kMWr, 2, 4).relaxed_ordering = true;
  EXPECT_EQ(drain(), (Marks{1, 2}));
  queues_.gates(kP).data.initialise(10, CreditScale::data(false, 10));
  push(TlpType::kMWr, 3, 64);
  push(TlpType::kMWr, 4, 4);
  push(TlpType::kMWr, 5, 4).relaxed_ordering = true;
  EXPECT_EQ(drain(), Marks{5});
}

TEST_F(Eager, LNK_9_1_RoOvertakesWheneverPermitted) {
  push(TlpType::kMWr, 1);
  push(TlpType::kMWr, 2);
  push(TlpType::kMWr, 3).relaxed_ordering = true;
  push(TlpType::kCplD, 4).relaxed_ordering = true;
  push(TlpType::kMRd, 5);
  const Marks order = drain();
  ASSERT_EQ(order.size(), 5U);
  EXPECT_TRUE(order[0] == 3 || order[0] == 4);
  EXPECT_TRUE(order[1] == 3 || order[1] == 4);
  EXPECT_EQ(Marks(order.begin() + 2, order.end()), (Marks{1, 2, 5}));
}

TEST_F(Eager, NoPostedRequestIsOvertakenForever) {
  push(TlpType::kMWr, 1);
  for (std::uint64_t mark = 2; mark < 200; ++mark) {
    push(TlpType::kMWr, mark).relaxed_ordering = true;
    const auto position = queues_.choose(kLater);
    ASSERT_TRUE(position);
    if (queues_.take(*position)->tlp.address == 1) {
      return;
    }
  }
  FAIL() << "the first write never left";
}

TEST_F(WhenBlocked, ALargeWriteGetsItsCreditsThoughSmallOnesCouldUseThem) {
  queues_.gates(kP).data.initialise(4, CreditScale::data(false, 4));
  push(TlpType::kMWr, 1, 64);  // 16 units
  std::uint32_t limit = 4;
  for (std::uint64_t mark = 2; mark < 400; ++mark) {
    push(TlpType::kMWr, mark, 4).relaxed_ordering = true;  // 1 unit
    if (const auto position = queues_.choose(kLater)) {
      if (queues_.take(*position)->tlp.address == 1) {
        return;
      }
      queues_.gates(kP).data.update(++limit & 0xfff);
    } else {
      queues_.gates(kP).data.update(++limit & 0xfff);
    }
    if (!queues_.has_room(kP)) {
      break;
    }
  }
  while (const auto position = queues_.choose(kLater)) {
    if (queues_.take(*position)->tlp.address == 1) {
      return;
    }
    queues_.gates(kP).data.update(++limit & 0xfff);
  }
  FAIL() << "the large write never left";
}

/// Processor time of so many questions whether a read with IDO may pass writes of as many
/// identities, the last of which is its own.
std::clock_t time_behind_writes(unsigned writes) {
  PacketPool pool;
  TransactionQueues queues(writes, RelaxedPassing::kWhenBlocked);
  queues.gates(kP).header.initialise(1, CreditScale::header(false, 1));
  queues.gates(kP).header.consume(1);
  const auto push = [&](TlpType type, unsigned pasid) {
    PacketRef packet = test::packet(pool, type);
    packet->tlp.has_pasid = packet->tlp.id_based_ordering = true;
    packet->tlp.pasid = static_cast<Pasid>(pasid);
    queues.push(std::move(packet));
  };
  for (unsigned i = 0; i < writes; ++i) {
    push(TlpType::kMWr, i);
  }
  push(TlpType::kMRd, writes - 1);
  EXPECT_FALSE(queues.choose(kLater));
  const std::clock_t begin = std::clock();
  for (int i = 0; i < 20'000; ++i) {
    queues.choose(kLater);
  }
  return std::clock() - begin;
}

// One by one, so many writes took a thousand times as long.
TEST(TransactionQueuesGrowth, LNK_9_4_ManyPostedRequestsAreNotSearched) {
  const std::clock_t few = time_behind_writes(16);
  EXPECT_LT(time_behind_writes(65'536), 30 * (few + CLOCKS_PER_SEC / 1000));
}

/// Processor time of so many writes that leave ahead of others, with so many queued.
std::clock_t time_of_overtaking(unsigned writes) {
  PacketPool pool;
  TransactionQueues queues(writes, RelaxedPassing::kEager);
  const auto push = [&] {
    PacketRef packet = test::packet(pool, TlpType::kMWr);
    packet->tlp.relaxed_ordering = true;
    queues.push(std::move(packet));
  };
  for (unsigned i = 0; i < writes; ++i) {
    push();
  }
  unsigned overtakings = 0;
  const std::clock_t begin = std::clock();
  for (int i = 0; i < 5'000; ++i) {
    const auto position = queues.choose(kLater);
    overtakings += position->index > 0 ? 1 : 0;
    queues.take(*position);
    push();
  }
  EXPECT_GT(overtakings, 4'000U);
  return std::clock() - begin;
}

// All behind it moved up: that took a thousand times as long.
TEST(TransactionQueuesGrowth, LNK_9_1_OvertakingDoesNotMoveAllThatWait) {
  const std::clock_t few = time_of_overtaking(16);
  EXPECT_LT(time_of_overtaking(65'536), 30 * (few + CLOCKS_PER_SEC / 1000));
}

TEST(TransactionQueuesGrowth, LNK_9_4_WriteBehindManyOthersHoldsItsReadBack) {
  PacketPool pool;
  TransactionQueues queues(64, RelaxedPassing::kWhenBlocked);
  const auto push = [&](TlpType type, unsigned pasid) {
    PacketRef packet = test::packet(pool, type, 16, pasid);
    packet->tlp.has_pasid = packet->tlp.id_based_ordering = true;
    packet->tlp.pasid = static_cast<Pasid>(pasid);
    queues.push(std::move(packet));
  };
  const auto give = [&](FcClass fc, std::uint32_t limit) { queues.gates(fc).header.update(limit); };
  queues.gates(kP).header.initialise(1, CreditScale::header(false, 1));
  queues.gates(kP).header.consume(1);
  for (unsigned i = 0; i < 20; ++i) {
    push(TlpType::kMWr, i);
  }
  push(TlpType::kMRd, 19);
  for (unsigned left = 20; left > 1; --left) {
    EXPECT_FALSE(queues.choose(kLater)) << left;
    give(kP, 22 - left);
    ASSERT_EQ(queues.take(*queues.choose(kLater))->tlp.type, TlpType::kMWr);
  }
  push(TlpType::kMWr, 19);  // came after the read
  EXPECT_FALSE(queues.choose(kLater));
  give(kP, 21);
  ASSERT_EQ(queues.take(*queues.choose(kLater))->tlp.type, TlpType::kMWr);
  EXPECT_EQ(queues.take(*queues.choose(kLater))->tlp.type, TlpType::kMRd);
}

// Whatever leaves, in every mode: nothing has passed what the table keeps it behind.
TEST(TransactionQueuesTable, LNK_9_1_To_9_7_NoForbiddenPassingInRandomTraffic) {
  constexpr TlpType kTypes[] = {TlpType::kMWr, TlpType::kMsg, TlpType::kMRd, TlpType::kFetchAdd,
                                TlpType::kCplD};
  for (const RelaxedPassing mode :
       {RelaxedPassing::kNever, RelaxedPassing::kWhenBlocked, RelaxedPassing::kEager}) {
    PacketPool pool;
    Random random(21);
    TransactionQueues queues(16, mode);
    std::array<std::uint32_t, kFcClasses> limit{};
    for (const FcClass fc : {kP, kNp, kCpl}) {
      limit[static_cast<std::size_t>(fc)] = 4;
      queues.gates(fc).header.initialise(4, CreditScale::header(false, 4));
    }
    std::map<std::uint64_t, Tlp> waiting;  // by age
    std::uint64_t age = 0;
    std::uint64_t sent = 0;
    for (int i = 0; i < 60'000; ++i) {
      const TlpType type = kTypes[random.below(std::size(kTypes))];
      if (random.chance(0.6) && queues.has_room(fc_class(type))) {
        PacketRef packet = test::packet(pool, type, 2, ++age);
        packet->tlp.relaxed_ordering = random.chance(0.4);
        packet->tlp.id_based_ordering = random.chance(0.4);
        packet->tlp.requester_id.value = static_cast<std::uint16_t>(random.below(3));
        packet->tlp.completer_id.value = static_cast<std::uint16_t>(random.below(3));
        packet->tlp.tag = static_cast<std::uint16_t>(random.below(4));
        waiting[age] = packet->tlp;
        queues.push(std::move(packet));
      }
      if (const auto position = queues.choose(kLater)) {
        const PacketRef packet = queues.take(*position);
        const Tlp& later = packet->tlp;
        ++sent;
        for (const auto& [mark, earlier] : waiting) {
          if (mark >= later.address) {
            break;
          }
          ASSERT_NE(passing(later, earlier), Passing::kNo) << "mode " << static_cast<int>(mode);
          if (mode == RelaxedPassing::kNever) {
            ASSERT_NE(fc_class(earlier.type), kP);
          }
        }
        waiting.erase(later.address);
      }
      const auto fc = static_cast<FcClass>(random.below(kFcClasses));
      if (random.chance(0.4) && queues.gates(fc).header.available() < 100) {
        queues.gates(fc).header.update(++limit[static_cast<std::size_t>(fc)] & 0xff);
      }
    }
    EXPECT_GT(sent, 10'000U);
  }
}

}  // namespace
}  // namespace flitwise::transaction_queues_test
