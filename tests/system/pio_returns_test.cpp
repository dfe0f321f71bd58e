// SPDX-License-Identifier: Apache-2.0
// Credit returns of a device that sends by PIO, as they stand on the wire.
#include <gtest/gtest.h>

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
  MachineBench bench(
      config_from_text(config_of("count: 2", "depth: 64, threshold: 4" + steering_tag,
                                 "domains: 4, payload: 200B, requests: 100", "", link),
                       "run.yaml", ""));
  Writes writes;
  bench.machine.fabric().links[0].link->watch(&writes);
  EXPECT_TRUE(bench.bring_up());
  EXPECT_TRUE(bench.run_workload());
  EXPECT_GT(ended(bench.machine).pio.returned, 0U);
  EXPECT_GT(writes.all.size(), 20U);
  return writes.all;
}

TEST(PioReturns, PIO_8_3_ReturnsHaveTheSteeringTag) {
  for (const Tlp& tlp : returns_of(", steering_tag: 90", "bdf_pasid")) {
    EXPECT_TRUE(tlp.has_processing_hint);
    EXPECT_EQ(tlp.tag, 90U);
  }
}
TEST(PioReturns, PIO_8_3_TagZeroIsATag) {
  const std::vector<Tlp> all = returns_of(", steering_tag: 0", "bdf");
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

}  // namespace
}  // namespace flitwise::pio_returns_test
