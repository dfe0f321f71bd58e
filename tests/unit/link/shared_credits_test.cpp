// SPDX-License-Identifier: Apache-2.0
// Shared credits: which pool a TLP takes, which one gets its room back, and how it is told.
#include "link/shared_credits.h"

#include <gtest/gtest.h>

#include <string>

#include "common/random.h"
#include "link/credit_exchange.h"
#include "link/flit_framer.h"
#include "unit/link/link_support.h"

namespace flitwise::shared_credits_test {
namespace {

constexpr Time kGuideline = Time::from_ns(100);

constexpr Time ns(std::int64_t n) {
  return Time::from_ns(n);
}

Dllp shared_dllp(DllpType type, FcClass fc, unsigned headers, unsigned data) {
  Dllp dllp;
  dllp.type = type;
  dllp.fc_class = fc;
  dllp.is_shared = true;
  dllp.hdr_scale = dllp.data_scale = 1;
  dllp.hdr_fc = static_cast<std::uint8_t>(headers);
  dllp.data_fc = static_cast<std::uint16_t>(data);
  return dllp;
}

class SharedGatesTest : public testing::Test {
 protected:
  void dedicated(FcClass fc, unsigned headers, unsigned data) {
    queues_.gates(fc).header.initialise(headers, CreditScale::header(true, headers));
    queues_.gates(fc).data.initialise(data, CreditScale::data(true, data));
  }
  void shared(FcClass fc, unsigned headers, unsigned data) {
    queues_.shared_gates().initialise(shared_dllp(DllpType::kInitFc1, fc, headers, data));
  }
  void push(TlpType type, unsigned dw = 16) { queues_.push(test::packet(pool_, type, dw)); }
  /// Sends all that may go: a letter each, D for one with a prefix, - for one without.
  std::string send() {
    std::string text;
    while (const auto position = queues_.choose()) {
      text += queues_.take(*position)->uses_dedicated_credits ? 'D' : '-';
    }
    return text;
  }

  PacketPool pool_;
  TransactionQueues queues_{64, RelaxedPassing::kNever};
};

TEST_F(SharedGatesTest, LNK_11_23_SharedCreditsGoFirstAndDedicatedOnesThen) {
  queues_.share_credits(false);
  dedicated(FcClass::kPosted, 2, 32);
  shared(FcClass::kPosted, 3, 64);
  for (int i = 0; i < 6; ++i) {
    push(TlpType::kMWr);
  }
  EXPECT_EQ(send(), "---DD");
  EXPECT_NE(queues_.starved(FcClass::kPosted), nullptr);
  queues_.shared_gates().update(shared_dllp(DllpType::kUpdateFc, FcClass::kPosted, 4, 68));
  EXPECT_EQ(send(), "-");
}

TEST_F(SharedGatesTest, LNK_11_23_TheyHaveToSufficeForHeaderAndData) {
  queues_.share_credits(false);
  dedicated(FcClass::kPosted, 4, 256);
  shared(FcClass::kPosted, 8, 6);
  push(TlpType::kMWr);     // 4 units of 6
  push(TlpType::kMWr);     // 2 are left: not enough
  push(TlpType::kMWr, 5);  // 2 units
  push(TlpType::kMsg);     // no data
  EXPECT_EQ(send(), "-D--");
}

TEST_F(SharedGatesTest, LNK_11_24_NoSharedCreditsAreNoneAndNeedNoPrefix) {
  queues_.share_credits(false);
  dedicated(FcClass::kNonPosted, 2, 2);
  shared(FcClass::kNonPosted, 0, 0);
  for (int i = 0; i < 3; ++i) {
    push(TlpType::kMRd);
  }
  EXPECT_EQ(send(), "--");
}

TEST_F(SharedGatesTest, LNK_11_24_NobodyOpensAPoolByAnUpdate) {
  queues_.share_credits(false);
  dedicated(FcClass::kNonPosted, 2, 2);
  shared(FcClass::kNonPosted, 0, 0);
  queues_.shared_gates().update(shared_dllp(DllpType::kUpdateFc, FcClass::kNonPosted, 5, 5));
  for (int i = 0; i < 3; ++i) {
    push(TlpType::kMRd);
  }
  EXPECT_EQ(send(), "--");
}

TEST_F(SharedGatesTest, LNK_11_26_MergedPostedRequestsAndCompletionsDrawOnOnePool) {
  for (const bool is_merged : {true, false}) {
    queues_.share_credits(is_merged);
    dedicated(FcClass::kPosted, 1, 16);
    dedicated(FcClass::kCompletion, 1, 16);
    shared(FcClass::kPosted, 2, 16);
    push(TlpType::kMWr);
    push(TlpType::kCplD);
    push(TlpType::kMWr);
    push(TlpType::kCplD);
    EXPECT_EQ(send(), is_merged ? "--DD" : "---");
    queues_.reset(Time{});
  }
}

TEST_F(SharedGatesTest, LNK_10_7_AResetLeavesNoSharedCredits) {
  queues_.share_credits(false);
  shared(FcClass::kPosted, 4, 64);
  queues_.reset(Time{});
  dedicated(FcClass::kPosted, 1, 16);
  push(TlpType::kMWr);
  push(TlpType::kMWr);
  EXPECT_EQ(send(), "-");
}

TEST_F(SharedGatesTest, LNK_11_25_APrefixIsOneDwOfHeader) {
  const auto header_bits = [&](unsigned shared_headers) {
    queues_.share_credits(false);
    dedicated(FcClass::kNonPosted, 4, 4);
    shared(FcClass::kNonPosted, shared_headers, 0);
    for (int i = 0; i < 3; ++i) {
      PacketRef read = test::packet(pool_, TlpType::kMRd);
      read->tlp.is_4dw = false;
      read->tlp.first_be = read->tlp.last_be = 0xf;
      queues_.push(read);
    }
    FlitPacker packer(queues_);
    const PacketRef flit = pool_.make(PacketKind::kFlit);
    WireSize size;
    packer.fill(Time{}, *flit->flit, size);
    EXPECT_EQ(size.total(), flit::kTlpBytes * 8);
    EXPECT_EQ(flit->flit->local_prefixes, 3 - shared_headers);
    return size.header;
  };
  EXPECT_EQ(header_bits(3), 3U * 96);
  EXPECT_EQ(header_bits(2), 3U * 96 + 32);
  EXPECT_EQ(header_bits(1), 3U * 96 + 64);
}

class SharedReturnsTest : public testing::Test {
 protected:
  static LinkConfig link() {
    LinkConfig link = test::link_config(6, 16);
    link.credits.completion_headers = 32;
    link.credits.completion_data = 512;
    link.shared_credits.posted_headers = link.shared_credits.nonposted_headers = 32;
    link.shared_credits.posted_data = 1'024;
    return link;
  }
  PacketRef write() { return test::packet(pool_, TlpType::kMWr, 16); }
  PacketRef read() { return test::packet(pool_, TlpType::kMRd, 16); }
  static void pass(SharedReturns& returns, const PacketRef& packet, Time now) {
    EXPECT_TRUE(returns.receive(packet->tlp));
    returns.free(packet->tlp, now);
  }
  PacketPool pool_;
};

// A switch sends it on before it frees its buffer, on a link with marks of its own.
TEST_F(SharedReturnsTest, LNK_11_23_RoomGoesBackToThePoolThatItWasTakenFrom) {
  SharedReturns returns(link(), kGuideline);
  const PacketRef shared = write();
  const PacketRef dedicated = write();
  dedicated->uses_dedicated_credits = true;
  EXPECT_TRUE(returns.claim(*shared));
  EXPECT_FALSE(returns.claim(*dedicated));
  shared->uses_dedicated_credits = true;
  dedicated->uses_dedicated_credits = false;
  EXPECT_FALSE(returns.release(*dedicated));
  EXPECT_TRUE(returns.release(*shared));
  EXPECT_TRUE(returns.release(*dedicated));  // it is not remembered any longer
}

TEST_F(SharedReturnsTest, LNK_11_24_AClassWithoutSharedCreditsHasDedicatedOnes) {
  SharedReturns returns(link(), kGuideline);
  const PacketRef completion = test::packet(pool_, TlpType::kCplD, 16);
  EXPECT_FALSE(returns.claim(*completion));
  EXPECT_FALSE(returns.release(*completion));
  EXPECT_EQ(returns.dllp(DllpType::kInitFc1, FcClass::kCompletion).hdr_fc, 0);
  const Dllp told = returns.dllp(DllpType::kInitFc1, FcClass::kPosted);
  EXPECT_TRUE(told.is_shared);
  EXPECT_EQ(told.hdr_fc, 32);
  EXPECT_EQ(told.data_fc, 1'024);
}

TEST_F(SharedReturnsTest, LNK_11_26_MergedCompletionsTakeAndFreeWhatIsPosted) {
  LinkConfig merged = link();
  merged.shared_credits.merged = true;
  SharedReturns returns(merged, kGuideline);
  const PacketRef completion = test::packet(pool_, TlpType::kCplD, 16);
  EXPECT_TRUE(returns.claim(*completion));
  EXPECT_TRUE(returns.release(*completion));
  pass(returns, completion, ns(0));
  const Dllp update = returns.take(returns.deadline());
  EXPECT_EQ(update.fc_class, FcClass::kPosted);
  EXPECT_EQ(update.hdr_fc, 33);
  EXPECT_EQ(update.data_fc, 1'028);
}

TEST_F(SharedReturnsTest, LNK_8_3_ATlpBeyondThemIsNoticed) {
  LinkConfig few = link();
  few.shared_credits.posted_headers = 1;
  SharedReturns returns(few, kGuideline);
  EXPECT_TRUE(returns.receive(write()->tlp));
  EXPECT_FALSE(returns.receive(write()->tlp));
  EXPECT_FALSE(returns.is_conserved());
}

TEST_F(SharedReturnsTest, LNK_11_24_OneClassIsToldByUpdateFc) {
  SharedReturns returns(link(), kGuideline);
  EXPECT_EQ(returns.deadline(), Time::never());
  pass(returns, write(), ns(10));
  EXPECT_EQ(returns.deadline(), ns(110));
  EXPECT_TRUE(returns.has_unadvertised());
  const Dllp update = returns.take(ns(110));
  EXPECT_EQ(update.type, DllpType::kUpdateFc);
  EXPECT_TRUE(update.is_shared);
  EXPECT_EQ(update.hdr_fc, 33);
  EXPECT_FALSE(returns.has_unadvertised());
}

TEST_F(SharedReturnsTest, LNK_11_27_SeveralClassesAreToldAtOnce) {
  SharedReturns returns(link(), kGuideline);
  pass(returns, write(), ns(10));
  pass(returns, read(), ns(50));
  const Dllp update = returns.take(ns(110));
  ASSERT_EQ(update.type, DllpType::kOptimizedUpdateFc);
  const OptimizedUpdateFc all = decode_optimized_update_fc(update.raw);
  EXPECT_EQ(all.classes[0].header, 33U % 8);
  EXPECT_EQ(all.classes[0].data, 1'028U % 128);
  EXPECT_EQ(all.classes[1].header, 33U % 8);
  EXPECT_EQ(all.classes[1].data, 0U);
  EXPECT_EQ(all.classes[2].header, 0U);
  EXPECT_FALSE(returns.has_unadvertised());
  EXPECT_EQ(returns.deadline(), Time::never());
}

TEST_F(SharedReturnsTest, LNK_11_27_AStepTooLongForItIsToldByUpdateFc) {
  SharedReturns returns(link(), kGuideline);
  for (int i = 0; i < 8; ++i) {
    pass(returns, write(), ns(10));
  }
  pass(returns, read(), ns(10));
  EXPECT_EQ(returns.take(ns(110)).type, DllpType::kUpdateFc);
  EXPECT_EQ(returns.take(ns(110)).type, DllpType::kUpdateFc);
  EXPECT_FALSE(returns.has_unadvertised());
}

// It may have been lost, and what it says counts from what was told before.
TEST_F(SharedReturnsTest, LNK_11_27_UpdateFcComesEvery30usAllTheSame) {
  SharedReturns returns(link(), kGuideline);
  returns.activate(ns(0));
  int updates = 0;
  for (int i = 1; i <= 300; ++i) {
    const Time now = ns(1'000 * i);
    while (returns.deadline() <= now) {
      updates += returns.take(now).type == DllpType::kUpdateFc ? 1 : 0;
    }
    pass(returns, write(), now);
    pass(returns, read(), now);
  }
  EXPECT_EQ(updates, 2 * 10);
}

TEST_F(SharedReturnsTest, LNK_10_7_TheirPeriodBeginsAnewWithTheLink) {
  SharedReturns returns(link(), kGuideline);
  returns.activate(ns(0));
  returns.reset();
  returns.activate(ns(20'000));
  pass(returns, write(), ns(31'000));
  pass(returns, read(), ns(31'000));
  EXPECT_EQ(returns.take(ns(31'100)).type, DllpType::kOptimizedUpdateFc);
  EXPECT_EQ(returns.deadline(), ns(50'000));
}

TEST(OptimizedUpdateFc, LNK_11_27_FieldsStandInOneDw) {
  OptimizedUpdateFc update;
  update.classes[0] = {1, 0};
  EXPECT_EQ(encode(update), 0x20000000U);
  update.classes[0] = {0, 1};
  EXPECT_EQ(encode(update), 1U << 22);
  update.classes[0] = {0, 0};
  update.classes[2] = {0, 1};
  EXPECT_EQ(encode(update), 4U);
  Random random(7);
  for (int i = 0; i < 1'000; ++i) {
    const auto dw = static_cast<std::uint32_t>(random.below(std::uint64_t{1} << 30)) << 2;
    ASSERT_EQ(encode(decode_optimized_update_fc(dw)), dw);
  }
}

// A gate and its pool, told by whole fields and by low bits in turn, far beyond the end of both.
TEST(OptimizedUpdateFc, LNK_11_27_LowBitsCarryTheLimitAlsoAcrossTheWrap) {
  Random random(5);
  for (const std::uint32_t size : {5U, 100U, 400U, 1'500U}) {
    CreditPool pool(size, CreditScale::header(true, size), Zero::kNone);
    CreditGate gate;
    gate.initialise(pool.field(), pool.scale(), Zero::kNone);
    std::uint32_t held = 0;
    for (int i = 0; i < 50'000; ++i) {
      if (gate.allows(1)) {
        gate.consume(1);
        ASSERT_TRUE(pool.receive(1));
        ++held;
      }
      if (held > 0 && random.chance(0.7)) {
        pool.free(1);
        --held;
      }
      if (random.chance(0.2)) {
        if (pool.untold_steps() < 1U << kOptimizedHeaderBits) {
          gate.extend(low_bits(pool.field(), kOptimizedHeaderBits), kOptimizedHeaderBits);
        } else {
          gate.update(pool.field());
        }
        pool.advertised();
        ASSERT_EQ(gate.available(), pool.believed());
      }
      ASSERT_TRUE(pool.is_conserved());
    }
  }
}

TEST(FlowControlInit, LNK_11_24_ThreeMoreInitFcsTellOfSharedCredits) {
  FlowControlInit init(true);
  init.start(Time{});
  for (unsigned i = 0; i < 6; ++i) {
    const FlowControlInit::Step step = init.take(Time{});
    EXPECT_EQ(step.type, DllpType::kInitFc1);
    EXPECT_EQ(step.fc_class, static_cast<FcClass>(i % 3));
    EXPECT_EQ(step.is_shared, i >= 3);
  }
  EXPECT_EQ(init.deadline(), kInitFcPeriod);
  for (const bool is_shared : {false, true}) {
    for (int i = 0; i < kFcClasses; ++i) {
      EXPECT_NE(init.deadline(), ns(5));
      EXPECT_TRUE(init.receive_values(static_cast<FcClass>(i), ns(5), is_shared));
    }
  }
  EXPECT_EQ(init.deadline(), ns(5));
  EXPECT_EQ(init.take(ns(5)).type, DllpType::kInitFc2);
}

TEST(SharedCredits, LNK_11_24_NoneConfiguredNothingIsToldOfThem) {
  LinkConfig link = test::link_config(6, 16);
  EXPECT_FALSE(has_shared_credits(link));
  TransactionQueues queues(8, RelaxedPassing::kNever);
  CreditExchange exchange(link, kGuideline, queues);
  exchange.start(Time{});
  EXPECT_FALSE(queues.shares_credits());
  for (int i = 0; i < kFcClasses; ++i) {
    EXPECT_FALSE(exchange.take(Time{}).is_shared);
  }
  EXPECT_GT(exchange.deadline(), Time{});
  exchange.receive(shared_dllp(DllpType::kInitFc1, FcClass::kPosted, 1, 1), ns(1));  // says nothing
  exchange.receive(shared_dllp(DllpType::kUpdateFc, FcClass::kPosted, 1, 1), ns(1));
  EXPECT_FALSE(queues.shares_credits());
}

}  // namespace
}  // namespace flitwise::shared_credits_test
