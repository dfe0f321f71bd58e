// SPDX-License-Identifier: Apache-2.0
// Credit returns on their way to the shell of a device, which the test plays.
#include "pio/credit_writer.h"

#include <gtest/gtest.h>

#include <boost/endian/conversion.hpp>

namespace flitwise::credit_writer_test {
namespace {

constexpr Time kCrossing = Time::from_ns(5);

constexpr std::uint64_t kInterrupts = 0xfee0'3000;

PioEngineConfig config_of(unsigned tag) {
  PioEngineConfig config;
  config.pio.timing.crossing = kCrossing;
  config.pio.steering_tag = tag;
  config.interrupt_address = kInterrupts;
  return config;
}

class Bench {
 public:
  explicit Bench(unsigned tag = kNoSteeringTag)
      : config(config_of(tag)), writer(rules, config, [this] { ++asked; }) {
    for (unsigned context = 0; context < 10; ++context) {
      rules.set_up(context, {context, 1, 0, false, false});
      rules.set_return_address(context, 0x1000 + 64U * context);
    }
  }
  void force(unsigned context, Time now) {
    rules.force(context, true);
    rules.force(context, false);
    writer.note_returns(now);
  }
  Transfer next(Time now) {
    Transfer transfer;
    EXPECT_TRUE(writer.next(now, transfer));
    return transfer;
  }
  static std::uint64_t qw(const Transfer& transfer, unsigned i) {
    return boost::endian::load_little_u64(transfer.data + i * kQwBytes);
  }

  SendEngine rules;
  const PioEngineConfig config;
  unsigned asked = 0;
  CreditWriter writer;
};

// An MSI of the context whose interrupt is on, behind its return.
TEST(CreditWriter, PIO_12_12_AnInterruptFollowsTheReturn) {
  Bench bench;
  bench.rules.set_credit_interrupt(3, true);
  bench.force(3, Time::from_ns(20));
  EXPECT_EQ(bench.next(Time::from_ns(25)).op, Op::kWrite);
  EXPECT_EQ(bench.writer.next_at(), Time::from_ns(25));
  const Transfer message = bench.next(Time::from_ns(25));
  EXPECT_EQ(message.op, Op::kMsi);
  EXPECT_EQ(message.address, kInterrupts);
  EXPECT_EQ(message.bytes, 4U);
  EXPECT_EQ(boost::endian::load_little_u32(message.data), 576U + 3);
  EXPECT_EQ(bench.writer.interrupts(), 1U);
  EXPECT_FALSE(bench.writer.is_quiet());
}

// [PIO-8.2]
TEST(CreditWriter, PIO_8_2_AReturnIsAWriteOf64BytesAfterACrossing) {
  Bench bench;
  bench.force(3, Time::from_ns(20));
  EXPECT_EQ(bench.asked, 1U);
  EXPECT_EQ(bench.writer.next_at(), Time::from_ns(25));
  Transfer none;
  EXPECT_FALSE(bench.writer.next(Time::from_ns(24), none));
  const Transfer one = bench.next(Time::from_ns(25));
  EXPECT_EQ(one.address, 0x1000U + 3 * 64);
  EXPECT_EQ(one.bytes, 64U);
  EXPECT_EQ(to_int(one.domain), 3U);
  EXPECT_EQ(one.steering_tag, kNoSteeringTag);
  EXPECT_EQ(Bench::qw(one, 3) & kCreditCauses, kDueToForce);
  EXPECT_FALSE(bench.writer.is_quiet());
  bench.writer.finished({one.token, Op::kWrite, TransferStatus::kDone, Time::from_ns(30)});
  EXPECT_TRUE(bench.writer.is_quiet());
  EXPECT_EQ(bench.writer.sent(), 1U);
  EXPECT_EQ(bench.writer.steered(), 0U);
}

// [PIO-8.3]
TEST(CreditWriter, PIO_8_3_AReturnCarriesTheSteeringTag) {
  Bench bench(17);
  bench.force(0, Time{});
  EXPECT_EQ(bench.next(kCrossing).steering_tag, 17);
  EXPECT_EQ(bench.writer.steered(), 1U);
}

// [PIO-12.21] Eight cross; the ninth waits for the first of them to be taken, and what comes for it
// meanwhile goes with it.
TEST(CreditWriter, PIO_12_21_EightCrossAndTheNinthIsUpdatedWhileItWaits) {
  Bench bench;
  for (unsigned context = 0; context < 9; ++context) {
    bench.force(context, Time{});
  }
  EXPECT_EQ(bench.rules.returns_waiting(), 1U);
  bench.force(8, Time::from_ns(1));
  EXPECT_EQ(bench.rules.return_counts().coalesced, 1U);
  bench.force(0, Time::from_ns(1));  // its return crosses: this is another one
  EXPECT_EQ(bench.rules.returns_waiting(), 2U);
  for (unsigned context = 0; context < 8; ++context) {
    EXPECT_EQ(bench.next(Time::from_ns(40)).address, 0x1000U + 64 * context);
  }
  EXPECT_EQ(bench.writer.next_at(), Time::from_ns(45));
  EXPECT_EQ(bench.next(Time::from_ns(45)).address, 0x1000U + 64 * 8);
  EXPECT_EQ(bench.next(Time::from_ns(45)).address, 0x1000U);
  EXPECT_EQ(bench.writer.sent(), bench.rules.return_counts().writes);
}

}  // namespace
}  // namespace flitwise::credit_writer_test
