// SPDX-License-Identifier: Apache-2.0
// CXL in 256-byte flits at both ends together: CXL.io and CXL.cache/mem share numbers, Acks and
// replay, and nothing is lost or comes twice, whatever the wire does.
#include "link/cxl_framers.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "common/random.h"
#include "unit/link/framer_pair.h"

namespace flitwise::cxl256_framer_test {
namespace {

using test::Fate;

class Cxl256FramerTest : public testing::Test {
 protected:
  using Pair = test::FramerPairOf<Cxl256Framer>;
  struct SentFlit {
    int side;
    Flit flit;
    WireSize size;
    unsigned sequence;
    bool is_replay, has_ack, has_dllp;
    Placement at;
    bool is_of_messages() const { return flit.is_cachemem && size.header + size.padding > 0; }
  };

  void start(LinkConfig link) {
    link.preset = {"cxl256_gen6", 6, link.preset.lanes, CxlFlits::k256};
    link.skp = SkpMode::kOff;
    link_ = link;
    flits_.clear();  // they hold packets of the former pool
    sent_.clear();
    arrived_.clear();
    writes_ = 0;
    tlps_.clear();
    pair_ = std::make_unique<Pair>(link);
    pair_->delivered = [this](int side, const PacketRef& packet) {
      if (packet->kind == PacketKind::kCxl) {
        arrived_[packet->cxl->channel].push_back({packet->cxl->id, pair_->now()});
      } else {
        tlps_.push_back(packet->tlp.address);
      }
      pair_->framer(side).freed(*packet, pair_->now());
    };
    pair_->sent = [this](int side, const WireUnit& unit, Placement at) {
      EXPECT_EQ(unit.size.total(), 256U * 8);
      EXPECT_EQ(unit.size.fec, 48U);
      const Flit& flit = *unit.packet->flit;
      flits_.push_back({side, flit, unit.size, unit.sequence, unit.is_replay, unit.ack != nullptr,
                        unit.dllp != nullptr, at});
    };
    pair_->run_until(Time::from_us(1));
    flits_.clear();
  }
  void start(bool is_latency_optimised = false) {
    LinkConfig link;
    link.cxl.latency_optimised = is_latency_optimised;
    start(link);
  }
  /// side 0 sends upstream, side 1 downstream.
  void send(CxlChannel channel, int count, std::uint64_t enables = ~std::uint64_t{0}) {
    const int side = info_of(channel).direction == CxlDirection::kUpstream ? 0 : 1;
    for (int i = 0; i < count && pair_->messages(side).has_room(channel); ++i) {
      PacketRef packet = pair_->pool().make(PacketKind::kCxl);
      packet->cxl->channel = channel;
      packet->cxl->id = static_cast<std::uint16_t>(sent_[channel]++);
      packet->cxl->byte_enables = enables;
      packet->payload_bytes =
          packet->cxl->has_data() ? static_cast<unsigned>(__builtin_popcountll(enables)) : 0;
      pair_->messages(side).push(packet, Time{});
    }
  }
  /// Upstream, by CXL.io.
  void write(int count, unsigned dw = 16) {
    for (int i = 0; i < count && pair_->queues(0).has_room(FcClass::kPosted); ++i) {
      PacketRef made = test::packet(pair_->pool(), TlpType::kMWr, dw, writes_++);
      made->tlp.first_be = 0xf;
      made->tlp.last_be = 0xf;
      made->size = flit_mode_size_of(made->tlp, made->payload_bytes);
      pair_->queues(0).push(made);
    }
  }
  /// The n-th flit with messages, data or credits that `side` sends meets this fate.
  void spoil(int side, int nth, Fate fate) {
    pair_->fate = [=, seen = 0](int from, const WireUnit& unit) mutable {
      const bool is_one = from == side && unit.packet->flit->is_cachemem;
      return is_one && ++seen == nth ? fate : Fate::kGood;
    };
  }
  void expect_all_arrived() {
    ASSERT_TRUE(pair_->run_until_quiet());
    for (const auto& [channel, count] : sent_) {
      const auto& arrived = arrived_[channel];
      ASSERT_EQ(arrived.size(), count) << info_of(channel).name;
      for (std::size_t i = 0; i < arrived.size(); ++i) {
        ASSERT_EQ(arrived[i].id, i) << info_of(channel).name;
      }
    }
    ASSERT_EQ(tlps_.size(), writes_);
    for (std::size_t i = 0; i < tlps_.size(); ++i) {
      ASSERT_EQ(tlps_[i], i);
    }
    for (const int side : {0, 1}) {
      EXPECT_TRUE(pair_->framer(side).is_conserved());
      EXPECT_EQ(pair_->framer(side).stats().credit_overruns, 0U);
      EXPECT_EQ(pair_->framer(side).stats().dl_protocol_errors, 0U);
      EXPECT_EQ(pair_->messages(side).gate().left(), advertised_credits(link_.cxl));
    }
  }

  struct Arrival {
    unsigned id;
    Time at;
  };
  LinkConfig link_;
  std::unique_ptr<Pair> pair_;
  std::vector<SentFlit> flits_;
  std::map<CxlChannel, std::size_t> sent_;
  std::map<CxlChannel, std::vector<Arrival>> arrived_;
  std::vector<std::uint64_t> tlps_;
  std::uint64_t writes_ = 0;
};

TEST_F(Cxl256FramerTest, CXL_6_4_CreditsComeBeforeAnythingElse) {
  start();
  for (const int side : {0, 1}) {
    EXPECT_EQ(pair_->messages(side).gate().left(), advertised_credits(CxlLinkConfig()));
  }
  EXPECT_TRUE(pair_->is_quiet());
  pair_->run_until(pair_->now() + Time::from_us(5));
  EXPECT_TRUE(flits_.empty()) << "nothing more to say";
}

TEST_F(Cxl256FramerTest, CXL_6_4_CreditsGoAloneWhereNothingElseGoes) {
  start();
  send(CxlChannel::kM2sReq, 1);
  expect_all_arrived();
  unsigned alone = 0;
  for (const SentFlit& one : flits_) {
    alone += one.flit.is_cachemem && !one.is_of_messages() ? 1 : 0;
    if (one.side == 0 && one.flit.is_cachemem) {
      EXPECT_EQ(one.flit.cxl.credits[0].count, 1);
      EXPECT_TRUE(one.flit.cxl.credits[0].is_mem);
      EXPECT_GE(one.at.first, arrived_[CxlChannel::kM2sReq][0].at + link_.cxl.timing.ack_after);
    }
  }
  EXPECT_EQ(alone, 1U);
}

TEST_F(Cxl256FramerTest, CXL_6_1_EveryChannelArrivesInOrderInBothForms) {
  for (const bool is_latency_optimised : {false, true}) {
    start(is_latency_optimised);
    for (std::size_t c = 0; c < kCxlChannels; ++c) {
      send(static_cast<CxlChannel>(c), 60);
    }
    expect_all_arrived();
  }
}

// Rows 57 and 59: three lines of writes in a flit, 2.8 in the latency-optimised form.
TEST_F(Cxl256FramerTest, CXL_4_7_WritesTakeAsManyFlitsAsWorkedOut) {
  for (const auto& [is_latency_optimised, lines] : {std::pair{false, 3.0}, std::pair{true, 2.8}}) {
    start(is_latency_optimised);
    send(CxlChannel::kM2sRwd, 210);
    expect_all_arrived();
    double flits = 0;
    std::uint64_t payload = 0, crc = 0;
    for (const SentFlit& one : flits_) {
      flits += one.side == 1 && one.is_of_messages() ? 1 : 0;
      payload += one.size.payload;
      crc = one.flit.is_cachemem ? one.size.crc : crc;
    }
    EXPECT_EQ(payload, 210U * 512);
    EXPECT_NEAR(flits, 210 / lines, 2);
    EXPECT_EQ(crc, is_latency_optimised ? 96U : 64U);
  }
}

TEST_F(Cxl256FramerTest, CXL_6_2_BothKindsOfFlitsShareTheirNumbers) {
  start();
  const unsigned first = 19;  // behind the 18 that brought 256 credits of each class, 31 at a time
  write(20);
  send(CxlChannel::kS2mDrs, 40);
  expect_all_arrived();
  unsigned next = first, io = 0, cachemem = 0;
  for (const SentFlit& one : flits_) {
    if (one.side == 0 && one.flit.has_payload) {
      EXPECT_EQ(one.sequence, next++);
      ++(one.flit.is_cachemem ? cachemem : io);
    }
  }
  EXPECT_GT(io, 4U);
  EXPECT_GT(cachemem, 9U);
}

TEST_F(Cxl256FramerTest, CXL_6_1_FlitsOfMessagesBearAcksAndNoDllps) {
  start();
  for (int round = 0; round < 50; ++round) {
    send(CxlChannel::kM2sReq, 2);
    send(CxlChannel::kS2mDrs, 2);
    write(1);
    pair_->run_until(pair_->now() + Time::from_ns(7));
  }
  expect_all_arrived();
  unsigned acks = 0, dllps = 0;
  for (const SentFlit& one : flits_) {
    acks += one.flit.is_cachemem && one.has_ack ? 1 : 0;
    dllps += one.has_dllp ? 1 : 0;
    EXPECT_FALSE(one.flit.is_cachemem && one.has_dllp);
  }
  EXPECT_GT(acks, 10U);
  EXPECT_GT(dllps, 0U);
}

// Whichever flit it is: one with messages, the middle of a line, or credits alone.
TEST_F(Cxl256FramerTest, CXL_6_2_ADamagedOrLostFlitComesAgainWithItsCredits) {
  for (const Fate fate : {Fate::kDamaged, Fate::kLost, Fate::kDamagedBehindHalf}) {
    for (const int side : {0, 1}) {
      for (int nth = 1; nth <= 10; ++nth) {
        start(fate == Fate::kDamagedBehindHalf);
        spoil(side, nth, fate);
        send(CxlChannel::kM2sReq, 100);
        send(CxlChannel::kS2mDrs, 30);
        send(CxlChannel::kM2sRwd, 10);
        expect_all_arrived();
        EXPECT_GT(pair_->framer(side).stats().replays, 0U) << nth;
      }
    }
  }
}

// Of those that the link comes up with as well.
TEST_F(Cxl256FramerTest, CXL_6_2_CreditsThatGoAloneAreNotLost) {
  for (const Fate fate : {Fate::kDamaged, Fate::kLost}) {
    start();
    send(CxlChannel::kM2sReq, 1);
    spoil(0, 1, fate);
    expect_all_arrived();
    EXPECT_EQ(pair_->framer(0).stats().replays, 1U);
  }
}

TEST_F(Cxl256FramerTest, CXL_5_5_FlitsTakeTurnsAsTheyAreWeighted) {
  LinkConfig link;
  link.cxl.io_weight = 2;
  link.cxl.cachemem_weight = 3;
  start(link);
  send(CxlChannel::kS2mDrs, 200);
  write(32, 64);
  write(32, 64);
  pair_->run_until(pair_->now() + Time::from_ns(60));
  std::string kinds;
  for (const SentFlit& one : flits_) {
    if (one.side == 0 && one.flit.has_payload) {
      kinds += one.flit.is_cachemem ? 'm' : 'i';
    }
  }
  ASSERT_GT(kinds.size(), 20U);
  EXPECT_NE(kinds.find("iimmmiimmmiimmmii"), std::string::npos) << kinds;
}

TEST_F(Cxl256FramerTest, CXL_6_5_AReplayGoesOnInTheOrderOfItsNumbers) {
  start();
  spoil(0, 3, Fate::kDamaged);
  send(CxlChannel::kS2mDrs, 60);
  write(30, 64);
  expect_all_arrived();
  unsigned next = 0, io = 0, cachemem = 0;
  for (const SentFlit& one : flits_) {
    if (one.side == 0 && one.is_replay) {
      EXPECT_TRUE(next == 0 || one.sequence == next);
      next = one.sequence + 1;
      ++(one.flit.is_cachemem ? cachemem : io);
    }
  }
  EXPECT_GT(io, 1U);
  EXPECT_GT(cachemem, 1U);
}

// A line of five slots stands in the first half; the standard form has it when the flit is there.
TEST_F(Cxl256FramerTest, CXL_6_6_AHalfIsUsedBeforeTheOtherIsThere) {
  for (const unsigned lanes : {16U, 4U, 1U}) {
    Time taken[2];
    for (const bool is_latency_optimised : {false, true}) {
      LinkConfig link;
      link.preset.lanes = lanes;
      link.cxl.latency_optimised = is_latency_optimised;
      start(link);
      pair_->run_until(Time::from_us(4));
      flits_.clear();
      send(CxlChannel::kM2sRwd, 1);
      expect_all_arrived();
      taken[is_latency_optimised ? 1 : 0] =
          arrived_[CxlChannel::kM2sRwd][0].at - flits_.front().at.first;
    }
    EXPECT_EQ(taken[0] - taken[1], Time::from_ns(16 / lanes)) << lanes;
  }
}

// Slots 0 to 6 stand whole in the first half: an RwD, a line, an RwD, and one chunk of its line.
TEST_F(Cxl256FramerTest, CXL_6_6_WhatEndsInTheSecondHalfWaitsForIt) {
  start(true);
  send(CxlChannel::kM2sRwd, 2);
  expect_all_arrived();
  const SentFlit& flit = flits_.front();
  EXPECT_EQ(flit.flit.starts_in_half, 2);
  EXPECT_EQ(flit.flit.ends_in_half, 1);
  const auto& at = arrived_[CxlChannel::kM2sRwd];
  EXPECT_EQ(at[1].at - at[0].at, Time::from_ns(1));
}

TEST_F(Cxl256FramerTest, CXL_6_6_AHalfThatWasTakenIsNotTakenAgain) {
  start(true);
  spoil(1, 1, Fate::kDamagedBehindHalf);
  send(CxlChannel::kM2sRwd, 2);
  expect_all_arrived();
  EXPECT_EQ(pair_->framer(1).stats().replays, 1U);
  const auto& at = arrived_[CxlChannel::kM2sRwd];
  EXPECT_GT(at[1].at - at[0].at, Time::from_ns(20)) << "the rest came with the replay";
}

// Flits behind a damaged one come again; their first halves are not their turn.
TEST_F(Cxl256FramerTest, CXL_6_6_AHalfOutOfTurnIsNotTaken) {
  start(true);
  spoil(1, 2, Fate::kDamaged);
  send(CxlChannel::kM2sRwd, 60);
  expect_all_arrived();
}

TEST_F(Cxl256FramerTest, CXL_6_7_FlitsOfCxlIoKeepTheirForm) {
  start(true);
  send(CxlChannel::kS2mDrs, 6);
  write(6);
  expect_all_arrived();
  for (const SentFlit& one : flits_) {
    EXPECT_EQ(one.size.crc, one.flit.is_cachemem ? 96U : 64U);
    EXPECT_TRUE(one.flit.is_cachemem || one.flit.ends_in_half == 0);
  }
}

TEST_F(Cxl256FramerTest, CXL_6_2_NothingIsLostWhateverIsDamaged) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    LinkConfig link;
    link.cxl.latency_optimised = seed % 2 == 0;
    link.preset.lanes = seed > 4 ? 1 : 16;
    link.cxl.req_credits = seed == 3 ? 4 : 256;
    start(link);
    pair_->run_until(Time::from_us(10));
    Random random(seed);
    pair_->fate = [&](int, const WireUnit&) {
      constexpr Fate kBad[] = {Fate::kDamaged, Fate::kLost, Fate::kDamagedBehindHalf};
      return random.below(20) == 0 ? kBad[random.below(3)] : Fate::kGood;
    };
    for (int round = 0; round < 60; ++round) {
      send(static_cast<CxlChannel>(random.below(kCxlChannels)),
           static_cast<int>(1 + random.below(20)),
           random.below(3) == 0 ? 0xf0f0 : ~std::uint64_t{0});
      write(static_cast<int>(random.below(4)));
      pair_->run_until(pair_->now() + Time::from_ns(random.below(400)));
    }
    pair_->run_until(pair_->now() + Time::from_us(20));
    pair_->fate = [](int, const WireUnit&) { return Fate::kGood; };
    expect_all_arrived();
  }
}

TEST_F(Cxl256FramerTest, CXL_6_4_AfterTheLinkWentDownCreditsComeAnew) {
  start(true);
  send(CxlChannel::kM2sRwd, 30);
  pair_->run_until(pair_->now() + Time::from_ns(40));
  EXPECT_FALSE(pair_->is_quiet());
  Cxl256Framer& framer = pair_->framer(1);
  framer.reset(pair_->now());
  pair_->messages(1).reset();
  WireUnit unit;
  EXPECT_EQ(framer.deadline(), Time::never());
  EXPECT_FALSE(framer.next(pair_->now(), unit)) << "a link that is down is silent";
  framer.start(pair_->now());
  ASSERT_TRUE(framer.next(pair_->now(), unit));
  EXPECT_EQ(unit.sequence, 1);
}

}  // namespace
}  // namespace flitwise::cxl256_framer_test
