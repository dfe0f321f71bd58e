// SPDX-License-Identifier: Apache-2.0
// What holds for every order of events, hostile ones included.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <random>

#include "unit/pio/send_bench.h"

namespace flitwise::send_properties_test {
namespace {

using test::packet_block;
using test::pbc_of;
using test::SendBench;

constexpr unsigned kPropertyContexts = 6;
constexpr unsigned kPropertyVls[] = {0, 1, 2, 15};

/// What a context has sent, kept as plainly as can be.
struct NaiveContext {
  struct Packet {
    unsigned blocks;
    unsigned vl;
    bool is_free = false;
    unsigned cleared = 0;  // blocks, one by one
  };
  std::vector<Packet> packets;  // of this life, oldest first
  std::size_t launched = 0;
  std::uint64_t freed() const {
    std::uint64_t blocks = 0;
    for (const Packet& packet : packets) {
      if (!packet.is_free) {
        blocks += packet.cleared;
        break;
      }
      blocks += packet.blocks;
    }
    return blocks;
  }
  std::uint64_t filled() const {
    std::uint64_t blocks = 0;
    for (const Packet& packet : packets) {
      blocks += packet.blocks;
    }
    return blocks;
  }
};

class RandomTraffic {
 public:
  explicit RandomTraffic(unsigned seed) : random_(seed), seed_(seed) {
    for (unsigned i = 0; i < kPropertyContexts; ++i) {
      const unsigned depth = 1 + draw(60);
      depths_.push_back(depth);
      bench_.set_up(i, {i * 64, depth, static_cast<std::uint16_t>(draw(12)), draw(2) == 1, false});
    }
    bench_.engine.set_group(0, draw(4));
  }

  void step() {
    switch (draw(6)) {
      case 0:
      case 1: fill(); break;
      case 2:
      case 3: launch(); break;
      case 4: commit(); break;
      default: clear(); break;
    }
    if (draw(50) == 0) {
      bench_.force(draw(kPropertyContexts), draw(2) == 1);
    }
    if (draw(50) == 0) {
      bench_.engine.set_threshold(draw(kPropertyContexts), static_cast<std::uint16_t>(draw(12)));
    }
    if (draw(50) == 0) {
      bench_.engine.set_early_return(draw(kPropertyContexts), draw(2) == 1);
    }
    check();
  }

 private:
  unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }

  // As much as software has credits for by what has been returned. [PIO-7.1]
  void fill() {
    const unsigned context = draw(kPropertyContexts);
    const std::uint64_t in_use = naive_[context].filled() - bench_.context(context).returned();
    ASSERT_LE(in_use, depths_[context]) << "seed " << seed_;
    const auto room = static_cast<unsigned>(depths_[context] - in_use);
    if (room == 0) {
      return;
    }
    const unsigned blocks = 1 + draw(std::min(room, 9U));
    const unsigned vl = kPropertyVls[draw(4)];
    bench_.fill(context, blocks, vl, draw(8) == 0);
    naive_[context].packets.push_back({blocks, vl});
  }

  void launch() {
    const unsigned source = bench_.engine.next_source();
    bench_.launch();
    if (source != LaunchArbiter::kNone) {
      NaiveContext& context = naive_[source];
      ASSERT_LT(context.launched, context.packets.size());
      order_[context.packets[context.launched].vl].push_back({source, context.launched});
      ++context.launched;
    }
  }

  // Launch order within a VL, and with it the order of each context. [PIO-6.4]
  void commit() {
    const unsigned vl = kPropertyVls[draw(4)];
    const bool was_busy = bench_.engine.leaving(vl) != nullptr;
    bench_.commit(vl);
    const LaunchedPacket* const packet = bench_.engine.leaving(vl);
    ASSERT_EQ(packet != nullptr, was_busy || !order_[vl].empty()) << "seed " << seed_;
    if (packet == nullptr || was_busy) {
      return;
    }
    const auto [source, number] = order_[vl].front();
    order_[vl].pop_front();
    EXPECT_EQ(packet->source, source) << "seed " << seed_;
    EXPECT_EQ(packet->blocks, naive_[source].packets[number].blocks) << "seed " << seed_;
    leaving_[vl] = {source, number};
    if (bench_.context(source).setup().early_return) {
      naive_[source].packets[number].is_free = true;
    }
  }

  // Some packets leave as a whole, others block by block. [PIO-6.8, 12.25]
  void clear() {
    const unsigned vl = kPropertyVls[draw(4)];
    const LaunchedPacket* const leaving = bench_.engine.leaving(vl);
    const bool is_whole = leaving != nullptr && leaving->cleared == 0 && draw(3) == 0;
    if (leaving != nullptr) {
      const auto [source, number] = leaving_[vl];
      NaiveContext::Packet& packet = naive_[source].packets[number];
      packet.is_free |= is_whole || ++packet.cleared == packet.blocks;
    }
    is_whole ? bench_.clear(vl) : bench_.clear_block(vl);
  }

  void check() {
    for (unsigned i = 0; i < kPropertyContexts; ++i) {
      const SendContext& context = bench_.context(i);
      ASSERT_FALSE(context.is_halted()) << "seed " << seed_;
      ASSERT_EQ(context.freed(), naive_[i].freed()) << "seed " << seed_;
      ASSERT_EQ(context.returned() + context.pending(), context.freed()) << "seed " << seed_;
    }
    for (; seen_ < bench_.returns.size(); ++seen_) {
      const CreditReturn& entry = bench_.returns[seen_];
      const std::uint64_t word = entry.qws[entry.context % 8];
      ASSERT_EQ(word % kCreditRing, bench_.context(entry.context).freed() % kCreditRing);
      ASSERT_NE(word & kCreditCauses, 0U) << "seed " << seed_;
    }
  }

  std::mt19937 random_;
  unsigned seed_;
  SendBench bench_;
  std::vector<unsigned> depths_;
  std::map<unsigned, NaiveContext> naive_;
  std::map<unsigned, std::deque<std::pair<unsigned, std::size_t>>> order_;  // by VL
  std::map<unsigned, std::pair<unsigned, std::size_t>> leaving_;
  std::size_t seen_ = 0;
};

// [PIO-7.2, 7.7, 6.4]
TEST(SendProperties, PIO_051_052_092_CreditsAndOrdersHoldUnderRandomTraffic) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    RandomTraffic traffic(seed);
    for (unsigned i = 0; i < 2000 && !::testing::Test::HasFatalFailure(); ++i) {
      traffic.step();
    }
    ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "seed " << seed;
  }
}

// [PIO-2.3, 9.5]
TEST(SendProperties, PIO_006_085_HostileWritesReachNoOtherContext) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    std::mt19937 random(seed);
    SendBench bench;
    // Every second context is the attacker's; the others have a packet that is not complete.
    for (unsigned i = 0; i < 64; ++i) {
      bench.set_up(i, {i, 1, 1, i % 4 == 0, i % 3 == 0});
      if (i % 2 == 1) {
        bench.write(i, 0, 8, true, std::vector<std::uint8_t>(56, static_cast<std::uint8_t>(i)));
      }
    }
    for (unsigned n = 0; n < 5000; ++n) {
      const unsigned context = static_cast<unsigned>(random() % 128) * 2;
      const std::size_t bytes = random() % 8 == 0 ? random() % 80 : 8 * (random() % 9);
      const unsigned offset = static_cast<unsigned>(random()) % (random() % 4 == 0 ? 65536U : 64U);
      bench.write(context, offset / 64, random() % 8 == 0 ? offset % 64 : offset % 64 / 8 * 8,
                  random() % 3 != 0, std::vector<std::uint8_t>(bytes, 0xcc));
      bench.launch();
      bench.engine.arbitrate(random() % 16 != 0);
      bench.clear(static_cast<unsigned>(random() % 16));
      if (random() % 16 == 0 && context < 64) {
        bench.engine.restart(context);
      }
    }
    bench.returns.clear();
    for (unsigned i = 1; i < 64; i += 2) {
      EXPECT_FALSE(bench.context(i).is_halted()) << "seed " << seed;
      const std::uint8_t* const bytes = bench.engine.memory().bytes(i);
      EXPECT_EQ(std::count(bytes + 8, bytes + 64, static_cast<std::uint8_t>(i)), 56);
      const test::Block block = packet_block(pbc_of(1, 3), 0);
      bench.write(i, 0, 0, true, {block.begin(), block.begin() + 8});
    }
    for (unsigned vl = 0; vl < 16; ++vl) {  // what the attacker has left
      while (bench.engine.leaving(vl) != nullptr) {
        bench.send(vl);
      }
    }
    EXPECT_EQ(std::count_if(bench.returns.begin(), bench.returns.end(),
                            [](const CreditReturn& one) { return one.context % 2 == 1; }),
              0);
    bench.launch(64);
    for (unsigned n = 0; n < 64; ++n) {
      bench.send(3);
    }
    for (unsigned i = 1; i < 64; i += 2) {
      EXPECT_EQ(bench.context(i).returned(), 1U) << "seed " << seed;
    }
  }
}

// Waits in vain never arise: after all has left, one force a context returns everything. [PIO-7.4]
TEST(SendProperties, ForceReturnsAllThatIsFree) {
  SendBench bench;
  std::mt19937 random(7);
  for (unsigned i = 0; i < kSendContexts; ++i) {
    bench.set_up(i, {i * 102, 102, static_cast<std::uint16_t>(200 + i), false, false});
  }
  std::vector<unsigned> filled(kSendContexts);
  for (unsigned n = 0; n < 1000; ++n) {
    const auto i = static_cast<unsigned>(random() % kSendContexts);
    const unsigned blocks = 1 + static_cast<unsigned>(random() % 4);
    if (filled[i] + blocks <= 102) {
      filled[i] += blocks;
      bench.fill(i, blocks, static_cast<unsigned>(random() % 8));
    }
  }
  bench.launch(1000);
  for (unsigned n = 0; n < 1000; ++n) {
    bench.engine.arbitrate(true);
    for (unsigned vl = 0; vl < 8; ++vl) {
      bench.clear(vl);
    }
  }
  EXPECT_TRUE(bench.returns.empty());
  for (unsigned i = 0; i < kSendContexts; ++i) {
    bench.force(i, true);
    EXPECT_EQ(bench.context(i).returned(), filled[i]);
    EXPECT_EQ(bench.last_qw(i), filled[i] | kDueToForce);
  }
}

}  // namespace
}  // namespace flitwise::send_properties_test
