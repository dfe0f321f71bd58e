// SPDX-License-Identifier: Apache-2.0
// The data link layer of flit mode at both ends together.
#include "link/flit_framer.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/random.h"
#include "unit/link/framer_pair.h"

namespace flitwise::flit_framer_test {
namespace {

using test::Fate;
using test::FlitFramerPair;

/// Writes from side 0 to side 1; notes what arrives and which flits are sent.
class FlitFramerTest : public testing::Test {
 protected:
  struct SentFlit {
    int side;
    unsigned sequence;
    bool is_replay, has_payload, has_ack, has_nak;
    Placement at;
    std::size_t starts;
  };
  void start(const LinkConfig& link) {
    pair_ = std::make_unique<FlitFramerPair>(link);
    pair_->delivered = [this](int side, const PacketRef& packet) {
      arrived_.push_back(packet->tlp.address);
      pair_->framer(side).freed(*packet, pair_->now());
    };
    pair_->sent = [this](int side, const WireUnit& unit, Placement at) {
      ASSERT_TRUE(unit.is_flit());
      EXPECT_EQ(unit.size.total(), 2048U);
      const bool is_nak = unit.ack && unit.ack->dllp.type == DllpType::kNak;
      flits_.push_back({side, unit.sequence, unit.is_replay, unit.has_payload(),
                        unit.ack && !is_nak, is_nak, at, unit.packet->flit->starts.size()});
    };
    pair_->run_until(Time::from_us(1));
    ASSERT_TRUE(pair_->framer(0).is_active());
    ASSERT_TRUE(pair_->framer(1).is_active());
    flits_.clear();
  }
  static LinkConfig gen6(unsigned lanes = 16) {
    LinkConfig link = test::link_config(6, lanes);
    link.skp = SkpMode::kOff;
    return link;
  }
  void write(int count, unsigned dw = 16) {
    for (int i = 0; i < count; ++i) {
      PacketRef made = test::packet(pair_->pool(), TlpType::kMWr, dw, mark_++);
      made->tlp.first_be = 0xf;
      made->tlp.last_be = 0xf;
      made->size = flit_mode_size_of(made->tlp, made->payload_bytes);
      pair_->queues(0).push(made);
    }
  }
  /// The n-th flit with payload from 1 on meets this fate, replays included.
  void spoil(int nth, Fate fate, int count = 1) {
    pair_->fate = [=, seen = 0](int, const WireUnit& unit) mutable {
      const bool is_meant = unit.has_payload() && ++seen >= nth && seen < nth + count;
      return is_meant ? fate : Fate::kGood;
    };
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
  std::vector<SentFlit> payload_flits() const {
    std::vector<SentFlit> all;
    for (const SentFlit& one : flits_) {
      if (one.has_payload) {
        all.push_back(one);
      }
    }
    return all;
  }

  std::unique_ptr<FlitFramerPair> pair_;
  std::vector<std::uint64_t> arrived_;
  std::vector<SentFlit> flits_;
  std::uint64_t mark_ = 0;
};

TEST_F(FlitFramerTest, LNK_11_4_AFlitTakesTwoToThirtyTwoNanoseconds) {
  for (const unsigned lanes : {16U, 8U, 4U, 2U, 1U}) {
    EXPECT_EQ(flit_time(test::preset(6, lanes)), Time::from_ns(32 / lanes)) << lanes;
  }
}

TEST_F(FlitFramerTest, LNK_11_4_FlitsBeginOnMultiplesOfTheirTime) {
  start(gen6(4));
  for (int i = 0; i < 20; ++i) {
    pair_->run_until(pair_->now() + Time::from_ns(37));
    write(1);
  }
  expect_all_arrived();
  for (const SentFlit& one : flits_) {
    EXPECT_EQ(one.at.first.fs % Time::from_ns(8).fs, 0);
    EXPECT_EQ(one.at.last - one.at.first, Time::from_ns(8));
  }
}

TEST_F(FlitFramerTest, LNK_11_6_OnlyFlitsWithPayloadAreNumbered) {
  start(gen6());
  write(30);
  expect_all_arrived();
  unsigned next = 1;
  for (const SentFlit& one : payload_flits()) {
    EXPECT_EQ(one.side, 0);
    EXPECT_EQ(one.sequence, next++);
  }
  EXPECT_EQ(next, 12U);  // 30 TLPs of 80 bytes in flits of 236
  EXPECT_EQ(pair_->framer(1).stats().naks, 0U);
}

TEST_F(FlitFramerTest, LNK_11_6_NumbersRunFrom1To1023AndNever0) {
  start(gen6());
  write(60, 32);
  for (int round = 0; round < 100; ++round) {
    pair_->run_until(pair_->now() + Time::from_us(1));
    write(60, 32);
  }
  expect_all_arrived();
  const std::vector<SentFlit> flits = payload_flits();
  EXPECT_GT(flits.size(), 2048U);
  for (std::size_t i = 0; i < flits.size(); ++i) {
    ASSERT_EQ(flits[i].sequence, i % 1023 + 1) << i;
  }
}

// An Ack goes out eight flit times after the first flit that waits for it.
TEST_F(FlitFramerTest, LNK_11_7_OneAckForSeveralFlits) {
  start(gen6());
  write(30);
  expect_all_arrived();
  EXPECT_GE(pair_->framer(1).stats().acks, 1U);
  EXPECT_LE(pair_->framer(1).stats().acks, 3U);
}

TEST_F(FlitFramerTest, LNK_11_8_ADamagedFlitIsAnsweredWithANakAndReplayed) {
  for (const Fate fate : {Fate::kDamaged, Fate::kLost}) {
    for (int nth = 1; nth <= 11; ++nth) {
      mark_ = 0;
      arrived_.clear();
      flits_.clear();
      start(gen6());
      spoil(nth, fate);
      write(30);
      expect_all_arrived();
      EXPECT_EQ(pair_->framer(0).stats().replay_events, 1U) << nth;
      EXPECT_EQ(pair_->framer(0).stats().retrains, 0U);
      const auto first = std::find_if(flits_.begin(), flits_.end(),
                                      [](const SentFlit& one) { return one.is_replay; });
      ASSERT_NE(first, flits_.end());
      EXPECT_EQ(first->sequence, static_cast<unsigned>(nth));
      EXPECT_FALSE(first->has_ack);
      const bool by_timer = fate == Fate::kLost && nth == 11;  // nothing comes behind it
      EXPECT_EQ(pair_->framer(1).stats().naks, by_timer ? 0U : 1U) << nth;
    }
  }
}

// 1,500 flit times of 2 ns after the flit.
TEST_F(FlitFramerTest, LNK_11_7_TheReplayTimerIs1500FlitTimes) {
  start(gen6());
  spoil(1, Fate::kLost);
  write(1);
  expect_all_arrived();
  const std::vector<SentFlit> flits = payload_flits();
  ASSERT_EQ(flits.size(), 2U);
  EXPECT_TRUE(flits[1].is_replay);
  const Time waited = flits[1].at.first - flits[0].at.last;
  EXPECT_GE(waited, Time::from_ns(3'000));
  EXPECT_LE(waited, Time::from_ns(3'002));
}

// FLIT_REPLAY_NUM has three bits and counts by one at 64 GT/s, by two below.
TEST_F(FlitFramerTest, LNK_11_7_TheEighthReplayWithoutProgressGoesThroughRecovery) {
  for (const unsigned generation : {6U, 5U}) {
    const int limit = generation == 6 ? 8 : 4;
    for (const int lost : {limit - 1, limit}) {
      mark_ = 0;
      arrived_.clear();
      flits_.clear();
      LinkConfig link = test::link_config(generation, 16);
      link.flit_mode = true;
      link.credits.scaled = true;
      start(link);
      spoil(1, Fate::kLost, lost);
      write(1);
      expect_all_arrived();
      EXPECT_EQ(pair_->retrains(), lost == limit ? 1U : 0U) << generation << ", " << lost;
      EXPECT_EQ(pair_->framer(0).stats().retrains, lost == limit ? 1U : 0U);
    }
  }
}

// A damaged NOP flit is not asked for again; what it said comes in another way.
TEST_F(FlitFramerTest, LNK_11_6_ADamagedNopFlitIsNotReplayed) {
  start(gen6());
  pair_->fate = [seen = 0](int side, const WireUnit& unit) mutable {
    return side == 1 && !unit.has_payload() && ++seen == 1 ? Fate::kDamaged : Fate::kGood;
  };
  write(2);
  expect_all_arrived();
  EXPECT_EQ(pair_->framer(0).stats().damaged_dllps, 1U);
  EXPECT_EQ(pair_->framer(0).stats().naks, 0U);
}

TEST_F(FlitFramerTest, LNK_11_7_TheReplayBufferHoldsNewFlitsBack) {
  LinkConfig link = gen6();
  link.replay_buffer = 4 * 256;
  link.timing.propagation = Time::from_ns(100);
  start(link);
  write(60);
  expect_all_arrived();
  EXPECT_GT(pair_->framer(0).stats().replay_buffer_stall, Time::from_ns(100));
  EXPECT_EQ(pair_->framer(0).stats().replays, 0U);
}

// [LNK-11.6] [LNK-11.7]
TEST_F(FlitFramerTest, LNK_11_8_ThousandsOfTlpsOverABadChannelArriveOnceAndInOrder) {
  LinkConfig link = gen6(8);
  link.queue_depth = 4'096;  // nothing keeps the writes back while the replay timer runs
  link.credits.posted_headers = 64;
  link.credits.posted_data = 512;
  start(link);
  Random random(7);
  pair_->fate = [&](int, const WireUnit&) {
    const std::uint64_t drawn = random.below(100);
    return drawn < 5 ? Fate::kDamaged : drawn < 7 ? Fate::kLost : Fate::kGood;
  };
  for (int round = 0; round < 200; ++round) {
    write(static_cast<int>(1 + random.below(30)), static_cast<unsigned>(2 + random.below(120)));
    pair_->run_until(pair_->now() + Time::from_us(2));
  }
  pair_->fate = [](int, const WireUnit&) { return Fate::kGood; };
  expect_all_arrived();
  EXPECT_GT(pair_->framer(0).stats().replays, 100U);
  EXPECT_EQ(pair_->framer(1).stats().credit_overruns, 0U);
}

}  // namespace
}  // namespace flitwise::flit_framer_test
