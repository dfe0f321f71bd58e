// SPDX-License-Identifier: Apache-2.0
// CXL.mem against the published rows of link efficiency, saturated, without SKP, and what becomes
// of it on bad links.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "validation/simulate_in_child.h"

namespace flitwise::cxl_mem_test {
namespace {

using Json = nlohmann::ordered_json;

Simulation saturated(const char* kind, std::vector<std::string> more = {}) {
  Simulation run{
      "bench/cxl_mem_read_64B.yaml",
      {"link.skp=off", fmt::format("workload.kind={}", kind), "workload.requests=20000",
       "run.warmup=1000", "host.cxl_mem.outstanding=1024", "link.cxl.req_credits=1024",
       "link.cxl.rsp_credits=1024", "link.cxl.data_credits=1024", "link.cxl.queue_depth=1024"}};
  run.sets.insert(run.sets.end(), more.begin(), more.end());
  return run;
}

// Of the bytes of flits: line coding and what nobody asked for are not theirs. [published rows 52+]
double efficiency(const Json& direction) {
  const auto bytes = [&](const char* part) {
    return direction.at("wire_bytes").at(part).get<double>();
  };
  return bytes("payload") / (bytes("total") - bytes("phy") - bytes("idle"));
}

TEST(CxlMem, CXL_2_5_ReadDataFillTheFlitsAsPublished) {
  const std::vector<Json> results = simulate_in_children({saturated("read")});
  ASSERT_FALSE(results[0].contains("failed")) << results[0];
  const Json& up = results[0].at("links")[0].at("up");
  EXPECT_NEAR(efficiency(up) / (128 / (2.25 * 68)), 1, 0.01) << "row 53";
  // 52.7 GB/s on 16 lanes of 32 GT/s, less the sync headers.
  EXPECT_NEAR(up.at("goodput_gbps").get<double>() / 8 / (52.7 * 128 / 130), 1, 0.02);
}

TEST(CxlMem, CXL_2_7_WritesFillTheFlitsAsPublished) {
  const std::vector<Json> results = simulate_in_children({saturated("posted_write")});
  ASSERT_FALSE(results[0].contains("failed")) << results[0];
  const Json& down = results[0].at("links")[0].at("down");
  EXPECT_NEAR(efficiency(down) / (64 / (1.25 * 68)), 1, 0.01) << "row 56";
}

// Writes have data credits of their own: the few of M2S Req do not bind them.
TEST(CxlMem, CXL_1_6_WritesNeedNoRequestCredits) {
  std::vector<Simulation> runs;
  for (const char* preset : {"cxl68_gen5x16", "cxl256_gen6x16"}) {
    for (const char* credits : {"4", "1024"}) {
      runs.push_back(saturated("posted_write", {fmt::format("link.preset={}", preset),
                                                fmt::format("link.cxl.req_credits={}", credits)}));
    }
  }
  const std::vector<Json> results = simulate_in_children(runs);
  const auto goodput = [&](std::size_t i) {
    EXPECT_FALSE(results[i].contains("failed")) << results[i];
    return results[i].at("links")[0].at("down").at("goodput_gbps").get<double>();
  };
  EXPECT_NEAR(goodput(0) / goodput(1), 1, 0.001);
  EXPECT_NEAR(goodput(2) / goodput(3), 1, 0.001);
}

// With c credits, c reads are in the loop of a credit: rate x loop = c. The loop is what one read
// takes with one credit, and all but the moment of sending is spent waiting for it.
TEST(CxlMem, CXL_3_1_WaitsForCreditsFollowLittlesLaw) {
  for (const char* preset : {"cxl68_gen5x16", "cxl256_gen6x16"}) {
    std::vector<Simulation> runs;
    for (const char* credits : {"1", "2", "4", "1024"}) {
      runs.push_back(saturated(
          "read", {fmt::format("link.preset={}", preset),
                   fmt::format("link.cxl.req_credits={}", credits), "workload.requests=4000"}));
    }
    const std::vector<Json> results = simulate_in_children(runs);
    const auto credit_stall = [](const Json& direction, const char* credit) {
      return direction.at("stall_ns").at(credit).get<double>();
    };
    double loop = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      SCOPED_TRACE(runs[i].text());
      ASSERT_FALSE(results[i].contains("failed")) << results[i];
      const Json& link = results[i].at("links")[0];
      const Json& down = link.at("down");
      const double window = down.at("window_ns").get<double>();
      const double period = window / down.at("tlps").get<double>();
      const double waited = credit_stall(down, "credits_cxl_req");
      for (const char* credit : {"credits_cxl_req", "credits_cxl_rsp", "credits_cxl_data"}) {
        EXPECT_EQ(credit_stall(link.at("up"), credit), 0) << credit;
      }
      EXPECT_EQ(credit_stall(down, "credits_cxl_data"), 0);
      if (i == 3) {
        EXPECT_EQ(waited, 0) << "more credits than reads";
        break;
      }
      loop = i == 0 ? period : loop;
      EXPECT_NEAR(loop / period, 1U << i, 0.06 * (1U << i));
      EXPECT_LT(waited, window);
      EXPECT_GT(waited, window * 0.9);
    }
  }
}

// A read alone on the link: bridge, flit, flight, controller, memory, and back.
TEST(CxlMem, CXL_3_8_AReadAloneTakesTheSumOfItsParts) {
  const std::vector<Json> results = simulate_in_children(
      {saturated("read", {"workload.requests=200", "run.warmup=0", "host.cxl_mem.outstanding=1"})});
  ASSERT_FALSE(results[0].contains("failed")) << results[0];
  const double mean = results[0].at("latency")[0].at("mean").get<double>();
  const double parts = 25 + 35 + 15 + 80 + 15 + 35 + 25;  // defaults
  EXPECT_GT(mean, parts + 2);                             // one flit down, two up
  EXPECT_LT(mean, parts + 10);                            // and clock edges
}

// Rows 57 to 60.
TEST(CxlMem, CXL_4_7_256ByteFlitsReachThePublishedShares) {
  struct Row {
    const char* kind;
    const char* latency_optimised;
    double share;
  };
  constexpr Row kRows[] = {{"posted_write", "false", 0.75},
                           {"read", "false", 0.846},
                           {"posted_write", "true", 0.70},
                           {"read", "true", 0.8125}};
  for (const char* preset : {"cxl256_gen6x16", "cxl256_gen6x2"}) {
    std::vector<Simulation> runs;
    for (const Row& row : kRows) {
      runs.push_back(saturated(
          row.kind, {fmt::format("link.preset={}", preset),
                     fmt::format("link.cxl.latency_optimised={}", row.latency_optimised)}));
    }
    const std::vector<Json> results = simulate_in_children(runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      SCOPED_TRACE(runs[i].text());
      ASSERT_FALSE(results[i].contains("failed")) << results[i];
      const bool is_read = std::string(kRows[i].kind) == "read";
      const Json& data = results[i].at("links")[0].at(is_read ? "up" : "down");
      // Of all that the lanes carry: what a slot cannot hold is lost as well.
      const double lanes = std::string(preset) == "cxl256_gen6x16" ? 16 : 2;
      EXPECT_NEAR(data.at("goodput_gbps").get<double>() / (64 * lanes * kRows[i].share), 1, 0.01);
    }
  }
}

// Nothing is lost, comes twice or out of order: as the checks and monitors of every run say.
TEST(CxlMem, CXL_6_2_NothingIsLostOnBadLinksIn256ByteFlits) {
  constexpr std::uint64_t kRequests = 60'000;
  std::vector<Simulation> runs;
  for (const char* rate : {"1e-6", "1e-5"}) {
    for (const char* burst : {"1", "20"}) {
      for (const char* latency_optimised : {"false", "true"}) {
        runs.push_back(saturated(
            "read_write",
            {"link.preset=cxl256_gen6x16", "run.warmup=0", "workload.payload=80B",
             fmt::format("workload.requests={}", kRequests),
             fmt::format("link.error_rate={}", rate), fmt::format("link.error_burst={}", burst),
             fmt::format("link.cxl.latency_optimised={}", latency_optimised)}));
      }
    }
  }
  const std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    SCOPED_TRACE(runs[i].text());
    const Json& result = results[i];
    ASSERT_FALSE(result.contains("failed")) << result;
    std::uint64_t answered = 0, replays = 0;
    for (const Json& latency : result.at("latency")) {
      const bool is_of_requests = latency.at("name") != "dma_write_tlp";
      answered += is_of_requests ? latency.at("count").get<std::uint64_t>() : 0;
    }
    EXPECT_EQ(answered, kRequests);
    for (const char* direction : {"up", "down"}) {
      const Json& way = result.at("links")[0].at(direction);
      EXPECT_EQ(way.at("tlps").get<std::uint64_t>(), 2 * kRequests) << "two lines a request";
      replays += way.at("replays").get<std::uint64_t>();
    }
    EXPECT_TRUE(replays > 0 || i < 2) << "FEC mends nearly all single bits";
    for (const Json& check : result.at("checks")) {
      EXPECT_TRUE(check.at("ok").get<bool>()) << check;
    }
    EXPECT_TRUE(result.at("errors").empty()) << result.at("errors");
    EXPECT_TRUE(result.at("violations").empty()) << result.at("violations");
  }
}

// MemRd and MemData are each used half a flit earlier. Flits begin on a grid: what the answer waits
// for the next one depends on the memory's latency, so that the mean over all phases counts.
TEST(CxlMem, CXL_6_6_ReadsOnAnUnloadedLinkSaveHalfAFlitEachWay) {
  constexpr unsigned kPhases = 4;
  for (const unsigned lanes : {16U, 4U, 1U}) {
    const double flit = 32.0 / lanes;
    std::vector<Simulation> runs;
    for (unsigned i = 0; i < 2 * kPhases; ++i) {
      runs.push_back({"bench/cxl_mem_read_64B.yaml",
                      {fmt::format("link.preset=cxl256_gen6x{}", lanes), "link.skp=off",
                       "link.timing.clock=10ps", "workload.requests=400", "run.warmup=0",
                       "workload.arrival=poisson", "workload.rate=1Mreq/s",
                       fmt::format("device.cxl.timing.latency={}ns", 80 + i / 2 * flit / kPhases),
                       fmt::format("link.cxl.latency_optimised={}", i % 2 == 1)}});
    }
    const std::vector<Json> results = simulate_in_children(runs);
    double saved = 0;
    for (unsigned i = 0; i < 2 * kPhases; ++i) {
      ASSERT_FALSE(results[i].contains("failed")) << results[i];
      const double mean = results[i].at("latency")[0].at("mean").get<double>();
      saved += (i % 2 == 0 ? mean : -mean) / kPhases;
    }
    EXPECT_NEAR(saved / flit, 1, 0.05) << lanes;
  }
}

double window_ns(const Json& result) {
  return result.at("flitwise").at("simulated_ns").get<double>();
}

// The wire carries what Acks make room for; the rest of the window is the wait for that room, but
// for the way to the next edge of the clock behind each Ack.
TEST(CxlMem, CXL_3_5_AFullRetryBufferIsAStallForTheRestOfTheWindow) {
  struct Case {
    const char* kind;
    const char* direction;
  };
  const std::vector<Case> cases = {{"posted_write", "down"}, {"read", "up"}};
  std::vector<Simulation> runs;
  for (const Case& one : cases) {
    for (const char* flits : {"8", "64", "255"}) {
      runs.push_back(saturated(one.kind, {fmt::format("link.cxl.retry_flits={}", flits)}));
    }
  }
  const std::vector<Json> results = simulate_in_children(runs);
  for (std::size_t i = 0; i < results.size(); ++i) {
    ASSERT_FALSE(results[i].contains("failed")) << results[i];
    const std::size_t of_kind = i / 3;
    const auto direction = [&](std::size_t run) -> const Json& {
      return results[run].at("links")[0].at(cases[of_kind].direction);
    };
    SCOPED_TRACE(runs[i].text());
    const auto goodput = [&](std::size_t run) {
      return direction(run).at("goodput_gbps").get<double>();
    };
    const double stalled =
        direction(i).at("stall_ns").at("replay_buffer").get<double>() / window_ns(results[i]);
    EXPECT_NEAR(stalled, 1 - goodput(i) / goodput(of_kind * 3 + 2), 0.06);
    if (i % 3 == 0) {
      EXPECT_GT(stalled, 0.85) << "8 flits a round trip";
    } else if (i % 3 == 2) {
      EXPECT_EQ(stalled, 0) << "more than a round trip takes";
    }
  }
}

}  // namespace
}  // namespace flitwise::cxl_mem_test
