// SPDX-License-Identifier: Apache-2.0
// result.json: every key of the format is there, numbers are numbers, derived figures are right.
#include "results/result_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "unit/results/sample_result.h"

namespace flitwise::result_json_test {
namespace {

using Json = nlohmann::ordered_json;

std::set<std::string> keys(const Json& object) {
  std::set<std::string> all;
  for (const auto& [key, value] : object.items()) {
    all.insert(key);
  }
  return all;
}

void expect_keys(const Json& object, const std::set<std::string>& wanted) {
  const auto there = keys(object);
  for (const std::string& key : wanted) {
    EXPECT_EQ(there.count(key), 1U) << key;
  }
}

TEST(ResultJson, EveryTopLevelKeyIsAlwaysThere) {
  for (const RunResult& result : {RunResult(), sample_result()}) {
    expect_keys(result_json(result), {"flitwise", "config", "links", "latency", "dhi", "iommu",
                                      "ats", "pio", "hca", "srdma", "network", "errors", "checks"});
  }
}

TEST(ResultJson, EachFunctionWithAnAtcHasItsCounts) {
  EXPECT_EQ(result_json(RunResult())["ats"], Json::array());
  EXPECT_EQ(result_json(sample_result())["ats"][0], Json({{"function", "ep0.0"},
                                                          {"requests", 4},
                                                          {"hits", 90},
                                                          {"misses", 10},
                                                          {"misses_under_miss", 5},
                                                          {"invalidations", 2},
                                                          {"page_requests", 1}}));
}

TEST(ResultJson, HeadNamesVersionSeedAndConfig) {
  const Json head = result_json(sample_result())["flitwise"];
  EXPECT_EQ(head["version"], FLITWISE_VERSION);
  EXPECT_EQ(head["seed"], 7);
  EXPECT_EQ(head["config_sha256"], "0123456789abcdef");
  EXPECT_DOUBLE_EQ(head["simulated_ns"], 150);
  EXPECT_DOUBLE_EQ(head["host_seconds"], 0.25);
}

TEST(ResultJson, EachDirectionHasEveryKeyOfTheFormat) {
  for (const char* name : {"up", "down"}) {
    const Json direction = result_json(sample_result())["links"][0][name];
    expect_keys(direction, {"tlps", "payload_bytes", "goodput_gbps", "utilisation",
                            "link_efficiency", "wire_bytes", "wire_bits", "stall_ns"});
    expect_keys(direction["wire_bytes"], {"header", "identity", "payload", "padding", "framing",
                                          "crc", "dllp", "fec", "phy", "replay", "idle", "total"});
    expect_keys(direction["wire_bits"],
                {"header", "identity", "payload", "padding", "crc", "total"});
    expect_keys(direction["stall_ns"],
                {"credits_posted", "credits_nonposted", "credits_completion", "credits_cxl_req",
                 "credits_cxl_rsp", "credits_cxl_data", "tags", "replay_buffer", "handle"});
    for (const char* group : {"wire_bytes", "wire_bits", "stall_ns"}) {
      for (const auto& [key, value] : direction[group].items()) {
        EXPECT_TRUE(value.is_number()) << group << "." << key;
      }
    }
  }
}

TEST(ResultJson, WirePartsAddUpToTheTotal) {
  const Json bytes = result_json(sample_result())["links"][0]["up"]["wire_bytes"];
  double sum = 0;
  for (const auto& [key, value] : bytes.items()) {
    sum += key == "total" ? 0 : value.get<double>();
  }
  EXPECT_DOUBLE_EQ(sum, bytes["total"].get<double>());
  EXPECT_DOUBLE_EQ(bytes["phy"], 15.25) << "bits that are no whole bytes keep their fraction";
  EXPECT_TRUE(bytes["header"].is_number_integer());
}

TEST(ResultJson, DerivedFiguresFollowTheirDefinitions) {
  const Json up = result_json(sample_result())["links"][0]["up"];
  EXPECT_DOUBLE_EQ(up["link_efficiency"], 5120.0 / 7642.0);
  EXPECT_DOUBLE_EQ(up["goodput_gbps"], 51.2);
  EXPECT_DOUBLE_EQ(up["utilisation"], 7642.0 / 10000.0);
}

TEST(ResultJson, GoodputOfADirectionWithoutTlpsIsNull) {
  const Json down = result_json(sample_result())["links"][0]["down"];
  EXPECT_TRUE(down["goodput_gbps"].is_null());
  EXPECT_DOUBLE_EQ(down["link_efficiency"], 0);
}

TEST(ResultJson, WireBitsAreFilledForBitPackedCarriersOnly) {
  RunResult result = sample_result();
  EXPECT_EQ(result_json(result)["links"][0]["up"]["wire_bits"]["total"], 0);
  result.rows<LinkResult>()[0].is_bit_packed = true;
  const Json bits = result_json(result)["links"][0]["up"]["wire_bits"];
  EXPECT_EQ(bits["payload"], 5120);
  EXPECT_EQ(bits["total"], 1280 + 320 + 5120 + 0 + 320);
}

TEST(ResultJson, LatencyNamesItsUnit) {
  const Json latency = result_json(sample_result())["latency"][0];
  expect_keys(latency,
              {"name", "count", "unit", "mean", "min", "p50", "p90", "p99", "p999", "max"});
  EXPECT_EQ(latency["unit"], "ns");
  EXPECT_DOUBLE_EQ(latency["p99"], 115);
}

TEST(ResultJson, HandleTableHasItsCountersAndRejectionsByKind) {
  const Json dhi = result_json(sample_result())["dhi"][0];
  expect_keys(dhi, {"device", "lookups", "hits", "allocs", "deallocs", "evictions", "bypasses",
                    "stall_ns", "rejected", "wrong_domain", "tlps_per_residency"});
  EXPECT_DOUBLE_EQ(dhi["stall_ns"], 30);
  EXPECT_EQ(dhi["rejections"]["out_of_range"], 1);
}

TEST(ResultJson, ErrorsAndChecksAreListsOfObjects) {
  const Json json = result_json(sample_result());
  EXPECT_EQ(json["errors"][0]["kind"], "unsupported_request");
  EXPECT_EQ(json["errors"][0]["count"], 2);
  EXPECT_EQ(json["checks"][0]["ok"], true);
  EXPECT_EQ(json["checks"][1]["detail"], "3 missing");
}

TEST(ResultJson, SameNumbersGiveTheSameBytes) {
  EXPECT_EQ(result_text(sample_result()), result_text(sample_result()));
  EXPECT_EQ(result_text(sample_result()).back(), '\n');
}

TEST(FiguresRow, ColumnsAreNamedByDirectionLatencyAndTable) {
  const Json row = figures_row(result_json(sample_result()));
  EXPECT_DOUBLE_EQ(row["up_goodput_gbps"], 51.2);
  EXPECT_EQ(row["up_wire_bytes_header"], 160);
  EXPECT_TRUE(row["down_goodput_gbps"].is_null());
  EXPECT_DOUBLE_EQ(row["dma_write_p99_ns"], 115);
  EXPECT_EQ(row["dma_write_count"], 10);
  EXPECT_EQ(row["dhi_hits"], 8);
  EXPECT_EQ(row["dhi_rejections_out_of_range"], 1);
  EXPECT_EQ(row["iommu_page_requests"], sample_result().rows<IommuResult>().at(0).page_requests);
  EXPECT_FALSE(row.contains("iommu_name"));
  EXPECT_EQ(row["errors_unsupported_request"], 2);
  EXPECT_EQ(row["checks_failed"], 1);
}

TEST(FiguresRow, FurtherLinksAndDevicesCarryTheirName) {
  RunResult result = sample_result();
  result.rows<LinkResult>().push_back(result.rows<LinkResult>()[0]);
  result.rows<LinkResult>()[1].name = "rp1-ep1";
  result.rows<DhiResult>().push_back(result.rows<DhiResult>()[0]);
  result.rows<DhiResult>()[1].device = "ep1";
  const Json row = figures_row(result_json(result));
  EXPECT_EQ(row["rp1-ep1_up_tlps"], 10);
  EXPECT_EQ(row["ep1_dhi_hits"], 8);
  for (const auto& [column, value] : row.items()) {
    EXPECT_FALSE(owners_of_column(column).empty()) << column;
  }
}

TEST(FiguresRow, AColumnIsKnownByItsNameAlone) {
  using testing::ElementsAre;
  for (const std::string always :
       {"simulated_ns", "up_tlps", "down_wire_bytes_header", "dhi_hits", "dhi_rejections_any",
        "iommu_walks", "ats_hits", "wait_walkers_wait_ns", "attack_pasid_tried", "errors_any"}) {
    EXPECT_THAT(owners_of_column(always), ElementsAre("")) << always;
  }
  EXPECT_THAT(owners_of_column("rp1-ep1_up_tlps"), ElementsAre("rp1-ep1"));
  EXPECT_THAT(owners_of_column("ep1_dhi_rejections_any"), ElementsAre("ep1"));
  EXPECT_THAT(owners_of_column("h1.iommu0_iommu_walks"), ElementsAre("h1.iommu0"));
  EXPECT_THAT(owners_of_column("dma_write_p99_ns"), ElementsAre("dma_write"));
  for (const std::string other :
       {"goodput", "tlps", "p99_ns", "count", "up", "my_ats_hits", "wait_wait_ns", "up_tlps_gain",
        "iommu_name", "wait_walkers_waits", "explain_share", "xup_tlps"}) {
    EXPECT_THAT(owners_of_column(other), ElementsAre()) << other;
  }
}

}  // namespace
}  // namespace flitwise::result_json_test
