// SPDX-License-Identifier: Apache-2.0
// The data link layer at both ends together: single faults at set places, and thousands of TLPs
// over a channel that damages and loses at random.
#include "link/data_link_framer.h"

#include <gtest/gtest.h>

#include <vector>

#include "common/random.h"
#include "link/replay_timer.h"
#include "unit/link/framer_pair.h"

namespace flitwise::non_flit_framer_test {
namespace {

using test::Fate;
using test::FramerPair;

/// Writes from side 0 to side 1; notes what arrives and what is sent.
class NonFlitFramerTest : public testing::Test {
 protected:
  void start(const LinkConfig& link) {
    pair_ = std::make_unique<FramerPair>(link);
    pair_->delivered = [this](int side, const PacketRef& packet) {
      arrived_.push_back(packet->tlp.address);
      pair_->framer(side).freed(*packet, pair_->now());
    };
    pair_->sent = [this](int side, const WireUnit& unit, Placement at) {
      if (unit.packet->kind == PacketKind::kTlp) {
        tlps_.push_back({unit.sequence, unit.is_replay, at});
      } else if (unit.packet->dllp.type == DllpType::kAck) {
        acks_.push_back({unit.packet->dllp.sequence, side == 1, at});
      } else if (unit.packet->dllp.type == DllpType::kNak) {
        naks_.push_back({unit.packet->dllp.sequence, side == 1, at});
      }
    };
    pair_->run_until(Time::from_us(1));
    ASSERT_TRUE(pair_->framer(0).is_active());
    ASSERT_TRUE(pair_->framer(1).is_active());
  }
  void write(int count) {
    for (int i = 0; i < count; ++i) {
      pair_->queues(0).push(test::packet(pair_->pool(), TlpType::kMWr, 16, mark_++));
    }
  }
  /// The n-th TLP (from 1) and the n-th Ack or Nak, in either direction, meet this fate.
  void spoil(int tlp, int ack_or_nak, Fate fate) {
    pair_->fate = [=, tlps = 0, acks = 0](int, const WireUnit& unit) mutable {
      if (unit.packet->kind == PacketKind::kTlp) {
        return ++tlps == tlp ? fate : Fate::kGood;
      }
      const DllpType type = unit.packet->dllp.type;
      if (type == DllpType::kAck || type == DllpType::kNak) {
        return ++acks == ack_or_nak ? fate : Fate::kGood;
      }
      return Fate::kGood;
    };
  }
  void expect_all_arrived() {
    ASSERT_TRUE(pair_->run_until_quiet());
    ASSERT_EQ(arrived_.size(), mark_);
    for (std::uint64_t i = 0; i < mark_; ++i) {
      ASSERT_EQ(arrived_[i], i);
    }
  }

  struct Sent {
    std::uint16_t sequence;
    bool flag;
    Placement at;
  };
  std::unique_ptr<FramerPair> pair_;
  std::vector<std::uint64_t> arrived_;
  std::vector<Sent> tlps_, acks_, naks_;
  std::uint64_t mark_ = 0;
};

// [LNK-8.6] [LNK-10.1]
TEST_F(NonFlitFramerTest, LNK_8_10_BothEndsBecomeActiveByDllpsAlone) {
  start(test::link_config());
  EXPECT_EQ(pair_->queues(0).gates(FcClass::kPosted).header.available(), 256U);
  EXPECT_TRUE(pair_->queues(0).gates(FcClass::kCompletion).header.is_infinite());
}

// Every choice of what gets lost among the first DLLPs of either end.
TEST_F(NonFlitFramerTest, LNK_8_9_InitialisationSurvivesLostDllps) {
  for (const std::uint32_t limit : {256U, kInfiniteCredits}) {
    for (unsigned lost = 0; lost < 1U << 12; lost += 7) {
      LinkConfig link = test::link_config();
      link.credits.posted_headers = link.credits.posted_data = limit;
      link.credits.nonposted_headers = link.credits.nonposted_data = limit;
      FramerPair pair(link);
      std::array<unsigned, 2> count{};
      pair.fate = [&](int side, const WireUnit&) {
        const unsigned n = count[static_cast<std::size_t>(side)]++;
        return n < 6 && (lost >> (n + (side == 0 ? 0U : 6U)) & 1U) != 0 ? Fate::kLost : Fate::kGood;
      };
      pair.run_until(Time::from_us(200));
      ASSERT_TRUE(pair.framer(0).is_active()) << lost;
      ASSERT_TRUE(pair.framer(1).is_active()) << lost;
      ASSERT_EQ(pair.queues(0).gates(FcClass::kPosted).header.is_infinite(), limit == 0);
      ASSERT_EQ(pair.queues(1).gates(FcClass::kNonPosted).data.is_infinite(), limit == 0);
    }
  }
}

TEST_F(NonFlitFramerTest, LNK_7_10_DamagedTlpIsSentAgainByANak) {
  start(test::link_config());
  spoil(2, 0, Fate::kDamaged);
  write(4);
  expect_all_arrived();
  EXPECT_EQ(naks_.size(), 1U);
  EXPECT_EQ(naks_[0].sequence, 0);
  EXPECT_EQ(pair_->framer(0).stats().replay_events, 1U);
  EXPECT_EQ(pair_->framer(0).stats().replays, 3U);
  EXPECT_EQ(pair_->framer(1).stats().damaged_tlps, 1U);
  EXPECT_EQ(pair_->framer(1).stats().out_of_sequence, 2U);
}

// Nothing else is to be sent: the Nak alone has to wake the transmitter.
TEST_F(NonFlitFramerTest, LNK_7_10_ReplayAfterANakDoesNotWaitForATimer) {
  start(test::link_config());
  spoil(1, 0, Fate::kDamaged);
  write(1);
  expect_all_arrived();
  ASSERT_EQ(tlps_.size(), 2U);
  const LinkConfig link = test::link_config();
  const Time round_trip = (link.timing.propagation + link.timing.receive) * 2;
  EXPECT_LE(tlps_[1].at.first - tlps_[0].at.last, round_trip + Time::from_ns(10));
}

TEST_F(NonFlitFramerTest, LNK_7_7_TlpThatVanishesIsMissedByTheNext) {
  start(test::link_config());
  spoil(2, 0, Fate::kLost);
  write(4);
  expect_all_arrived();
  EXPECT_EQ(naks_.size(), 1U);
}

TEST_F(NonFlitFramerTest, LNK_7_13_LastTlpThatVanishesIsSentAgainByTheTimer) {
  for (const unsigned generation : {1U, 3U, 5U}) {
    mark_ = 0;
    arrived_.clear();
    tlps_.clear();
    const LinkConfig link = test::link_config(generation, 8);
    start(link);
    spoil(1, 0, Fate::kLost);
    write(1);
    expect_all_arrived();
    ASSERT_EQ(tlps_.size(), 2U);
    EXPECT_TRUE(tlps_[1].flag);
    const Time timeout = replay_limit(link);
    EXPECT_GE(tlps_[1].at.first - tlps_[0].at.last, timeout);
    EXPECT_LE(tlps_[1].at.first - tlps_[0].at.last, timeout + Time::from_ns(60));
    EXPECT_EQ(pair_->framer(0).stats().naks + pair_->framer(1).stats().naks, 0U);
  }
}

TEST_F(NonFlitFramerTest, LNK_7_6_LostAckLeadsToDuplicatesThatAreAcknowledged) {
  start(test::link_config());
  spoil(0, 1, Fate::kDamaged);
  write(3);
  expect_all_arrived();
  EXPECT_EQ(pair_->framer(1).stats().duplicates, 3U);
  EXPECT_EQ(pair_->framer(0).stats().damaged_dllps, 1U);
  EXPECT_EQ(pair_->framer(0).stats().replay_events, 1U);
}

TEST_F(NonFlitFramerTest, LNK_7_4_LostNakIsMadeUpForByTheTimer) {
  start(test::link_config());
  spoil(1, 1, Fate::kLost);
  write(3);
  expect_all_arrived();
  EXPECT_EQ(naks_.size(), 1U);
  EXPECT_EQ(pair_->framer(0).stats().replay_events, 1U);
}

TEST_F(NonFlitFramerTest, LNK_7_14_FourExpiriesWithoutProgressGoThroughRecovery) {
  start(test::link_config());
  int transmissions = 0;
  pair_->fate = [&](int, const WireUnit& unit) {
    return unit.packet->kind == PacketKind::kTlp && ++transmissions <= 4 ? Fate::kLost
                                                                         : Fate::kGood;
  };
  write(1);
  expect_all_arrived();
  EXPECT_EQ(pair_->retrains(), 1U);
  ASSERT_EQ(tlps_.size(), 5U);
  EXPECT_GE(tlps_[4].at.first - tlps_[3].at.last, test::link_config().timing.retrain);
  EXPECT_EQ(pair_->framer(0).stats().retrains, 1U);
  EXPECT_EQ(pair_->framer(0).stats().replay_events, 4U);
}

// The Nak of the first brings the first replay; NAK_SCHEDULED stays set, so that the timer brings
// the others.
TEST_F(NonFlitFramerTest, LNK_7_14_AReplayByNakCountsLikeOneByTheTimer) {
  for (const int damaged : {3, 4}) {
    mark_ = 0;
    arrived_.clear();
    tlps_.clear();
    start(test::link_config());
    int transmissions = 0;
    pair_->fate = [&](int, const WireUnit& unit) {
      return unit.packet->kind == PacketKind::kTlp && ++transmissions <= damaged ? Fate::kDamaged
                                                                                 : Fate::kGood;
    };
    write(1);
    expect_all_arrived();
    EXPECT_EQ(pair_->retrains(), damaged == 4 ? 1U : 0U);
    EXPECT_EQ(pair_->framer(1).stats().naks, 1U);
    EXPECT_EQ(pair_->framer(0).stats().replay_events, static_cast<unsigned>(damaged));
  }
}

TEST_F(NonFlitFramerTest, LNK_7_15_AckWaitsForTheLimitAndNoLonger) {
  for (const unsigned generation : {1U, 3U, 5U}) {
    mark_ = 0;
    arrived_.clear();
    tlps_.clear();
    acks_.clear();
    const LinkConfig link = test::link_config(generation, 8);
    start(link);
    write(3);
    expect_all_arrived();
    ASSERT_EQ(acks_.size(), 1U);
    EXPECT_EQ(acks_[0].sequence, 2);
    const Time received = tlps_[0].at.last + link.timing.propagation + link.timing.receive;
    const Time limit = ack_limit(link);
    EXPECT_GE(acks_[0].at.first, received + limit);
    EXPECT_LE(acks_[0].at.first, received + limit + Time::from_ns(10));
  }
}

TEST_F(NonFlitFramerTest, LNK_7_15_AckAfterEverySecondTlpWhenSetSo) {
  LinkConfig link = test::link_config();
  link.ack_coalesce = 2;
  start(link);
  write(6);
  expect_all_arrived();
  ASSERT_EQ(acks_.size(), 3U);
  EXPECT_EQ(acks_[0].sequence, 1);
  EXPECT_EQ(acks_[2].sequence, 5);
}

TEST_F(NonFlitFramerTest, LNK_8_14_NakAckFcReplayNew) {
  // A TLP that takes 44 ns is on the wire while all the rest comes up.
  LinkConfig link = test::link_config(1, 8);
  link.credits.posted_headers = 1;
  link.credits.posted_data = 16;
  link.ack_coalesce = 1;
  pair_ = std::make_unique<FramerPair>(link);
  std::vector<DllpType> order;
  bool is_tlp_out = false;
  pair_->sent = [&](int side, const WireUnit& unit, Placement) {
    if (side == 1 && unit.packet->kind == PacketKind::kTlp) {
      is_tlp_out = true;
    } else if (side == 1 && is_tlp_out) {
      order.push_back(unit.packet->dllp.type);
    }
  };
  pair_->run_until(Time::from_us(1));
  pair_->queues(0).push(test::packet(pair_->pool(), TlpType::kMWr, 1));
  pair_->queues(1).push(test::packet(pair_->pool(), TlpType::kMWr, 64));
  ASSERT_TRUE(pair_->run_until_quiet());
  ASSERT_GE(order.size(), 2U);
  EXPECT_EQ(order[0], DllpType::kAck);
  EXPECT_EQ(order[1], DllpType::kUpdateFc);
}

TEST_F(NonFlitFramerTest, LNK_7_2_SaturationNeverExceedsTheReplayBuffer) {
  LinkConfig link = test::link_config();
  link.replay_buffer = 1'024;
  start(link);
  pair_->delivered = [this](int side, const PacketRef& packet) {
    arrived_.push_back(packet->tlp.address);
    pair_->framer(side).freed(*packet, pair_->now());
  };
  for (int i = 0; i < 200; ++i) {
    write(16);
    ASSERT_TRUE(pair_->run_until_quiet());
  }
  expect_all_arrived();
  EXPECT_GT(pair_->framer(0).stats().replay_buffer_stall, Time{});
}

struct Storm {
  unsigned generation, lanes;
  std::uint32_t headers, data;
  unsigned coalesce;
  double damaged, lost;
  std::uint64_t seed;
  RelaxedPassing mode = RelaxedPassing::kWhenBlocked;
  bool scaled = true;
};

class FramerStorm : public testing::TestWithParam<Storm> {};

// [LNK-7.4] to [LNK-7.15], [LNK-8.3], [LNK-8.12], [LNK-10.3]
TEST_P(FramerStorm, EveryTlpArrivesOnceAndInOrderAndNoCreditIsLost) {
  const Storm& storm = GetParam();
  LinkConfig link = test::link_config(storm.generation, storm.lanes);
  link.credits.posted_headers = link.credits.nonposted_headers = storm.headers;
  link.credits.posted_data = link.credits.nonposted_data = storm.data;
  link.credits.scaled = storm.scaled;
  link.ack_coalesce = storm.coalesce;
  link.relaxed_passing = storm.mode;
  FramerPair pair(link);
  Random random(storm.seed);
  pair.fate = [&](int, const WireUnit&) {
    const double draw = random.real();
    return draw < storm.damaged                ? Fate::kDamaged
           : draw < storm.damaged + storm.lost ? Fate::kLost
                                               : Fate::kGood;
  };
  std::array<std::vector<std::uint64_t>, 2> sent, arrived;
  std::array<std::deque<PacketRef>, 2> held;  // receive buffers that are not free yet
  pair.sent = [&](int side, const WireUnit& unit, Placement) {
    if (unit.packet->kind == PacketKind::kTlp && !unit.is_replay) {
      sent[static_cast<std::size_t>(side)].push_back(unit.packet->tlp.address);
    }
  };
  pair.delivered = [&](int side, const PacketRef& packet) {
    arrived[static_cast<std::size_t>(side)].push_back(packet->tlp.address);
    held[static_cast<std::size_t>(side)].push_back(packet);
  };
  constexpr TlpType kTypes[] = {TlpType::kMWr, TlpType::kMRd, TlpType::kCplD, TlpType::kFetchAdd};
  constexpr std::uint64_t kTlps = 9'000;  // the numbers wrap twice
  std::array<std::uint64_t, 2> made{};
  const auto is_done = [&] {
    return made[0] == kTlps && made[1] == kTlps && held[0].empty() && held[1].empty() &&
           pair.is_quiet();
  };
  while (!is_done() && pair.now() < Time::from_us(2'000'000)) {
    for (int side = 0; side < 2; ++side) {
      const auto i = static_cast<std::size_t>(side);
      for (std::uint64_t burst = random.below(12); burst > 0 && made[i] < kTlps; --burst) {
        const TlpType type = kTypes[random.below(std::size(kTypes))];
        if (!pair.queues(side).has_room(fc_class(type))) {
          continue;
        }
        const unsigned dw =
            type == TlpType::kFetchAdd ? 2 : 1 + static_cast<unsigned>(random.below(64));
        PacketRef packet = test::packet(pair.pool(), type, dw, made[i]++);
        packet->tlp.relaxed_ordering = random.chance(0.3);
        pair.queues(side).push(std::move(packet));
      }
      for (std::uint64_t freed = random.below(8); freed > 0 && !held[i].empty(); --freed) {
        pair.framer(side).freed(*held[i].front(), pair.now());
        held[i].pop_front();
      }
    }
    pair.run_until(pair.now() + Time::from_ns(static_cast<std::int64_t>(random.below(300))));
  }
  ASSERT_TRUE(is_done()) << made[0] << " " << made[1] << " " << arrived[1].size();
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(sent[i].size(), kTlps);
    EXPECT_EQ(arrived[1 - i], sent[i]);
    const FramerStats& stats = pair.framer(static_cast<int>(i)).stats();
    EXPECT_EQ(stats.credit_overruns, 0U);
    EXPECT_EQ(stats.dl_protocol_errors, 0U);
    EXPECT_TRUE(pair.framer(static_cast<int>(i)).is_conserved());
    EXPECT_EQ(stats.replays > 0, storm.damaged + storm.lost > 0);
  }
  // A period later both ends have heard of every credit.
  pair.fate = [](int, const WireUnit&) { return Fate::kGood; };
  pair.run_until(pair.now() + Time::from_us(40));
  for (int side = 0; side < 2; ++side) {
    for (const FcClass fc : {FcClass::kPosted, FcClass::kNonPosted}) {
      if (storm.headers != kInfiniteCredits) {
        EXPECT_GT(pair.queues(side).gates(fc).header.available() + 32, storm.headers);
        EXPECT_LE(pair.queues(side).gates(fc).header.available(), storm.headers);
        EXPECT_GT(pair.queues(side).gates(fc).data.available() + 32, storm.data);
        EXPECT_LE(pair.queues(side).gates(fc).data.available(), storm.data);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Channels, FramerStorm,
    testing::Values(Storm{5, 16, 256, 4096, 0, 0, 0, 1}, Storm{5, 16, 256, 4096, 0, 0.001, 0.0, 2},
                    Storm{5, 16, 256, 4096, 1, 0.05, 0.05, 3}, Storm{1, 1, 8, 64, 0, 0.02, 0.01, 4},
                    Storm{3, 8, 4, 16, 4, 0.02, 0.02, 5, RelaxedPassing::kEager},
                    Storm{4, 4, 127, 2047, 0, 0.01, 0.1, 6, RelaxedPassing::kNever, false},
                    Storm{2, 2, 600, 9000, 16, 0.1, 0.05, 7}, Storm{5, 1, 0, 0, 0, 0.02, 0.02, 8},
                    Storm{3, 16, 1, 16, 1, 0.05, 0.0, 9},
                    Storm{4, 16, 512, 16000, 0, 0.2, 0.1, 10}));

}  // namespace
}  // namespace flitwise::non_flit_framer_test
