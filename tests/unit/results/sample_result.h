// SPDX-License-Identifier: Apache-2.0
/// A run's numbers made up by hand, so that every derived figure can be checked by reckoning.
#pragma once

#include "flitwise/result.h"

namespace flitwise {

/// 10 posted writes of 64 B in 100 ns on rp0-ep0, nothing downstream but two Acks.
inline RunResult sample_result() {
  RunResult result;
  result.seed = 7;
  result.simulated = Time::from_ns(150);
  result.host_seconds = 0.25;
  result.config_json = R"({"run": {"seed": 7}})";
  result.config_sha256 = "0123456789abcdef";
  LinkResult link;
  link.name = "rp0-ep0";
  link.up.tlps = 10;
  link.up.payload_bytes = 640;
  link.up.first_symbol = Time::from_ns(20);
  link.up.last_symbol = Time::from_ns(120);
  link.up.window = Time::from_ns(150);
  link.up.bits = {1280, 320, 5120, 0, 480, 320, 0, 0, 122, 0, 2358};
  link.up.stalls.credits_posted = Time::from_ps(1'500);
  link.up.replays = 3;
  link.down.window = Time::from_ns(150);
  link.down.acks = 2;
  link.down.bits.dllp = 128;
  link.down.bits.idle = 9872;
  result.rows<LinkResult>().push_back(link);
  result.rows<LatencyResult>().push_back({"dma_write", 10, 100, 90, 99, 110, 115, 118, 120});
  DhiResult dhi;
  dhi.device = "ep0";
  dhi.lookups = 10;
  dhi.hits = 8;
  dhi.allocs = 2;
  dhi.stall = Time::from_ns(30);
  dhi.tlps_per_residency = 5;
  dhi.rejected = 1;
  dhi.handles_kept = 3;
  dhi.rejections = {{"out_of_range", 1}};
  result.rows<DhiResult>().push_back(dhi);
  result.errors = {{"unsupported_request", 2}};
  IommuResult agent;
  agent.name = "iommu0";
  agent.requests = 5;
  agent.walks = 3;
  result.rows<IommuResult>() = {agent};
  result.rows<AtsResult>() = {{{4, 90, 10, 5, 2, 1}, "ep0.0"}};
  result.rows<WaitResult>() = {
      {{"iommu0", "walkers", ResourceRole::kServer, "up", "", "iommu.walkers", 4},
       6,
       Time::from_ns(900)},
      {{"rp0-ep0", "posted_headers", ResourceRole::kSlots, "up", "write",
        "link.credits.posted_headers", 32},
       1,
       Time::from_ps(1'500),
       Time::from_ps(1'500)}};
  result.rows<ExplainResult>() = {
      {"rp0-ep0",
       "up",
       "write",
       {"iommu0", "walkers", "iommu.walkers", 0.93, Time::from_ns(900), "8"},
       {}}};
  result.violations = {
      {"LNK-8.3", "a TLP lacks credits", "rp0-ep0", true, Time::from_ns(120), "MWr", "limit 3"}};
  result.checks = {{"every byte arrived once", true, ""}, {"credits returned", false, "3 missing"}};
  return result;
}

}  // namespace flitwise
