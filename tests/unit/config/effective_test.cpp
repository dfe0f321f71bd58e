// SPDX-License-Identifier: Apache-2.0
// The canonical form: complete, stable, and the same after being read back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "unit/config/support.h"

namespace flitwise::effective_test {
namespace {

std::vector<std::string> shipped_configs() {
  std::vector<std::string> files;
  for (const char* folder : {"checks", "presets", "examples"}) {
    const auto directory = std::filesystem::path(FLITWISE_SOURCE_DIR) / "configs" / folder;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      files.push_back(entry.path().string());
    }
  }
  return files;
}

TEST(EffectiveConfig, EveryShippedConfigIsGoodAndReadsBackTheSame) {
  const auto files = shipped_configs();
  ASSERT_GE(files.size(), 10U);
  for (const std::string& file : files) {
    const Config config = load_config(file);
    const std::string text = effective_config(config).dump(1);
    const Config again = config_from_text(text, "dump", "");
    EXPECT_EQ(effective_config(again).dump(1), text) << file;
    EXPECT_EQ(config_sha256(again), config_sha256(config)) << file;
  }
}

TEST(EffectiveConfig, TheExampleInTheDocumentationIsGood) {
  std::ostringstream page;
  page << std::ifstream(std::filesystem::path(FLITWISE_SOURCE_DIR) / "docs/configuration.md")
              .rdbuf();
  const std::string fence = "```yaml\n";
  const std::size_t start = page.str().find(fence) + fence.size();
  const std::string example = page.str().substr(start, page.str().find("```", start) - start);
  const auto directory = std::filesystem::path(FLITWISE_SOURCE_DIR) / "configs/examples";
  const Config config = config_from_text(example, "configuration.md", directory.string());
  EXPECT_EQ(for_instance(config, "ep1").device.dhi.bits, 4U);
  EXPECT_EQ(for_instance(config, "rp0-sw0").link.preset.lanes, 32U);
}

/// Some other valid spelling for each key, so that no row can write what it does not read.
std::string other_value(const KeyInfo& key) {
  if (key.path == "link.dhi_form") {
    return "tag";
  }
  for (const std::string& value : key.values) {
    if (value != key.default_value) {
      return value;
    }
  }
  const std::map<std::string, std::string> by_unit = {
      {"time", "3ns"}, {"size", "128B"}, {"Gb/s", "12.5Gb/s"}, {"Mreq/s", "2.75Mreq/s"}};
  if (by_unit.count(key.unit) != 0) {
    return by_unit.at(key.unit);
  }
  return key.range.find("list") != std::string::npos ? "[2, 5]" : "3";
}

TEST(EffectiveConfig, EveryKeyIsReadBackAndChangesTheHash) {
  const std::string start =
      "link: {credits: {posted_headers: 64, posted_data: 128, nonposted_headers: 64}}\n"
      "network: {topology: switch}";  // for as many hosts as it has by default
  const std::string plain = config_sha256(config_of(start));
  // Keys whose small test value lies outside their range get one of their own.
  const std::map<std::string, std::string> own = {
      {"host.memory.size", "32GiB"},
      {"device.functions.bar_size", "8KiB"},
      {"link.replay_buffer", "1KiB"},
      {"message.flit_bits", "64"},
      {"device.tag_bits", "8"},
      {"host.dhi.entries", "8"},
      {"workload.read_fraction", "0.25"},
      {"workload.churn", "0.25"},
      {"workload.functions", "[0]"},
      {"link.error_rate", "1e-07"},
      {"workload.buffer_base", "5GiB"},
      {"workload.buffer_size", "128KiB"},
      {"link.timing.replay_timeout", "1us"},
      {"host.cores.threads", "2"},
      {"host.cores.store_bytes", "32"},
      {"host.cores.credit_requests", "0.5"},
      {"faults.pio_integrity", "0.5"},
      {"device.pio.group", "2"},
      {"device.pio.sdma.ring", "512"},
      {"device.pio.egress.buffer", "64KiB"},
      {"device.pio.egress.high", "[[2, 5]]"},
      {"device.pio.egress.low", "[[2, 5]]"},
      {"device.pio.egress.peer", "ep0"},
      {"device.pio.receive.buffer", "16KiB"},
      {"host.verbs.inline", "64B"},
      {"device.rdma.peer", "ep0"},
      {"device.rdma.cable.loss", "0.125"},
      {"device.rdma.cable.duplication", "0.125"},
      {"device.rdma.cable.corruption", "0.125"},
      {"device.rdma.cable.reordering", "0.125"},
      {"network.topology", "cable"},
      {"network.graph.switches", "[s0]"},
      {"network.graph.edges", "[{from: h0, to: s0, rate: 40Gb/s}, {from: s0, to: h1, delay: 2us}]"},
      {"network.switch.queue", "64KiB"},
      {"device.rdma.pretranslation.page_size", "2MiB"},
      {"device.rdma.pretranslation.timing.period", "3us"},
      {"device.rdma.pretranslation.timing.retry", "3us"},
      {"device.rdma.pretranslation.timing.longest_retry", "3us"},
      {"device.rdma.cqe", "32"},
      {"device.rdma.mtu", "1024"},
      {"device.srdma.mtu", "1024"},
      {"device.srdma.ooo_window", "64"},
      {"device.srdma.gain", "0.25"},
      {"device.srdma.control.threshold", "0.75"},
      {"device.srdma.control.relaxed", "0.25"},
      {"device.srdma.timing.weights", "3us"},
      {"device.srdma.timing.apply_delay", "3us"},
      {"device.srdma.timing.control", "3us"},
      {"device.srdma.timing.gap", "3us"},
      {"device.srdma.timing.stale", "3us"},
      {"device.srdma.timing.base_window", "3us"},
      {"device.srdma.timing.cnp", "3us"},
      {"device.srdma.timing.handshake", "3us"},
      {"device.srdma.timing.drain", "3us"},
      {"device.srdma.timing.down", "3us"},
      {"device.srdma.keys.lifetime", "3us"},
      {"network.ecn.pmax", "0.25"},
      {"network.background.load", "0.25"},
      {"network.background.on", "3us"},
      {"network.fault.link", "leaf0-spine1"},
      {"network.fault.loss", "0.125"},
      {"network.routing.util_window", "3us"},
      {"workload.flows.load", "0.25"},
      {"device.rdma.queue", "128"},
      {"device.rdma.cq", "512"},
      {"device.rdma.dma_memory", "64KiB"},
      {"device.rdma.payload_ram", "64KiB"},
      {"device.timing.completion_timeout", "1ms"},
      {"host.timing.completion_timeout", "1ms"},
      {"run.deadlock_after", "1s"},
      {"run.converged.figures", "[down_goodput_gbps]"},
      {"run.converged.tolerance", "2%"},
      {"run.converged.confidence", "90%"},
      {"run.converged.min_requests", "2000"},
      {"faults.break", "[tags, at]"},
      {"link.rcb", "128B"},
      {"link.credits.posted_data", "16"},
      {"link.credits.completion_data", "16"},
      {"workload.zipf_exponent", "1.5"},
      {"link.mrrs", "128B"},
      {"iommu.page", "2MiB"},
      {"iommu.capabilities.host_address_bits", "46"},
      {"iommu.context_cache.ways", "4"},
      {"iommu.pasid_cache.ways", "4"},
      {"iommu.iotlb.ways", "4"},
      {"iommu.paging_cache.ways", "4"},
      {"iommu.second_stage_cache.ways", "4"},
      {"device.atc.ways", "4"},
      {"device.atc.reuse_pages", "64"},
      {"iommu.permission_cache.ways", "4"},
      {"system.topology", "switch"},
      {"system.nodes", "[{name: a, kind: device}]"},
      {"system.edges", "[{from: rp0, to: a}]"},
      {"system.acs.egress", "[ep0]"},
      {"iommu.timing.invalidate_timeout", "3us"},
      {"host.iommu_driver.premapped", "0.5"},
      {"host.iommu_driver.refuse_fraction", "0.5"},
      {"host.iommu_driver.page_request_queue", "16KiB"},
      {"device.cxl.memory", "8GiB"},
      {"device.ring.memory", "16MiB"},
      {"device.cxl.cache.size", "64KiB"},
      {"link.cxl.timing.retry_timeout", "2us"},
      {"workload.trace", FLITWISE_SOURCE_DIR "/README.md"}};
  for (const KeyInfo& key : all_keys()) {
    if (key.path.rfind("trace.", 0) == 0) {
      continue;
    }
    const auto at = own.find(key.path);
    const std::string value = at == own.end() ? other_value(key) : at->second;
    const bool needs_trace = key.path == "workload.kind";
    std::vector<std::string> sets = {key.path + "=" + (needs_trace ? std::string("read") : value)};
    if (key.path == "device.pri.enabled") {
      sets.emplace_back("device.atc.enabled=true");
    } else if (key.path == "system.nodes" || key.path == "system.edges") {
      sets.insert(sets.end(), {"system.topology=graph", "system.nodes=[{name: a, kind: device}]",
                               "system.edges=[{from: rp0, to: a}]"});
    } else if (key.path == "host.iommu_driver.enabled") {
      sets.emplace_back("iommu.translation=first_stage");
    } else if (key.path == "device.cxl.memory" || key.path == "device.cxl.cache.size") {
      sets.emplace_back("link.preset=cxl68_gen5x16");
    } else if (key.path == "device.cxl.coherence") {
      sets.insert(sets.end(), {"link.preset=cxl256_gen6x16", "device.cxl.memory=8GiB"});
    } else if (key.path == "link.cxl.latency_optimised") {
      sets.emplace_back("link.preset=cxl256_gen6x16");
    } else if (key.path.rfind("link.shared_credits.", 0) == 0) {
      sets.insert(sets.end(), {"link.flit_mode=true", "link.credits.completion_headers=8",
                               "link.credits.completion_data=16"});
      const std::string::size_type data = key.path.rfind("_data");
      if (data != std::string::npos) {
        sets.push_back(key.path.substr(0, data) + "_headers=2");
      } else if (key.path == "link.shared_credits.merged") {
        sets.emplace_back("link.shared_credits.posted_headers=2");
      }
    } else if (key.path == "workload.via") {
      sets.insert(sets.end(), {"link.preset=cxl256_gen6x16", "device.cxl.memory=16GiB",
                               "device.cxl.coherence=hdm_db", "device.cxl.cache.size=64KiB"});
    }
    const Config config = config_of(start, sets);
    EXPECT_NE(config_sha256(config), plain) << key.path << " = " << value;
    const Config again = config_from_text(effective_config(config).dump(), "dump", "");
    EXPECT_EQ(config_sha256(again), config_sha256(config)) << key.path << " = " << value;
  }
}

TEST(EffectiveConfig, ValuesStandInOneSpelling) {
  const auto dump = effective_config(
      config_of("", {"link.mps=0.25KiB", "link.timing.clock=2000ps", "workload.rate=10000kreq/s"}));
  EXPECT_EQ(dump["link"]["mps"], "256B");
  EXPECT_EQ(dump["link"]["timing"]["clock"], "2ns");
  EXPECT_EQ(dump["workload"]["rate"], "10Mreq/s");
  EXPECT_EQ(dump["link"]["credits"]["completion_data"], "infinite");
  EXPECT_EQ(dump["workload"]["domains"], 1);
  EXPECT_EQ(config_sha256(config_of("", {"link.mps=0.25KiB"})), config_sha256(Config{}));
}

TEST(EffectiveConfig, LeavesOutTheTrace) {
  const Config watched = config_of("trace: {latency: [{name: wait, from: issue, to: handle}]}");
  ASSERT_EQ(watched.trace.latency.size(), 1U);
  EXPECT_EQ(watched.trace.latency[0].to, "handle");
  EXPECT_EQ(config_sha256(watched), config_sha256(Config{}));
  Config with_file;
  with_file.trace.files["perfetto"] = "out.pftrace";
  EXPECT_EQ(config_sha256(with_file), config_sha256(Config{}));
  EXPECT_FALSE(effective_config(watched).contains("trace"));
}

TEST(EffectiveConfig, InstancesCountToo) {
  const Config config = config_of("system: {instances: {ep0: {device.dhi.bits: 4}}}");
  EXPECT_NE(config_sha256(config), config_sha256(Config{}));
  EXPECT_EQ(effective_config(config)["system"]["instances"]["ep0"]["device.dhi.bits"], 4);
}

TEST(EffectiveConfig, HashIsSha256InHexadecimal) {
  const std::string hash = config_sha256(Config{});
  EXPECT_EQ(hash.size(), 64U);
  EXPECT_EQ(hash.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(AllKeys, EachHasRangeDefaultAndSentence) {
  std::set<std::string> paths;
  for (const KeyInfo& key : all_keys()) {
    EXPECT_TRUE(paths.insert(key.path).second) << key.path;
    EXPECT_FALSE(key.range.empty()) << key.path;
    EXPECT_EQ(key.sentence.back(), '.') << key.path;
  }
  for (const char* path :
       {"link.preset", "link.mps", "link.mrrs", "link.identity", "link.dhi_form", "link.error_rate",
        "workload.kind", "workload.payload", "workload.requests", "workload.domains", "workload.at",
        "device.dhi.bits", "device.dhi.on_miss", "device.dhi.alloc_order", "device.functions.count",
        "run.seed", "run.warmup", "message.packing"}) {
    EXPECT_EQ(paths.count(path), 1U) << path;
  }
}

TEST(AllKeys, MarkdownHasARowForEach) {
  const std::string page = schema_markdown();
  for (const KeyInfo& key : all_keys()) {
    EXPECT_NE(page.find("| `" + key.path + "` |"), std::string::npos) << key.path;
  }
}

}  // namespace
}  // namespace flitwise::effective_test
