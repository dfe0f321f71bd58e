// SPDX-License-Identifier: Apache-2.0
// Credit returns of a device that sends by PIO, as they stand on the wire and as software meets
// them.
#include <gtest/gtest.h>
#include <boost/endian/conversion.hpp>

#include <map>
#include <string>
#include <vector>

#include "machine_bench.h"
#include "pio_bench.h"

namespace flitwise::pio_returns_test {
namespace {

using pio_bench::config_of;
using pio_bench::Ended;
using pio_bench::ended;
using pio_bench::run;

/// Returns that were asked for, without those that made no write of their own.
std::uint64_t asked_for(const PioResult& row) {
  return row.due_to_threshold + row.due_to_pbc + row.due_to_force + row.due_to_early +
         row.due_to_error - row.coalesced_returns;
}

/// Writes of a device that are no handle messages.
struct Writes : TraceSink {
  std::vector<Tlp> all;
  void record(const TraceEvent& event) override {
    const Packet& packet = *event.packet;
    if (event.is_up && packet.kind == PacketKind::kTlp && packet.tlp.type == TlpType::kMWr &&
        packet.purpose == HandlePurpose::kNone) {
      all.push_back(packet.tlp);
    }
  }
};
std::vector<Tlp> returns_of(const std::string& steering_tag, const std::string& link) {
  MachineBench bench(config_from_text(
      config_of("count: 2", "depth: 64, threshold: 4" + steering_tag,
                "domains: 4, payload: 200B, requests: 100", "", "identity: " + link),
      "run.yaml", ""));
  Writes writes;
  bench.machine.fabric().links[0].link->watch(&writes);
  EXPECT_TRUE(bench.bring_up());
  EXPECT_TRUE(bench.run_workload());
  const PioResult row = ended(bench.machine).pio;
  EXPECT_GT(row.returned, 0U);
  EXPECT_GT(writes.all.size(), 20U);
  EXPECT_EQ(row.return_writes, writes.all.size());
  EXPECT_EQ(asked_for(row), writes.all.size());
  EXPECT_EQ(row.steered_returns, steering_tag.empty() ? 0U : writes.all.size());
  return writes.all;
}

TEST(PioReturns, PIO_8_3_ReturnsHaveTheSteeringTag) {
  for (const Tlp& tlp : returns_of(", steering_tag: 90", "bdf_pasid")) {
    EXPECT_TRUE(tlp.has_processing_hint);
    EXPECT_EQ(tlp.tag, 90U);
  }
}
TEST(PioReturns, PIO_8_3_TagZeroIsATag) {
  const std::vector<Tlp> all = returns_of(", steering_tag: 0", "bdf_pasid");
  EXPECT_TRUE(all.at(0).has_processing_hint);
}
TEST(PioReturns, PIO_8_3_WithoutOneThereIsNoHint) {
  const std::vector<Tlp> all = returns_of("", "bdf_pasid");
  EXPECT_FALSE(all.at(0).has_processing_hint);
  EXPECT_EQ(all.at(0).tag, 0U);
}
// A handle in the requester ID goes beside it; one in the tag does not.
TEST(PioReturns, PIO_8_3_AHandleInTheRequesterIdGoesBesideIt) {
  const std::vector<Tlp> all = returns_of(", steering_tag: 90", "dhi");
  EXPECT_TRUE(all.back().id_is_handle);
  EXPECT_EQ(all.back().tag, 90U);
}
TEST(PioReturns, PIO_8_3_WhereTheTagHasTheHandleTheFullIdentityGoes) {
  for (const Tlp& tlp : returns_of(", steering_tag: 90", "dhi, dhi_form: tag")) {
    EXPECT_FALSE(tlp.id_is_handle);
    EXPECT_TRUE(tlp.has_pasid);
    EXPECT_EQ(tlp.tag, 90U);
  }
}
TEST(PioReturns, PIO_8_3_WithoutSteeringTagTheTagHasTheHandle) {
  EXPECT_TRUE(returns_of("", "dhi, dhi_form: tag").back().id_is_handle);
}

/// The returned counters of each context, in the order of the wire.
struct Counters : TraceSink {
  std::map<unsigned, std::vector<std::uint64_t>> of;
  void record(const TraceEvent& event) override {
    const Packet& packet = *event.packet;
    if (event.is_up && packet.kind == PacketKind::kTlp && packet.tlp.type == TlpType::kMWr) {
      const auto context = static_cast<unsigned>(to_int(packet.domain));
      const std::uint64_t qw = boost::endian::load_little_u64(
          packet.payload.data() + std::size_t{context % kContextsPerSet} * kQwBytes);
      of[context].push_back(qw % kCreditRing);
    }
  }
};

// A thread writes a packet every 100 ns, each of which returns its block. So many cross to the PCIe
// interface at a time as have room there.
Counters returns_with_crossing(const std::string& crossing, PioResult& row) {
  MachineBench bench(
      config_from_text(config_of("count: 1, timing: {source: 100ns}",
                                 "depth: 1024, threshold: 1, timing: {crossing: " + crossing + "}",
                                 "domains: 1, payload: 56B, requests: 300"),
                       "run.yaml", ""));
  Counters seen;
  bench.machine.fabric().links[0].link->watch(&seen);
  EXPECT_TRUE(bench.bring_up());
  EXPECT_TRUE(bench.run_workload());
  row = ended(bench.machine).pio;
  EXPECT_EQ(row.returned, 300U);
  EXPECT_EQ(row.due_to_threshold, 300U);
  EXPECT_EQ(row.return_writes, seen.of[0].size());
  EXPECT_EQ(asked_for(row), seen.of[0].size());
  return seen;
}
// What has begun to cross stays as it is: each of five returns under way says its own.
TEST(PioReturns, PIO_12_21_EachReturnHasACrossingOfItsOwn) {
  PioResult row;
  const Counters seen = returns_with_crossing("500ns", row);
  EXPECT_EQ(row.coalesced_returns, 0U);
  const std::vector<std::uint64_t>& counters = seen.of.at(0);
  ASSERT_EQ(counters.size(), 300U);
  for (std::size_t i = 0; i < counters.size(); ++i) {
    ASSERT_EQ(counters[i], i + 1);
  }
}
// In 10 us a hundred packets leave and eight returns cross: the others update one that waits.
TEST(PioReturns, PIO_12_21_ReturnsWithoutRoomInTheCrossingCoalesce) {
  PioResult row;
  const Counters seen = returns_with_crossing("10us", row);
  EXPECT_GT(row.coalesced_returns, 250U);
  EXPECT_LE(seen.of.at(0).size(), 8U * 5);
  EXPECT_GE(seen.of.at(0).size(), 8U * 3);
  EXPECT_EQ(seen.of.at(0).back(), 300U);
}

// Nine contexts with a VL each; three threads have two contexts, three have one, and all have 450
// packets of 5 blocks. Each second packet of a context returns 10 blocks, whatever the clocks. That
// packets of a context and VL leave in their order is a check of each run.
void expect_same_returns(const std::string& timing) {
  MachineBench bench(
      config_from_text(config_of("count: 3, threads: 2, vls: 9, vl_choice: context",
                                 "depth: 200, threshold: 7, timing: {" + timing + "}",
                                 "domains: 9, payload: 300B, requests: 2700"),
                       "run.yaml", ""));
  Counters seen;
  bench.machine.fabric().links[0].link->watch(&seen);
  EXPECT_TRUE(bench.bring_up());
  EXPECT_TRUE(bench.run_workload());
  const Ended done = ended(bench.machine);
  EXPECT_EQ(done.pio.packets, 2700U);
  EXPECT_EQ(done.pio.vls, 9U);
  ASSERT_EQ(seen.of.size(), 9U);
  for (const auto& [context, counters] : seen.of) {
    const std::size_t packets = context >= 3 && context < 6 ? 450 : 225;
    ASSERT_EQ(counters.size(), packets / 2) << "context " << context;
    for (std::size_t i = 0; i < counters.size(); ++i) {
      ASSERT_EQ(counters[i], 10 * (i + 1) % kCreditRing) << "context " << context;
    }
  }
}
TEST(PioReturns, PIO_088_AFourthOfThePeriodOfTheInterface) {
  expect_same_returns("clock: 500ps, crossing: 1ns");
}
TEST(PioReturns, PIO_088_HalfOfThePeriod) {
  expect_same_returns("clock: 1ns, crossing: 2700ps");
}
TEST(PioReturns, PIO_088_TheSameClock) {
  expect_same_returns("clock: 2ns, crossing: 0ns");
}
TEST(PioReturns, PIO_088_TwiceThePeriod) {
  expect_same_returns("clock: 4ns, crossing: 8300ps");
}
TEST(PioReturns, PIO_088_FourTimesThePeriod) {
  expect_same_returns("clock: 8ns, crossing: 12345ps");
}

// The entry of the device's bus in the root table is away for a while: returns fault, and what they
// told of is unknown to software until the next one that goes through says it again. [PIO-12.33]
TEST(PioReturns, PIO_091_TheReturnAfterAFaultSaysAllCredits) {
  MachineBench bench(config_from_text(
      config_of("count: 1, timing: {store: 100ns}", "depth: 128, threshold: 4",
                "domains: 1, payload: 120B, requests: 400",
                "iommu: {translation: first_stage, context_cache: {entries: none}, pasid_cache: "
                "{entries: none}, iotlb: {entries: none}, paging_cache: {entries: none}}\n"),
      "run.yaml", ""));
  ASSERT_TRUE(bench.bring_up());
  Machine& machine = bench.machine;
  const SendContext& context = pio_bench::rules_of(machine).context(0);
  const auto shadow = [&] {
    return machine.memory().peek_u64(machine.config.workload.buffer_base);
  };
  machine.start();
  ASSERT_TRUE(bench.run_until([&] { return shadow() % kCreditRing >= 100; }));

  constexpr std::uint64_t kRootTablePointer = 0x20;
  const std::uint64_t entry =
      (machine.agent().read_register(kRootTablePointer, 8) & ~std::uint64_t{0xfff}) + 16;
  const std::uint64_t present = machine.memory().peek_u64(entry);
  ASSERT_EQ(present & 1, 1U);

  machine.memory().poke_u64(entry, 0);
  const std::uint64_t before = context.returned() + 8;  // on their way
  ASSERT_TRUE(bench.run_until([&] { return context.returned() >= before + 40; }));
  EXPECT_LE(shadow() % kCreditRing, before);
  machine.memory().poke_u64(entry, present);
  const std::uint64_t lost = context.returned();
  ASSERT_TRUE(bench.run_until([&] { return context.returned() > lost + 4; }));
  EXPECT_GE(shadow() % kCreditRing, lost);
  ASSERT_TRUE(bench.finish());
  const RunResult result = machine.result();
  EXPECT_EQ(result.rows<PioResult>().at(0).packets, 400U);
  EXPECT_EQ(shadow() % kCreditRing, context.returned());
  EXPECT_GT(result.rows<IommuResult>().at(0).faults, 5U);
}

}  // namespace
}  // namespace flitwise::pio_returns_test
