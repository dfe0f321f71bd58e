// SPDX-License-Identifier: Apache-2.0
// Packets by PIO whose bottleneck is known by arithmetic: the run takes that time, the explanation
// names what takes it, its key moves the rate and another one does not. docs/explain.md
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "validation/simulate_in_child.h"

namespace flitwise::pio_explain_test {
namespace {

using Json = nlohmann::ordered_json;

struct Known {
  const char* name;
  std::vector<std::string> sets;
  double least_ns;  ///< of a run, by arithmetic; 0: not known
  double share;     ///< of the time of the run that this is, at least
  const char* resource;
  const char* key;
  double gain;        ///< in the time of the run by the value to try, at least
  const char* other;  ///< a setting that does not move it
  const char* kind = "write";
};

// Of packets of 184 bytes and a PBC, which have 3 blocks, in 4 cores and 8 contexts.
std::vector<std::string> settings_of(const Known& known) {
  std::vector<std::string> all = {"host.cores.count=4", "host.cores.vls=1", "workload.domains=8",
                                  "workload.requests=1000"};
  all.insert(all.end(), known.sets.begin(), known.sets.end());
  return all;
}

const Known kKnown[] = {
    // 64 bytes, a header of 16, framing, sequence number and LCRC of 8, at 0.25 B/ns.
    {"the link",
     {"link.preset=gen1x1"},
     3000 * 88 / 0.25,
     0.98,
     "link",
     "link.preset",
     1.8,
     "host.cores.store_buffers=24"},
    // Without PBC, with ICRC: 188 bytes at 0.25 B/ns.
    {"the network port",
     {"device.pio.egress.rate=2Gb/s"},
     1000 * 188 / 0.25,
     0.98,
     "port",
     "device.pio.egress.rate",
     1.8,
     "device.pio.depth=256"},
    // Packets of one block: a grant in each clock, and a block is read in each.
    {"the clock of send memory",
     {"device.pio.timing.clock=40ns", "workload.payload=56B", "workload.requests=4000"},
     4000 * 40.0,
     0.98,
     "send_memory",
     "device.pio.timing.clock",
     1.8,
     "host.cores.store_buffers=24"},
    // A packet of 157 blocks and 10004 bytes is read at 16 B/ns, is 50 ns on its way to the port
    // and sent at 10 B/ns. There is no room to do so with one while another is sent.
    {"a transmit buffer for one packet",
     {"device.pio.egress.buffer=10368B", "device.pio.egress.rate=80Gb/s",
      "device.pio.timing.clock=4ns", "device.pio.depth=1024", "workload.payload=10000B",
      "workload.requests=200"},
     200 * (157 * 4 + 50 + 1000.4),
     0.98,
     "transmit_buffer",
     "device.pio.egress.buffer",
     1.5,
     "host.cores.store_buffers=24"},
    // A core has one place for 80 ns.
    {"a store buffer of one block",
     {"host.cores.store_buffers=1"},
     750 * 80.0,
     0.97,
     "store_buffer",
     "host.cores.store_buffers",
     1.5,
     "device.pio.depth=256"},
    // Eight stores of 10 ns.
    {"a core that stores all the time",
     {"host.cores.store_bytes=8", "host.cores.timing.store=10ns"},
     750 * 80.0,
     0.97,
     "threads",
     "host.cores.timing.store",
     1.8,
     "host.cores.store_buffers=24"},
    {"a core that reads what it sends",
     {"host.cores.timing.source=60ns"},
     750 * 60.0,
     0.97,
     "threads",
     "host.cores.timing.source",
     1.8,
     "device.pio.depth=256"},
    // A packet has two descriptors of 300 ns.
    {"a core that describes packets",
     {"host.cores.sdma_from=100B", "host.cores.timing.descriptor=300ns"},
     250 * 600.0,
     0.97,
     "threads",
     "host.cores.timing.descriptor",
     1.8,
     "host.cores.store_buffers=24",
     "read"},
    {"contexts for one packet",
     {"device.pio.depth=4", "device.pio.threshold=4"},
     0,
     0,
     "send_credits",
     "device.pio.depth",
     1.5,
     "host.cores.store_buffers=24"},
    {"deep contexts for one packet",
     {"device.pio.depth=8", "device.pio.deep_contexts=8", "device.pio.deep_depth=4",
      "device.pio.threshold=4"},
     0,
     0,
     "send_credits",
     "device.pio.deep_depth",
     1.5,
     "device.pio.depth=16"},
    {"a walker that credit returns wait for",
     {"iommu.translation=first_stage", "iommu.page=4KiB", "iommu.walkers=1",
      "iommu.iotlb.entries=4", "host.memory.timing.latency=500ns", "device.pio.depth=4",
      "device.pio.threshold=1", "device.pio.group=1", "workload.domains=64", "host.cores.count=8"},
     0,
     0,
     "walkers",
     "iommu.walkers",
     1.8,
     "link.preset=gen4x16"},
    {"a walker that reads of SDMA wait for",
     {"iommu.translation=first_stage", "iommu.page=4KiB", "iommu.walkers=1",
      "iommu.iotlb.entries=1", "host.memory.timing.latency=300ns", "host.cores.sdma_from=100B",
      "device.pio.sdma.engines=4", "workload.buffer_size=1MiB", "workload.domains=64",
      "workload.payload=2000B"},
     0,
     0,
     "walkers",
     "iommu.walkers",
     1.8,
     "device.pio.sdma.reads=32",
     "read"},
};

Json row_of(const Json& result, const std::string& kind) {
  for (const Json& row : result.at("explain")) {
    if (row.at("kind") == kind) {
      return row;
    }
  }
  return nullptr;
}

bool is_of_core(const Json& limit) {
  return limit.at("at").get<std::string>().rfind("ep0_core", 0) == 0;
}

double window(const Json& result) {
  return result.at("flitwise").at("simulated_ns").get<double>();
}

TEST(PioExplain, NamesWhatIsKnownAndItsKeyAloneMovesTheRate) {
  std::vector<Simulation> runs;
  for (const Known& known : kKnown) {
    runs.push_back({"checks/pio.yaml", settings_of(known)});
  }
  const std::vector<Json> before = simulate_in_children(runs);
  std::vector<Simulation> changed;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const Known& known = kKnown[i];
    SCOPED_TRACE(known.name);
    ASSERT_FALSE(before[i].contains("failed")) << before[i];
    EXPECT_GE(window(before[i]), known.least_ns);
    EXPECT_LE(window(before[i]) * known.share, known.least_ns);
    const Json row = row_of(before[i], known.kind);
    ASSERT_FALSE(row.is_null());
    EXPECT_EQ(row.at("limit").at("resource"), known.resource) << row;
    EXPECT_EQ(row.at("limit").at("key"), known.key) << row;
    EXPECT_FALSE(is_of_core(row.at("limit")) && is_of_core(row.at("next"))) << row;
    const std::string larger = row.at("limit").at("larger").get<std::string>();
    ASSERT_FALSE(larger.empty()) << row;
    for (const std::string& set : {known.key + ("=" + larger), std::string(known.other)}) {
      changed.push_back(runs[i]);
      changed.back().sets.push_back(set);
    }
  }
  const std::vector<Json> after = simulate_in_children(changed);
  for (std::size_t i = 0; i < after.size(); ++i) {
    SCOPED_TRACE(changed[i].text());
    ASSERT_FALSE(after[i].contains("failed")) << after[i];
    const Known& known = kKnown[i / 2];
    const double old = window(before[i / 2]);
    if (i % 2 == 0) {
      EXPECT_LT(known.gain * window(after[i]), old);
    } else {
      EXPECT_NEAR(window(after[i]) / old, 1, 0.08);
    }
  }
}

}  // namespace
}  // namespace flitwise::pio_explain_test
