// SPDX-License-Identifier: Apache-2.0
// CXL.io in 68-byte flits at both ends together.
#include "link/cxl_framers.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/random.h"
#include "unit/link/framer_pair.h"

namespace flitwise::cxl68_framer_test {
namespace {

using test::Fate;

class Cxl68FramerTest : public testing::Test {
 protected:
  void start(std::uint64_t ack_coalesce = 0) {
    LinkConfig link;
    link.preset = {"cxl68_gen5x16", 5, 16, CxlFlits::k68};
    link.skp = SkpMode::kOff;
    link.ack_coalesce = static_cast<unsigned>(ack_coalesce);
    flits_.clear();  // they hold packets of the former pool
    pair_ = std::make_unique<test::FramerPairOf<Cxl68Framer>>(link);
    pair_->delivered = [this](int side, const PacketRef& packet) {
      arrived_.push_back(packet->tlp.address);
      pair_->framer(side).freed(*packet, pair_->now());
    };
    pair_->sent = [this](int side, const WireUnit& unit, Placement) {
      ASSERT_TRUE(unit.is_flit());
      EXPECT_EQ(unit.size.total(), 68U * 8);
      EXPECT_GE(unit.size.framing, 16U);
      EXPECT_EQ(unit.packet->flit->parts.empty(), unit.packet->flit->is_cachemem);
      if (side == 0 && !unit.packet->flit->is_cachemem) {
        flits_.push_back(unit.packet->flit->parts);
        sizes_.push_back(unit.size);
      }
    };
    pair_->run_until(Time::from_us(1));
    ASSERT_TRUE(pair_->framer(0).is_active());
    ASSERT_TRUE(pair_->framer(1).is_active());
    flits_.clear();
    sizes_.clear();
  }
  void write(int count, unsigned dw = 16) {
    for (int i = 0; i < count && pair_->queues(0).has_room(FcClass::kPosted); ++i) {
      pair_->queues(0).push(test::packet(pair_->pool(), TlpType::kMWr, dw, mark_++));
    }
  }
  void expect_all_arrived() {
    ASSERT_TRUE(pair_->run_until_quiet());
    ASSERT_EQ(arrived_.size(), mark_);
    for (std::uint64_t i = 0; i < mark_; ++i) {
      EXPECT_EQ(arrived_[i], i);
    }
    EXPECT_TRUE(pair_->framer(0).is_conserved());
    EXPECT_TRUE(pair_->framer(1).is_conserved());
  }
  std::uint64_t bits(std::uint32_t WireSize::*part) const {
    std::uint64_t sum = 0;
    for (const WireSize& size : sizes_) {
      sum += size.*part;
    }
    return sum;
  }

  std::unique_ptr<test::FramerPairOf<Cxl68Framer>> pair_;
  std::vector<std::uint64_t> arrived_;
  std::vector<std::vector<FlitPart>> flits_;
  std::vector<WireSize> sizes_;
  std::uint64_t mark_ = 0;
};

// 88 bytes in flits of 64: 64, 24 + 40, 48 + 16, 64, 8.
TEST_F(Cxl68FramerTest, CXL_5_1_TlpsAreCutByTheEndOfAFlit) {
  start();
  write(3);
  expect_all_arrived();
  ASSERT_EQ(flits_.size(), 5U);
  ASSERT_EQ(flits_[0].size(), 1U);
  EXPECT_TRUE(flits_[0][0].begins);
  EXPECT_FALSE(flits_[0][0].ends);
  ASSERT_EQ(flits_[1].size(), 2U);
  EXPECT_TRUE(flits_[1][0].ends);
  EXPECT_FALSE(flits_[1][0].begins);
  EXPECT_EQ(flits_[1][1].sequence, 1U);
  ASSERT_EQ(flits_[3].size(), 1U);
  EXPECT_FALSE(flits_[3][0].begins || flits_[3][0].ends);
  ASSERT_EQ(flits_[4].size(), 1U);
  EXPECT_TRUE(flits_[4][0].ends);
  EXPECT_EQ(bits(&WireSize::payload), 3U * 64 * 8);
  EXPECT_EQ(bits(&WireSize::header), 3U * 16 * 8);
  EXPECT_EQ(bits(&WireSize::crc), 3U * 32);
  EXPECT_EQ(bits(&WireSize::framing), 3U * 32 + flits_.size() * 32) << "four bytes a flit";
}

TEST_F(Cxl68FramerTest, CXL_5_1_ALongTlpTakesManyFlits) {
  start();
  write(1, 1024);
  expect_all_arrived();
  EXPECT_EQ(bits(&WireSize::payload), 4096U * 8);
}

// The damaged flit has the end of one TLP and the beginning of the next.
TEST_F(Cxl68FramerTest, CXL_5_4_ADamagedFlitDamagesBothTlpsInIt) {
  start();
  pair_->fate = [seen = 0](int side, const WireUnit& unit) mutable {
    return side == 0 && unit.has_payload() && ++seen == 2 ? Fate::kDamaged : Fate::kGood;
  };
  write(4);
  expect_all_arrived();
  EXPECT_GE(pair_->framer(1).stats().damaged_tlps, 2U);
  EXPECT_EQ(pair_->framer(1).stats().naks, 1U);
  EXPECT_EQ(bits(&WireSize::payload), 4U * 64 * 8) << "replays are no payload";
  EXPECT_GE(bits(&WireSize::replay), 2U * 88 * 8);
}

TEST_F(Cxl68FramerTest, CXL_5_4_NothingIsLostWhateverIsDamaged) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    start();
    arrived_.clear();
    mark_ = 0;
    Random random(seed);
    pair_->fate = [&](int, const WireUnit&) {
      return random.below(12) == 0 ? Fate::kDamaged : Fate::kGood;
    };
    for (int round = 0; round < 40; ++round) {
      write(static_cast<int>(1 + random.below(20)), static_cast<unsigned>(1 + random.below(64)));
      pair_->run_until(pair_->now() + Time::from_us(2));
    }
    expect_all_arrived();
    EXPECT_GT(pair_->framer(0).stats().replays, 0U);
  }
}

TEST_F(Cxl68FramerTest, CXL_5_1_AStagedDllpGoesInItsTurn) {
  start();
  PacketRef dllp = pair_->pool().make(PacketKind::kDllp);
  dllp->dllp.type = DllpType::kNop;
  write(1);
  ASSERT_TRUE(pair_->framer(0).stage(dllp));
  EXPECT_FALSE(pair_->framer(0).is_quiet());
  expect_all_arrived();
  ASSERT_FALSE(flits_.empty());
  EXPECT_EQ(flits_[0][0].packet, dllp);
  EXPECT_TRUE(flits_[0][0].ends);
}

TEST_F(Cxl68FramerTest, LNK_10_7_ResetForgetsWhatWasCut) {
  start();
  write(1, 64);
  WireUnit unit;
  ASSERT_TRUE(pair_->framer(0).next(pair_->now(), unit));
  EXPECT_FALSE(pair_->framer(0).waiting().empty());
  pair_->framer(0).reset(pair_->now());
  EXPECT_TRUE(pair_->framer(0).waiting().empty());
  EXPECT_FALSE(pair_->framer(0).is_active());
}

}  // namespace
}  // namespace flitwise::cxl68_framer_test
