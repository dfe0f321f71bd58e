// SPDX-License-Identifier: Apache-2.0
// A link between two ports: times, back-pressure, held buffers, set faults, Recovery, accounting.
#include "link/link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "model/link/mock_port.h"
#include "tlp/wire_size.h"

namespace flitwise::link_test {
namespace {

using test::MockPort;

LinkConfig link_config(unsigned generation, unsigned lanes) {
  LinkConfig link;
  link.preset = {"", generation, lanes};
  return link;
}

/// One link with its two ports.
struct Bench {
  Bench(const std::string& name, const LinkConfig& config, const FaultsConfig& faults = {},
        std::uint64_t seed = 1)
      : link((name + "_link").c_str(), config, MessageConfig{}, faults, Random(seed), pool,
             {config.credits, config.credits}),
        host((name + "_host").c_str()),
        device((name + "_device").c_str()) {
    MockPort::join(link, host, device);
  }
  PacketRef write(std::uint64_t mark, unsigned dw = 16) {
    PacketRef packet = pool.make(PacketKind::kTlp);
    packet->tlp.type = TlpType::kMWr;
    packet->tlp.is_4dw = true;
    packet->tlp.address = mark;
    packet->tlp.length_dw = static_cast<std::uint16_t>(dw);
    packet->payload_bytes = dw * 4;
    packet->size = wire_size_of(packet->tlp, packet->payload_bytes);
    return packet;
  }

  PacketPool pool;  // before all that holds packets
  Link link;
  MockPort host, device;
};

void run_for(Time span) {
  sc_core::sc_start(to_sc_time(span));
}
void run_until_quiet(const Bench& bench) {
  for (int i = 0; i < 10'000 && !bench.link.is_quiet(); ++i) {
    run_for(Time::from_us(1));
  }
  ASSERT_TRUE(bench.link.is_quiet());
}
void expect_in_order(const MockPort& port, std::uint64_t count) {
  ASSERT_EQ(port.arrivals.size(), count);
  for (std::uint64_t i = 0; i < count; ++i) {
    EXPECT_EQ(port.arrivals[i].packet->tlp.address, i);
  }
}
/// Every bit that the lanes could carry in the window is accounted for. [LNK-5.1]
void expect_bits_add_up(const DirectionResult& direction, const LinkConfig& config) {
  const LineCoding coding = line_coding(config.preset, config.skp);
  ASSERT_EQ(direction.window.fs % coding.unit_interval_fs, 0);
  EXPECT_EQ(
      direction.bits.total(),
      static_cast<std::uint64_t>(direction.window.fs / coding.unit_interval_fs) * coding.lanes);
  EXPECT_LE(direction.bits.idle, direction.bits.total());
}
void expect_bits_add_up(const Bench& bench, const LinkConfig& config) {
  const LinkResult result = bench.link.result();
  expect_bits_add_up(result.up, config);
  expect_bits_add_up(result.down, config);
}

// Published: 88 B take 352 ns on a generation 1 lane.
void expect_time_of_one_write(const LinkConfig& config, Time expected) {
  Bench bench("one", config);
  run_for(Time::from_us(2));
  bench.device.send(bench.write(0));
  run_for(Time::from_us(2));
  ASSERT_EQ(bench.host.arrivals.size(), 1U);
  const Packet& packet = *bench.host.arrivals[0].packet;
  EXPECT_EQ(packet.stamped(Hop::kQueued), Time::from_us(2));
  EXPECT_EQ(packet.stamped(Hop::kSent), Time::from_us(2));
  EXPECT_EQ(bench.host.arrivals[0].when - Time::from_us(2), expected);
  EXPECT_EQ(packet.stamped(Hop::kReceived), bench.host.arrivals[0].when);
}

TEST(Link, OneWriteTakesItsSymbolsThePropagationAndTheReceiveLatency) {
  expect_time_of_one_write(link_config(1, 1), Time::from_ns(352 + 5 + 30 + 1));  // on the clock
}

TEST(Link, PropagationIsThatOfTheConfiguration) {
  LinkConfig config = link_config(1, 1);
  config.timing.propagation = Time::from_ns(105);
  expect_time_of_one_write(config, Time::from_ns(352 + 105 + 30 + 1));
}

TEST(Link, ReceiveLatencyIsThatOfTheConfiguration) {
  LinkConfig config = link_config(1, 1);
  config.timing.receive = Time::from_ns(61);
  expect_time_of_one_write(config, Time::from_ns(352 + 5 + 61));
}

TEST(Link, ClockOfTheConfigurationSnapsReceivedPackets) {
  LinkConfig config = link_config(1, 1);
  config.timing.clock = Time::from_ns(100);
  expect_time_of_one_write(config, Time::from_ns(400));
}

TEST(Link, SendsAnAwaitedPortAwayAndTellsItOfRoom) {
  LinkConfig config = link_config(1, 1);
  config.queue_depth = 2;
  Bench bench("full", config);
  run_for(Time::from_us(2));
  constexpr std::uint64_t kWrites = 500;  // more than queue and pipeline hold
  for (std::uint64_t i = 0; i < kWrites; ++i) {
    bench.device.send(bench.write(i));
  }
  EXPECT_GT(bench.device.refusals, 0U);
  EXPECT_FALSE(bench.device.waiting.empty());
  run_until_quiet(bench);
  EXPECT_GT(bench.device.room_calls, 0U);
  EXPECT_TRUE(bench.device.waiting.empty());
  expect_in_order(bench.host, kWrites);
}

TEST(Link, LNK_8_3_HeldReceiveBuffersWithholdCredits) {
  LinkConfig config = link_config(5, 16);
  config.credits.posted_headers = 2;
  config.credits.scaled = false;
  config.credits.posted_data = 64;
  config.credits.nonposted_headers = config.credits.nonposted_data = 64;
  Bench bench("held", config);
  bench.host.holds_buffers = true;
  run_for(Time::from_us(2));
  bench.link.start_window();
  for (std::uint64_t i = 0; i < 5; ++i) {
    bench.device.send(bench.write(i));
  }
  run_for(Time::from_us(50));
  EXPECT_EQ(bench.host.arrivals.size(), 2U);
  EXPECT_NE(bench.link.waiting().find("flow control credits"), std::string::npos);
  bench.host.free_one();
  const Time freed = now();
  run_for(Time::from_us(50));
  ASSERT_EQ(bench.host.arrivals.size(), 3U);
  // The blocked sender hears of it at once, not after a latency limit. [LNK-8.13]
  EXPECT_LE(bench.host.arrivals[2].when - freed, Time::from_ns(85));
  for (int i = 0; i < 4; ++i) {
    bench.host.free_one();
    run_for(Time::from_us(1));
  }
  run_until_quiet(bench);
  expect_in_order(bench.host, 5);
  const LinkResult result = bench.link.result();
  EXPECT_GE(result.up.stalls.credits_posted, Time::from_us(100));
  EXPECT_EQ(result.down.stalls.credits_posted, Time{});
  expect_bits_add_up(bench, config);
}

/// 50 writes up and 50 down under the given faults.
void expect_all_arrive(const FaultsConfig& faults, unsigned generation, unsigned lanes) {
  const LinkConfig config = link_config(generation, lanes);
  Bench bench("faulty", config, faults);
  for (std::uint64_t i = 0; i < 50; ++i) {
    bench.device.send(bench.write(i));
    bench.host.send(bench.write(i));
  }
  run_until_quiet(bench);
  expect_in_order(bench.host, 50);
  expect_in_order(bench.device, 50);
  const LinkResult result = bench.link.result();
  EXPECT_EQ(result.up.corrupted, faults.up.corrupt_tlps.size() + faults.up.corrupt_dllps.size());
  EXPECT_EQ(result.down.corrupted,
            faults.down.corrupt_tlps.size() + faults.down.corrupt_dllps.size());
  EXPECT_EQ(result.up.replays > 0, !faults.up.corrupt_tlps.empty());
  EXPECT_EQ(result.down.replays > 0, !faults.down.corrupt_tlps.empty());
  EXPECT_EQ(result.up.tlps, 50U);
  EXPECT_EQ(result.down.tlps, 50U);
  EXPECT_EQ(result.up.payload_bytes, 50U * 64);
  expect_bits_add_up(bench, config);
  for (const CheckResult& check : bench.link.checks()) {
    EXPECT_TRUE(check.ok) << check.name;
  }
}

TEST(LinkFaults, LNK_7_10_SetTlpsUpAreSentAgain) {
  expect_all_arrive({{{1, 2, 7, 50, 60}, {}}, {}, 0}, 5, 16);
}
TEST(LinkFaults, LNK_7_10_SetTlpsDownAreSentAgain) {
  expect_all_arrive({{}, {{3, 4, 5, 20}, {}}, 0}, 3, 8);
}
TEST(LinkFaults, LNK_6_7_SetDllpsInBothDirectionsAreMadeUpFor) {
  expect_all_arrive({{{}, {1, 2, 3, 4}}, {{}, {1, 5}}, 0}, 4, 4);
}
TEST(LinkFaults, TlpsAndDllpsInBothDirectionsOnOneLane) {
  expect_all_arrive({{{1, 9}, {2, 8}}, {{2, 10, 11}, {4}}, 0}, 1, 1);
}

/// Time from the first transmission to the arrival of a write that is damaged five times. One Nak
/// brings the second; then NAK_SCHEDULED stays set, and the third timeout, the fourth replay, goes
/// through Recovery. The fifth is damaged as well and takes one timeout more.
Time time_through_recovery(Time retrain, Time replay_timeout) {
  LinkConfig config = link_config(5, 16);
  config.timing.retrain = retrain;
  config.timing.replay_timeout = replay_timeout;
  FaultsConfig faults;
  faults.up.corrupt_tlps = {1, 2, 3, 4, 5};
  Bench bench("retrain", config, faults);
  run_for(Time::from_us(2));
  bench.link.start_window();
  bench.device.send(bench.write(0));
  run_until_quiet(bench);
  EXPECT_EQ(bench.host.arrivals.size(), 1U);
  const LinkResult result = bench.link.result();
  EXPECT_EQ(result.up.retrains, 1U);
  EXPECT_EQ(result.up.replays, 5U);
  expect_bits_add_up(bench, config);
  return bench.host.arrivals[0].when - bench.host.arrivals[0].packet->stamped(Hop::kSent);
}

// UpdateFCs come, and no Recovery: what piles up behind a unit that is late has an end, and what is
// sent when it is reached is not lost.
// One TLP that is damaged twice, and an Ack that is lost: three units were sent in vain.
TEST(LinkFaults, WhatIsSentInVainCountsOnce) {
  FaultsConfig faults;
  faults.up.corrupt_tlps = {1, 2};
  faults.down.corrupt_dllps = {1};
  Bench bench("vain", link_config(5, 16), faults);
  bench.link.hold_faults();
  run_for(Time::from_us(2));
  bench.link.release_faults();
  bench.device.send(bench.write(0));
  run_until_quiet(bench);
  Progress progress;
  bench.link.add_progress(progress);
  EXPECT_EQ(bench.host.arrivals.size(), 1U);
  EXPECT_EQ(progress.wasted, 3U);
  EXPECT_EQ(progress.again, 2U);
  EXPECT_EQ(progress.replays, 2U);
}

TEST(LinkFaults, ADelayHoldsUpABoundedNumberOfUnits) {
  LinkConfig config = link_config(6, 16);
  config.flit_mode = true;
  Bench bench("late", config);
  run_for(Time::from_us(2));
  WireFault late;
  late.action = WireFault::Action::kDelay;
  late.by = Time::from_us(400'000);
  bench.link.add_fault(LinkSide::kDownstream, late);
  std::size_t most = 0;
  for (int i = 0; i < 400; ++i) {
    run_for(Time::from_us(1'000));
    most = std::max(most, bench.link.on_wire());
  }
  EXPECT_GE(most, kMostHeldUnits) << "the bound is met";
  EXPECT_LE(most, 3 * kMostHeldUnits) << "a flit counts with its Ack and DLLP";
  EXPECT_LE(bench.pool.allocated(), 3 * kMostHeldUnits);
  constexpr std::uint64_t kWrites = 2'000;
  for (std::uint64_t i = 0; i < kWrites; ++i) {
    bench.device.send(bench.write(i));
  }
  run_until_quiet(bench);
  expect_in_order(bench.host, kWrites);
}

// The fourth replay in vain takes the link into Recovery, which no symbol of before outlives: the
// fifth try arrives, however late the first was to be, and whatever was behind it.
void expect_recovery_from_a_delay(const std::string& name, const LinkConfig& config) {
  Bench bench(name, config);
  run_for(Time::from_us(2));
  WireFault late;
  late.action = WireFault::Action::kDelay;
  late.unit = *read_unit_filter("tlp");
  late.by = Time::from_us(1'000'000);
  bench.link.add_fault(LinkSide::kDownstream, late);
  constexpr std::uint64_t kWrites = 300;
  for (std::uint64_t i = 0; i < kWrites; ++i) {
    bench.device.send(bench.write(i));
  }
  run_for(Time::from_us(200));
  EXPECT_TRUE(bench.link.is_quiet());
  expect_in_order(bench.host, kWrites);
  EXPECT_EQ(bench.link.result().up.replay_events, 4U);
  EXPECT_EQ(bench.link.result().up.retrains, 1U);
  run_for(Time::from_us(1'000'000));
  expect_in_order(bench.host, kWrites);
}
TEST(LinkRecovery, LNK_10_2_WhatIsLaterThanRecoveryIsLostAndSentAgain) {
  expect_recovery_from_a_delay("late", link_config(5, 16));
}
TEST(LinkRecovery, LNK_10_2_WhatIsLaterThanRecoveryIsLostAndSentAgainInFlitMode) {
  LinkConfig config = link_config(5, 16);
  config.flit_mode = true;
  expect_recovery_from_a_delay("late", config);
}

TEST(LinkRecovery, LNK_10_2_OutageLastsAsLongAsSet) {
  const Time replay = Time::from_us(4);
  const Time got = time_through_recovery(Time::from_us(9), replay);
  EXPECT_GE(got, replay * 4 + Time::from_us(9));
  EXPECT_LE(got, replay * 4 + Time::from_us(10));
}

TEST(LinkWindow, OpensWithTheFirstCountedTlpAndCountsNoneBefore) {
  LinkConfig config = link_config(3, 8);
  Bench bench("window", config);
  run_for(Time::from_us(2));
  bench.link.start_window_with_traffic();
  for (std::uint64_t i = 0; i < 30; ++i) {
    PacketRef packet = bench.write(i);
    packet->counts = i >= 10;
    bench.device.send(std::move(packet));
  }
  run_until_quiet(bench);
  expect_in_order(bench.host, 30);
  const LinkResult result = bench.link.result();
  EXPECT_EQ(result.up.tlps, 20U);
  EXPECT_EQ(result.up.payload_bytes, 20U * 64);
  EXPECT_EQ(result.up.bits.payload, 20U * 512);
  EXPECT_EQ(result.up.bits.header, 20U * 128);
  EXPECT_EQ(result.up.first_symbol, bench.host.arrivals[10].packet->stamped(Hop::kSent));
  EXPECT_EQ(result.down.tlps, 0U);
  expect_bits_add_up(result.up, config);
}

// A flit may carry TLPs of the warm-up in front of the first counted one. [LNK-11.2]
TEST(LinkWindow, InFlitModeTheFirstFlitOfAWindowCountsNoTlpOfTheWarmUp) {
  LinkConfig config = link_config(6, 16);
  config.credits.scaled = true;
  std::vector<std::unique_ptr<Bench>> benches;
  for (int i = 0; i < 12; ++i) {
    benches.push_back(std::make_unique<Bench>("flit_window" + std::to_string(i), config));
  }
  run_for(Time::from_us(2));
  for (std::uint64_t warmup = 0; warmup < benches.size(); ++warmup) {
    Bench& bench = *benches[warmup];
    bench.link.start_window_with_traffic();
    for (std::uint64_t i = 0; i < warmup + 20; ++i) {
      PacketRef packet = bench.write(i);
      packet->counts = i >= warmup;
      bench.device.send(std::move(packet));
    }
    run_until_quiet(bench);
    const LinkResult result = bench.link.result();
    EXPECT_EQ(result.up.tlps, 20U) << warmup;
    EXPECT_EQ(result.up.payload_bytes, 20U * 64) << warmup;
    expect_bits_add_up(result.up, config);
  }
}

TEST(LinkWindow, HopTimesNeverGoBackOnAWideSlowLink) {
  LinkConfig config = link_config(1, 32);
  Bench bench("hops", config);
  run_for(Time::from_us(2));
  for (std::uint64_t i = 0; i < 40; ++i) {
    bench.device.send(bench.write(i, 1));
    run_for(Time::from_ns(3));
  }
  run_until_quiet(bench);
  expect_in_order(bench.host, 40);
  for (const MockPort::Arrival& arrival : bench.host.arrivals) {
    EXPECT_GE(arrival.packet->stamped(Hop::kSent), arrival.packet->stamped(Hop::kQueued));
    EXPECT_GT(arrival.packet->stamped(Hop::kReceived), arrival.packet->stamped(Hop::kSent));
  }
  expect_bits_add_up(bench, config);
}

TEST(LinkDeterminism, SameSeedSameRunAndAnotherSeedAnother) {
  LinkConfig config = link_config(5, 16);
  config.error_rate = 1e-5;
  std::vector<std::unique_ptr<Bench>> benches;
  for (const std::uint64_t seed : {1U, 1U, 2U}) {
    benches.push_back(std::make_unique<Bench>("bench" + std::to_string(benches.size()), config,
                                              FaultsConfig{}, seed));
  }
  for (std::uint64_t i = 0; i < 5'000; ++i) {
    for (const auto& bench : benches) {
      bench->device.send(bench->write(i));
    }
  }
  for (const auto& bench : benches) {
    run_until_quiet(*bench);
    expect_in_order(bench->host, 5'000);
  }
  for (std::size_t i = 0; i < 5'000; ++i) {
    ASSERT_EQ(benches[0]->host.arrivals[i].when, benches[1]->host.arrivals[i].when) << i;
  }
  const DirectionResult one = benches[0]->link.result().up;
  const DirectionResult same = benches[1]->link.result().up;
  const DirectionResult other = benches[2]->link.result().up;
  EXPECT_GT(one.corrupted, 0U);
  EXPECT_EQ(one.corrupted, same.corrupted);
  EXPECT_EQ(one.replays, same.replays);
  EXPECT_NE(benches[0]->host.arrivals.back().when, benches[2]->host.arrivals.back().when);
  EXPECT_GT(other.corrupted, 0U);
}

}  // namespace
}  // namespace flitwise::link_test
