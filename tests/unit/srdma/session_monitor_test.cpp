// SPDX-License-Identifier: Apache-2.0
// What packets, echoes, losses and silence tell of sessions.
#include "srdma/session_monitor.h"

#include <gtest/gtest.h>

#include <deque>

#include "common/random.h"

namespace flitwise::session_monitor_test {
namespace {

Time us(std::int64_t n) {
  return Time::from_us(n);
}

struct Monitored {
  explicit Monitored(int sessions, MonitorSetup of = {}) : setup(of) {
    for (int i = 0; i < sessions; ++i) {
      monitor.set_eligible(monitor.open({}, 100e9), true);
    }
  }
  void send(Time now, SessionPacket& packet, SessionIndex session, std::uint32_t bytes = 1000) {
    monitor.assigned(session, bytes);
    monitor.sent(now, packet, session, bytes);
  }
  const SessionStats& at(SessionIndex session) const { return monitor.stats()[session]; }
  bool is_probed(Time now, SessionIndex session, bool has_queue = false) const {
    return monitor.wants_probe(now, session, has_queue);
  }

  MonitorSetup setup;
  SessionMonitor monitor{setup};
};

TEST(SessionMonitor, MO_1_AnEchoGivesTheRoundTripWithoutTheHoldTime) {
  Monitored own(2);
  SessionPacket packet;
  own.send(us(1), packet, 1);
  EXPECT_EQ(own.monitor.in_flight()[1], 1U);
  own.monitor.echo(us(14), 1, 7, &packet, us(3), true);
  EXPECT_EQ(own.at(1).rtt_ewma, us(10));
  EXPECT_EQ(own.at(1).rtt_base, us(10));
  EXPECT_EQ(own.at(1).ce_echoes, 1U);
  EXPECT_EQ(own.at(1).delivered_bytes, 1000U);
  EXPECT_EQ(own.monitor.in_flight()[1], 0U);
  EXPECT_EQ(own.at(0).rtt_samples, 0U);

  own.monitor.delivered(us(15), packet);  // the cumulative PSN says it again
  EXPECT_EQ(own.at(1).delivered_packets, 1U);
  own.monitor.echo(us(16), 1, 7, &packet, {}, false);  // as does an ACK that comes late
  EXPECT_EQ(own.at(1).delivered_packets, 1U);
  EXPECT_EQ(own.at(1).echoes, 2U);
  EXPECT_EQ(own.at(1).rtt_max, us(10)) << "it is of something else, such as a probe";
}

// A packet is acknowledged by those of other sessions, and its own echo is late: a probe has its
// PSN by then.
TEST(SessionMonitor, MO_1_ALateEchoOfThePacketIsNoRoundTripOfAProbe) {
  Monitored own(1);
  SessionPacket packet;
  own.send(us(0), packet, 0);
  own.monitor.delivered(us(9), packet);
  own.monitor.probe_sent(us(100), 0, 7);
  own.monitor.echo(us(101), 0, 7, &packet, {}, false);
  own.monitor.echo(us(112), 0, 7, &packet, {}, false);
  EXPECT_EQ(own.at(0).rtt_samples, 0U);
  own.monitor.probe_sent(us(200), 0, 7);
  own.monitor.echo(us(212), 0, 7, &packet, {}, false);
  EXPECT_EQ(own.at(0).rtt_samples, 1U);
  EXPECT_EQ(own.at(0).rtt_base, us(12));
}

TEST(SessionMonitor, MO_1_ThePacketIsKnownBehindTheWindowToo) {
  Monitored own(1);
  SessionPacket packet;
  own.send(us(0), packet, 0);
  own.monitor.delivered(us(9), packet);
  own.monitor.echo(us(12), 0, 7, &packet, us(1), false);
  EXPECT_EQ(own.at(0).rtt_ewma, us(11));
  EXPECT_EQ(own.at(0).delivered_packets, 1U);
  own.monitor.echo(us(13), 0, 7, nullptr, us(1), true);
  EXPECT_EQ(own.at(0).rtt_samples, 1U);
  EXPECT_EQ(own.at(0).ce_echoes, 1U);
}

// WT-C8
TEST(SessionMonitor, MO_1_APacketThatWasSentTwiceGivesNoRoundTrip) {
  Monitored own(1);
  SessionPacket packet;
  own.send(us(0), packet, 0);
  own.monitor.lost(us(20), packet);
  own.send(us(20), packet, 0);
  own.monitor.echo(us(30), 0, 7, &packet, {}, false);
  EXPECT_EQ(own.at(0).rtt_samples, 0U);
  EXPECT_EQ(own.at(0).echoes, 1U);
}

TEST(SessionMonitor, MO_1_AHoldTimeThatIsALieGivesNoRoundTrip) {
  Monitored own(1);
  SessionPacket packet;
  own.send(us(0), packet, 0);
  own.monitor.echo(us(5), 0, 7, &packet, us(5), false);
  EXPECT_EQ(own.at(0).rtt_samples, 0U);
  EXPECT_EQ(own.at(0).delivered_packets, 1U);
}

TEST(SessionMonitor, MO_2_LossToTheOneAndDeliveryToTheOther) {
  Monitored own(2);
  SessionPacket packet;
  own.send(us(0), packet, 0);
  EXPECT_TRUE(own.monitor.lost(us(20), packet));
  EXPECT_FALSE(own.monitor.lost(us(20), packet));
  own.send(us(20), packet, 1);
  own.monitor.delivered(us(30), packet);
  EXPECT_EQ(own.at(0).losses, 1U);
  EXPECT_EQ(own.at(0).delivered_packets, 0U);
  EXPECT_EQ(own.at(1).delivered_packets, 1U);
  EXPECT_EQ(own.monitor.in_flight(), (std::vector<std::uint32_t>{0, 0}));

  // An echo takes that back, and a second one changes nothing more.
  for (int i = 0; i < 2; ++i) {
    own.monitor.echo(us(31), 0, 7, &packet, {}, false);
    EXPECT_EQ(own.at(0).losses, 0U);
    EXPECT_EQ(own.at(0).delivered_bytes, 1000U);
    EXPECT_EQ(own.at(1).delivered_bytes, 0U);
    EXPECT_EQ(own.at(0).rtt_samples, 0U);
  }
}

TEST(SessionMonitor, MO_2_AnEchoBeforeTheSecondTryArrives) {
  Monitored own(2);
  SessionPacket packet;
  own.send(us(0), packet, 0);
  own.send(us(20), packet, 1);  // go-back-N declares nothing lost
  EXPECT_EQ(own.at(0).losses, 1U);
  EXPECT_EQ(own.at(0).loss_run, 0U);
  own.monitor.echo(us(21), 0, 7, &packet, {}, false);
  EXPECT_EQ(own.at(0).losses, 0U);
  EXPECT_EQ(own.monitor.in_flight()[1], 1U);
  own.monitor.delivered(us(30), packet);
  EXPECT_EQ(own.at(0).delivered_packets, 1U);
  EXPECT_EQ(own.at(1).delivered_packets, 0U);
  EXPECT_EQ(own.monitor.in_flight()[1], 0U);
}

TEST(SessionMonitor, MO_2_WhatWasDeclaredLostAndArrivesIsNoLoss) {
  Monitored own(1);
  SessionPacket packet;
  own.send(us(0), packet, 0);
  own.monitor.lost(us(20), packet);
  own.monitor.delivered(us(21), packet);
  EXPECT_EQ(own.at(0).losses, 0U);
  EXPECT_EQ(own.at(0).delivered_packets, 1U);
}

TEST(SessionMonitor, MO_3_SilentSessionsAreProbedWhileTheGroupHasTraffic) {
  Monitored own(2);
  SessionPacket packet;
  EXPECT_FALSE(own.is_probed(us(100), 1));
  EXPECT_TRUE(own.is_probed(us(100), 1, true));  // packets wait
  own.send(us(50), packet, 0);
  EXPECT_FALSE(own.is_probed(us(99), 1));
  EXPECT_TRUE(own.is_probed(us(100), 1));
  EXPECT_FALSE(own.is_probed(us(100), 0));  // something of it is unacknowledged
  EXPECT_FALSE(own.is_probed(us(151), 1));  // nothing was sent for stale_time
  own.monitor.assigned(1, 10);
  EXPECT_FALSE(own.is_probed(us(100), 1));  // a packet will go there
}

TEST(SessionMonitor, MO_3_AProbeCountsAsSentOnce) {
  Monitored own(1);
  SessionPacket old;  // of the PSN that the probe takes
  own.send(us(0), old, 0);
  own.monitor.echo(us(10), 0, 7, &old, {}, false);
  own.monitor.probe_sent(us(300), 0, 7);
  EXPECT_FALSE(own.is_probed(us(450), 0, true));
  own.monitor.echo(us(312), 0, 7, &old, us(1), false);
  EXPECT_EQ(own.at(0).rtt_max, us(11));
  EXPECT_EQ(own.at(0).interval.probe_answers, 1U);
  EXPECT_FALSE(own.is_probed(us(411), 0, true));
  EXPECT_TRUE(own.is_probed(us(412), 0, true));
}

TEST(SessionMonitor, MO_3_WithoutProgressForRtoASessionHasTimedOut) {
  Monitored own(2);
  SessionPacket first, second;
  own.send(us(0), first, 0);
  own.send(us(100), second, 1);
  EXPECT_FALSE(own.monitor.check(us(524)));
  EXPECT_TRUE(own.monitor.check(us(525)));
  EXPECT_FALSE(own.monitor.check(us(526)));  // known
  EXPECT_TRUE(own.at(0).is_timed_out);
  EXPECT_FALSE(own.at(1).is_timed_out);
  EXPECT_TRUE(own.monitor.echo(us(530), 0, 7, &first, {}, false));
  EXPECT_FALSE(own.at(0).is_timed_out);
}

TEST(SessionMonitor, MO_3_AProbeWithoutAnswerForRtoIsATimeOut) {
  Monitored own(1);
  own.monitor.probe_sent(us(10), 0, 7);
  EXPECT_FALSE(own.monitor.check(us(534)));
  EXPECT_TRUE(own.monitor.check(us(535)));
  EXPECT_TRUE(own.at(0).is_timed_out);
  EXPECT_TRUE(own.is_probed(us(535), 0, true));  // the next one
}

TEST(SessionMonitor, MO_3_LossesWithNoEchoBetweenThemAreATimeOut) {
  Monitored own(1);
  SessionPacket packets[9];
  for (int i = 0; i < 9; ++i) {
    own.send(us(i), packets[i], 0);
  }
  for (int i = 0; i < 3; ++i) {
    own.monitor.lost(us(20), packets[i]);
  }
  own.monitor.echo(us(20), 0, 3, &packets[3], {}, false);
  for (int i = 4; i < 7; ++i) {
    own.monitor.lost(us(20), packets[i]);
    EXPECT_FALSE(own.at(0).is_timed_out);
  }
  own.monitor.lost(us(20), packets[7]);
  EXPECT_TRUE(own.at(0).is_timed_out);
}

TEST(SessionMonitor, MO_3_WithoutEchoesTheCumulativePsnEndsATimeOut) {
  MonitorSetup setup;
  setup.has_echo = false;
  Monitored own(1, setup);
  SessionPacket packet;
  own.send(us(0), packet, 0);
  own.monitor.timed_out(0);
  EXPECT_FALSE(own.is_probed(us(110), 0, true));  // no samples to wait for
  EXPECT_TRUE(own.monitor.delivered(us(600), packet));
  EXPECT_FALSE(own.at(0).is_timed_out);

  Monitored with_echo(1);
  with_echo.send(us(0), packet = {}, 0);
  with_echo.monitor.timed_out(0);
  EXPECT_FALSE(with_echo.monitor.delivered(us(600), packet));
  EXPECT_TRUE(with_echo.at(0).is_timed_out);
}

TEST(SessionMonitor, MO_4_ThreeProbesWithoutAnswerAndTheSessionIsNotAlive) {
  Monitored own(1);
  EXPECT_FALSE(own.is_probed(us(999), 0));
  Time now = us(1'000);
  for (int misses = 1; misses <= 3; ++misses) {
    EXPECT_TRUE(own.is_probed(now, 0));
    own.monitor.probe_sent(now, 0, 7);
    own.monitor.check(now + us(600));
    EXPECT_EQ(own.at(0).is_alive, misses < 3);
    EXPECT_FALSE(own.is_probed(now + us(999), 0));
    now += us(1'000);
  }
  EXPECT_TRUE(own.is_probed(now, 0));
  EXPECT_TRUE(own.monitor.received(now, 0, 64));
  EXPECT_TRUE(own.at(0).is_alive);
  EXPECT_TRUE(own.at(0).is_timed_out);  // nothing says that its own packets arrive
  EXPECT_FALSE(own.is_probed(now + us(999), 0));
}

TEST(SessionMonitor, WT_C7_TheLeastRoundTripIsThatOfTheWindow) {
  Monitored own(1);
  const auto sample = [&](Time now, Time rtt) {
    SessionPacket packet;
    own.send(now - rtt, packet, 0);
    own.monitor.echo(now, 0, 7, &packet, {}, false);
  };
  Time now = us(100);
  for (; now < us(1'000); now += us(100)) {
    sample(now, us(10));
  }
  for (; now < us(5'000); now += us(100)) {
    sample(now, us(30));
  }
  EXPECT_EQ(own.at(0).rtt_base, us(10));
  EXPECT_GT(own.at(0).queueing_delay(), us(19));
  for (; now < us(6'100); now += us(100)) {
    sample(now, us(30));
  }
  EXPECT_EQ(own.at(0).rtt_base, us(30));
  EXPECT_EQ(own.at(0).queueing_delay(), us(0));
  EXPECT_EQ(own.at(0).rtt_min, us(10));
  sample(us(50'000), us(40));  // long after
  EXPECT_EQ(own.at(0).rtt_base, us(40));
}

TEST(SessionMonitor, BusyTimeIsThatWithSomethingInFlight) {
  Monitored own(1);
  SessionPacket first, second;
  own.send(us(1), first, 0);
  own.send(us(2), second, 0);
  own.monitor.echo(us(4), 0, 0, &first, {}, false);
  own.monitor.end_interval(us(5));
  EXPECT_EQ(own.at(0).interval.busy, us(4));
  own.monitor.begin_interval();
  own.monitor.echo(us(8), 0, 1, &second, {}, false);
  own.monitor.end_interval(us(15));
  EXPECT_EQ(own.at(0).interval.busy, us(3));
}

TEST(SessionMonitor, OfferedIsWhatWaitsAndWhatIsAssigned) {
  Monitored own(1);
  own.monitor.assigned(0, 700);
  own.monitor.assigned(0, 300);
  SessionPacket packet;
  own.monitor.sent(us(1), packet, 0, 300);
  EXPECT_EQ(own.at(0).interval.offered_bytes, 1000);
  EXPECT_EQ(own.at(0).local_queue, 700U);
  own.monitor.begin_interval();
  EXPECT_EQ(own.at(0).interval.offered_bytes, 700);
}

TEST(SessionMonitor, AnIndexIsFreeOnceNothingOfItIsInFlight) {
  Monitored own(2);
  SessionPacket packet;
  own.send(us(0), packet, 0);
  own.monitor.close(0);
  EXPECT_EQ(own.monitor.open(us(1), 1), 2);
  own.monitor.delivered(us(2), packet);
  EXPECT_EQ(own.monitor.open(us(3), 1), 0);
  EXPECT_EQ(own.at(0).delivered_packets, 0U);
}

// Packets that go, are lost, resent, echoed and acknowledged in any order.
TEST(SessionMonitor, MO_2_EachPacketIsCreditedOnceInTheEnd) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Monitored own(4);
    std::deque<SessionPacket> packets(40);
    Time now{};
    for (int step = 0; step < 2'000; ++step) {
      now += us(1);
      SessionPacket& packet = packets[random.below(packets.size())];
      const auto session = static_cast<SessionIndex>(random.below(4));
      switch (random.below(5)) {
        case 0:
          if (packet.credited_to == kNoSessionIndex) {
            own.send(now, packet, session);
          }
          break;
        case 1: own.monitor.lost(now, packet); break;
        case 2: own.monitor.echo(now, session, 0, &packet, {}, random.chance(0.5)); break;
        case 3: own.monitor.check(now); break;
        default: break;
      }
    }
    std::uint64_t sent = 0;
    for (SessionPacket& packet : packets) {
      sent += packet.session != kNoSessionIndex ? 1 : 0;
      own.monitor.delivered(now, packet);
    }
    std::uint64_t delivered = 0, bytes = 0;
    for (const SessionStats& stats : own.monitor.stats()) {
      delivered += stats.delivered_packets;
      bytes += stats.delivered_bytes;
      EXPECT_LE(stats.losses, stats.sent_packets);
      EXPECT_EQ(stats.local_queue, 0U);
    }
    EXPECT_EQ(delivered, sent);
    EXPECT_EQ(bytes, sent * 1000);
    EXPECT_EQ(own.monitor.in_flight(), (std::vector<std::uint32_t>{0, 0, 0, 0}));
  }
}

}  // namespace
}  // namespace flitwise::session_monitor_test
