// SPDX-License-Identifier: Apache-2.0
// CXL.cache and CXL.mem in 68-byte flits at both ends together: nothing is lost, whatever the wire
// does, and flits have what the closed forms say.
#include "link/cxl_cachemem.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "common/random.h"
#include "link/cxl_framers.h"
#include "unit/link/framer_pair.h"

namespace flitwise::cxl68_cachemem_test {
namespace {

using test::Fate;

class Cxl68CacheMemTest : public testing::Test {
 protected:
  void start(const CxlLinkConfig& cxl = CxlLinkConfig(), Time propagation = Time::from_ns(5)) {
    LinkConfig link;
    link.timing.propagation = propagation;
    link.preset = {"cxl68_gen5x16", 5, 16, CxlFlits::k68};
    link.skp = SkpMode::kOff;
    link.cxl = cxl;
    pair_ = std::make_unique<test::FramerPairOf<Cxl68Framer>>(link);
    pair_->delivered = [this](int side, const PacketRef& packet) {
      arrived_[packet->cxl->channel].push_back(packet->cxl->id);
      pair_->framer(side).freed(*packet, pair_->now());
    };
    pair_->sent = [this](int side, const WireUnit& unit, Placement) {
      EXPECT_EQ(unit.size.total(), 68U * 8);
      const Flit& flit = *unit.packet->flit;
      if (!flit.is_cachemem) {
        return;
      }
      ++controls_[flit.cxl.control];
      if (unit.has_payload() && !unit.is_replay) {
        ++flits_[side];
        all_data_ += flit.cxl.is_all_data ? 1 : 0;
        payload_bits_[side] += unit.size.payload;
        idle_bits_[side] += unit.size.idle;
      }
    };
    pair_->run_until(Time::from_us(1) + propagation * 4);
    flits_ = {};
    idle_bits_ = payload_bits_ = {};
  }
  /// side 0 sends upstream, side 1 downstream.
  void send(CxlChannel channel, int count, std::uint64_t enables = ~std::uint64_t{0}) {
    const int side = info_of(channel).direction == CxlDirection::kUpstream ? 0 : 1;
    for (int i = 0; i < count; ++i) {
      PacketRef packet = pair_->pool().make(PacketKind::kCxl);
      packet->cxl->channel = channel;
      packet->cxl->id = static_cast<std::uint16_t>(sent_[channel]++);
      packet->cxl->byte_enables = enables;
      packet->payload_bytes =
          packet->cxl->has_data() ? static_cast<unsigned>(__builtin_popcountll(enables)) : 0;
      pair_->messages(side).push(packet, Time{});
    }
  }
  void expect_all_arrived() {
    ASSERT_TRUE(pair_->run_until_quiet());
    for (const auto& [channel, count] : sent_) {
      const std::vector<unsigned>& ids = arrived_[channel];
      ASSERT_EQ(ids.size(), count) << info_of(channel).name;
      for (std::size_t i = 0; i < ids.size(); ++i) {
        ASSERT_EQ(ids[i], i) << info_of(channel).name;
      }
    }
    for (const int side : {0, 1}) {
      EXPECT_TRUE(pair_->framer(side).is_conserved());
      EXPECT_EQ(pair_->framer(side).stats().credit_overruns, 0U);
      EXPECT_EQ(pair_->framer(side).stats().dl_protocol_errors, 0U);
      EXPECT_EQ(pair_->messages(side).gate().left(), advertised_credits(CxlLinkConfig()));
    }
  }

  /// The link goes down and comes up anew; nothing is left that either end knew.
  void restart() {
    for (const int side : {0, 1}) {
      pair_->framer(side).reset(pair_->now());
      pair_->messages(side).reset();
      pair_->framer(side).start(pair_->now());
    }
    controls_.clear();
    EXPECT_TRUE(pair_->run_until_quiet());
    for (const int side : {0, 1}) {
      EXPECT_EQ(pair_->framer(side).stats().dl_protocol_errors, 0U);
    }
  }

  std::unique_ptr<test::FramerPairOf<Cxl68Framer>> pair_;
  std::map<CxlChannel, std::size_t> sent_;
  std::map<CxlChannel, std::vector<unsigned>> arrived_;
  std::map<CxlFlitHeader::Control, unsigned> controls_;
  std::array<std::uint64_t, 2> flits_{}, payload_bits_{}, idle_bits_{};
  unsigned all_data_ = 0;
};

TEST_F(Cxl68CacheMemTest, CXL_3_2_CreditsComeByLlcrdBeforeAnythingElse) {
  start();
  EXPECT_EQ(controls_[CxlFlitHeader::Control::kLlcrd], 2U * 8) << "4 x 64 of each protocol";
  for (const int side : {0, 1}) {
    EXPECT_EQ(pair_->messages(side).gate().left(), advertised_credits(CxlLinkConfig()));
  }
}

TEST_F(Cxl68CacheMemTest, CXL_3_9_ALinkThatIsDownTellsOfNoCredits) {
  start();
  Cxl68Framer& framer = pair_->framer(0);
  WireUnit unit;
  framer.reset(pair_->now());
  EXPECT_EQ(framer.deadline(), Time::never());
  EXPECT_FALSE(framer.next(pair_->now(), unit));
  framer.start(pair_->now());
  EXPECT_TRUE(framer.next(pair_->now(), unit));
}

TEST_F(Cxl68CacheMemTest, CXL_3_1_EveryChannelArrivesInOrder) {
  start();
  for (std::size_t c = 0; c < kCxlChannels; ++c) {
    if (info_of(static_cast<CxlChannel>(c)).bits_68 > 0) {
      send(static_cast<CxlChannel>(c), 50);
    }
  }
  expect_all_arrived();
  EXPECT_GT(all_data_, 0U);
}

// Row 53: two lines of read data in 2.25 flits.
TEST_F(Cxl68CacheMemTest, CXL_2_5_ReadDataTakes2_25FlitsForTwoLines) {
  start();
  send(CxlChannel::kS2mDrs, 200);
  expect_all_arrived();
  EXPECT_NEAR(static_cast<double>(flits_[0]), 200 * 2.25 / 2, 2);
  EXPECT_EQ(payload_bits_[0], 200U * 512);
}

TEST_F(Cxl68CacheMemTest, CXL_2_6_ByteEnablesTakeAChunkOfTheirOwn) {
  start();
  send(CxlChannel::kM2sRwd, 40, 0xffff);
  expect_all_arrived();
  EXPECT_EQ(payload_bits_[1], 40U * 128) << "what is not enabled is no payload";
  EXPECT_NEAR(static_cast<double>(flits_[1]), 40 * 6 / 4.0, 2) << "a header and five chunks";
}

// Requests down carry the acknowledgements of the data that come up.
TEST_F(Cxl68CacheMemTest, CXL_3_3_FlitHeadersAcknowledgeEightFlits) {
  start();
  std::uint64_t acks = 0, odd = 0;
  const auto note = pair_->sent;
  pair_->sent = [&](int side, const WireUnit& unit, Placement at) {
    note(side, unit, at);
    const CxlFlitHeader& header = unit.packet->flit->cxl;
    if (unit.has_payload() && side == 1) {
      acks += header.acks;
      odd += header.acks != 0 && (header.acks != kFlitsPerAk || header.is_all_data) ? 1 : 0;
    }
  };
  for (int round = 0; round < 60; ++round) {
    send(CxlChannel::kM2sReq, 2);
    send(CxlChannel::kS2mDrs, 2);
    pair_->run_until(pair_->now() + Time::from_ns(5));
  }
  expect_all_arrived();
  EXPECT_EQ(odd, 0U);
  EXPECT_GT(acks, 64U);
}

// Eight flits are acknowledged by one bit; the rest by LLCRD, which is not acknowledged itself.
TEST_F(Cxl68CacheMemTest, CXL_3_4_LlcrdTakesAcksWhereNoFlitGoes) {
  start();
  const unsigned before = controls_[CxlFlitHeader::Control::kLlcrd];
  send(CxlChannel::kM2sReq, 1);
  expect_all_arrived();
  EXPECT_EQ(controls_[CxlFlitHeader::Control::kLlcrd], before + 1);
  pair_->run_until(pair_->now() + Time::from_us(5));
  EXPECT_EQ(controls_[CxlFlitHeader::Control::kLlcrd], before + 1);
}

TEST_F(Cxl68CacheMemTest, CXL_3_6_ADamagedFlitIsAskedForAgain) {
  start();
  pair_->fate = [seen = 0](int side, const WireUnit& unit) mutable {
    return side == 0 && unit.has_payload() && ++seen == 5 ? Fate::kDamaged : Fate::kGood;
  };
  send(CxlChannel::kS2mDrs, 60);
  expect_all_arrived();
  EXPECT_EQ(controls_[CxlFlitHeader::Control::kRetryReq], 1U);
  EXPECT_EQ(controls_[CxlFlitHeader::Control::kRetryAck], 1U);
  EXPECT_EQ(controls_[CxlFlitHeader::Control::kRetryFrame], 2 * kRetryFrames);
  EXPECT_EQ(pair_->framer(0).stats().replay_events, 1U);
  EXPECT_EQ(payload_bits_[0], 60U * 512) << "replays are no payload";
}

TEST_F(Cxl68CacheMemTest, CXL_3_7_ALostQuestionAndALostAnswerAreRepeated) {
  for (const auto control :
       {CxlFlitHeader::Control::kRetryReq, CxlFlitHeader::Control::kRetryAck}) {
    start();
    sent_.clear();
    arrived_.clear();
    pair_->fate = [=, seen = 0, spoilt = 0](int, const WireUnit& unit) mutable {
      const Flit& flit = *unit.packet->flit;
      const bool is_first = unit.has_payload() && ++seen == 3;
      const bool is_control = flit.is_cachemem && flit.cxl.control == control && ++spoilt == 1;
      return is_first || is_control ? Fate::kDamaged : Fate::kGood;
    };
    send(CxlChannel::kM2sRwd, 30);
    expect_all_arrived();
  }
}

// Questions are asked again before an answer can have come: flits come again that were taken.
TEST_F(Cxl68CacheMemTest, CXL_3_6_ImpatienceAndLongWiresBringNothingTwice) {
  CxlLinkConfig hasty;
  hasty.timing.retry_timeout = Time::from_ns(50);
  for (const Time propagation : {Time::from_ns(5), Time::from_ns(500), Time::from_us(2)}) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      start(seed == 3 ? CxlLinkConfig() : hasty, propagation);
      sent_.clear();
      arrived_.clear();
      Random random(seed);
      pair_->fate = [&](int, const WireUnit&) {
        return random.below(200) == 0 ? Fate::kDamaged : Fate::kGood;
      };
      for (int round = 0; round < 30; ++round) {
        send(CxlChannel::kM2sRwd, 10);
        send(CxlChannel::kS2mDrs, 10);
        pair_->run_until(pair_->now() + propagation + Time::from_ns(300));
      }
      pair_->fate = [](int, const WireUnit&) { return Fate::kGood; };
      expect_all_arrived();
    }
  }
}

TEST_F(Cxl68CacheMemTest, CXL_3_4_ADamagedLlcrdLosesNoCredits) {
  start();
  pair_->fate = [seen = 0](int, const WireUnit& unit) mutable {
    const Flit& flit = *unit.packet->flit;
    const bool is_one =
        flit.is_cachemem && flit.cxl.control == CxlFlitHeader::Control::kLlcrd && ++seen <= 3;
    return is_one ? Fate::kDamaged : Fate::kGood;
  };
  send(CxlChannel::kM2sReq, 100);
  expect_all_arrived();
}

TEST_F(Cxl68CacheMemTest, CXL_3_6_NothingIsLostWhateverIsDamaged) {
  constexpr CxlChannel kSome[] = {CxlChannel::kD2hReq,  CxlChannel::kD2hData, CxlChannel::kH2dRsp,
                                  CxlChannel::kH2dData, CxlChannel::kM2sReq,  CxlChannel::kM2sRwd,
                                  CxlChannel::kS2mNdr,  CxlChannel::kS2mDrs};
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    start();
    sent_.clear();
    arrived_.clear();
    Random random(seed);
    pair_->fate = [&](int, const WireUnit&) {
      return random.below(20) == 0 ? Fate::kDamaged : Fate::kGood;
    };
    for (int round = 0; round < 40; ++round) {
      const CxlChannel channel = kSome[random.below(8)];
      send(channel, static_cast<int>(1 + random.below(20)),
           random.below(3) == 0 ? 0xf0f0 : ~std::uint64_t{0});
      pair_->run_until(pair_->now() + Time::from_ns(random.below(400)));
    }
    pair_->run_until(pair_->now() + Time::from_us(20));
    pair_->fate = [](int, const WireUnit&) { return Fate::kGood; };
    ASSERT_TRUE(pair_->run_until_quiet());
    for (const auto& [channel, count] : sent_) {
      ASSERT_EQ(arrived_[channel].size(), count) << info_of(channel).name;
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(arrived_[channel][i], i) << info_of(channel).name;
      }
    }
  }
}

TEST_F(Cxl68CacheMemTest, LNK_10_7_WhatCameBeforeLinkDownIsNotAcknowledgedAfterIt) {
  CxlLinkConfig cxl;
  cxl.timing.ack_after = Time::from_us(5);
  start(cxl);
  ASSERT_TRUE(pair_->run_until_quiet());
  send(CxlChannel::kS2mNdr, 3);
  pair_->run_until(pair_->now() + Time::from_ns(500));
  ASSERT_EQ(arrived_[CxlChannel::kS2mNdr].size(), 3U);
  ASSERT_FALSE(pair_->is_quiet()) << "acknowledgements are owed";
  restart();
}

TEST_F(Cxl68CacheMemTest, LNK_10_7_ARetryThatLinkDownHasCutIsNotAnsweredAfterIt) {
  start();
  send(CxlChannel::kS2mNdr, 3);
  pair_->fate = [](int side, const WireUnit& unit) {
    return side == 0 && unit.has_payload() ? Fate::kDamaged : Fate::kGood;
  };
  controls_.clear();
  while (controls_[CxlFlitHeader::Control::kRetryFrame] <= kRetryFrames) {  // its answer begins
    ASSERT_LT(pair_->now(), Time::from_us(100));
    pair_->run_until(pair_->now() + Time::from_ps(500));
  }
  ASSERT_EQ(controls_[CxlFlitHeader::Control::kRetryAck], 0U);
  restart();
  EXPECT_EQ(controls_[CxlFlitHeader::Control::kRetryAck], 0U);
}

}  // namespace
}  // namespace flitwise::cxl68_cachemem_test
