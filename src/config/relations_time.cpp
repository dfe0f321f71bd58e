// SPDX-License-Identifier: Apache-2.0
// Times that a run has to wait for before it may call its machine dead.
#include "config/relations.h"

#include <algorithm>
#include <string_view>

#include "common/quantity.h"
#include "common/ranges.h"
#include "config/sections/sections.h"
#include "link/cxl_retry.h"
#include "link/lane_stream.h"
#include "stats/progress_watch.h"

namespace flitwise::config {
namespace {

/// Patience begins anew behind these (docs/statistics.md, "When a run ends by itself").
constexpr std::string_view kWaitedFor[] = {"run.deadlock_after",
                                           "device.dma.issue_interval",
                                           "host.memory.timing.latency",
                                           "iommu.timing.invalidate_timeout",
                                           "device.rdma.shares.change_at",
                                           "host.iommu_driver.map_latency",
                                           "host.iommu_driver.flush_after",
                                           "host.iommu_driver.remap_after"};
/// No part of the way of a request: timers, and steps of software, each of which is progress.
constexpr std::string_view kNotOnTheWay[] = {
    "host.iommu_driver.step",         "host.timing.software_step",
    "host.timing.completion_timeout", "link.timing.retrain",
    "link.cxl.timing.retry_timeout",  "link.cxl.timing.ack_after",
    "link.timing.replay_timeout",     "device.timing.completion_timeout"};

/// Its flits stop until the Acks of those before them go by their timer, for want of as many as are
/// sent at once. [CXL-3.4]
bool waits_for_acks(const LinkConfig& link) {
  return link.preset.cxl == CxlFlits::k68 && link.cxl.retry_flits < kAcksForLlcrd;
}

/// Firmware that is not there waits for nothing, and of a network links alone are on the way.
bool is_of_nobody(const Config& config, const std::string& path) {
  const auto is_below = [&path](const char* group) { return path.rfind(group, 0) == 0; };
  return (!config.device.rdma.pretranslation.is_on && is_below("device.rdma.pretranslation.")) ||
         is_below("device.srdma.") ||
         (is_below("network.") && !is_below("network.switch.") &&
          (path != "network.timing.hop" || config.network.topology <= NetworkTopology::kSwitch));
}

/// To three digits.
std::int64_t rounded_up(std::int64_t time) {
  std::int64_t unit = 1;
  while (time / unit >= 1'000) {
    unit *= 10;
  }
  return (time + unit - 1) / unit * unit;
}

}  // namespace

/// No part of a machine has stopped for good before what is under way has taken the time that it
/// takes, and a timer has run out: of completions [LNK-9.18], of replays [LNK-7.18] [CXL-3.7], of
/// Acks [CXL-3.4]. Every time of the tables is looked at, but for those that a run waits for
/// anyway. model: a request may pass a part that takes a time on its way, and again on its way
/// back.
void check_patience(const Config& config, BrokenRelations& broken) {
  const std::int64_t patience = config.run.deadlock_after.fs;
  const auto text = [](std::int64_t time) { return write_quantity(time, time_dimension()); };
  std::int64_t way = 0, longest = 0;
  std::string longest_path;
  bool is_one_too_long = false;
  for (const Key& key : all_rows()) {
    if (key.unit != "time" || contains(kWaitedFor, key.path) || is_of_nobody(config, key.path)) {
      continue;
    }
    const auto written = key.write(config).get<std::string>();  // a word: follows from others
    const std::int64_t time = read_quantity(written, time_dimension()).value.value_or(0);
    const bool is_of_completions = key.path.find(".completion_timeout") != std::string::npos;
    is_one_too_long |=
        broken.add_if(time > patience, {"run.deadlock_after", key.path},
                      "a run without progress counts as a deadlock after {}, but {} {}; expected "
                      "run.deadlock_after of at least {}, or a shorter {}",
                      text(patience),
                      is_of_completions ? "a request without completion gives up after"
                                        : key.path + " alone takes",
                      written, written, key.path);
    const bool is_ack_awaited =
        key.path == "link.cxl.timing.ack_after" && waits_for_acks(config.link);
    if (is_ack_awaited || !contains(kNotOnTheWay, key.path)) {
      way += time;
      longest_path = time > longest ? key.path : longest_path;
      longest = std::max(longest, time);
    }
  }
  const std::int64_t both_ways = rounded_up(2 * way);
  broken.add_if(!is_one_too_long && 2 * way > patience, {"run.deadlock_after", longest_path},
                "a run without progress counts as a deadlock after {}, but a request may take {} "
                "for its way there and back, {} of it for each {}; expected run.deadlock_after of "
                "at least {}, or shorter times",
                text(patience), text(both_ways), text(longest), longest_path, text(both_ways));
}

/// A run that ends late in simulated time, or behind the end of what Time can say. The least that
/// it takes: what its requests move over a link and through memory, and its own pace.
void check_duration(const Config& config, BrokenRelations& broken) {
  const WorkloadConfig& workload = config.workload;
  if (workload.kind == WorkloadKind::kTrace) {
    return;  // it says when
  }
  const std::uint64_t all = workload.requests + config.run.warmup;
  const auto requests = static_cast<double>(all);
  const bool is_dma = workload.via == WorkloadVia::kDma, is_pio = workload.via == WorkloadVia::kPio;
  const bool has_size =
      (is_dma || is_pio) && workload.sizes.empty() && workload.kind != WorkloadKind::kHostile;
  const double bits = has_size ? requests * 8 * static_cast<double>(workload.payload) : 0;
  const LineCoding coding = line_coding(config.link.preset, config.link.skp);
  const double bandwidth = config.host.memory.bandwidth_gbps;
  const bool has_rate = workload.arrival != Arrival::kClosedLoop;
  const double most = kLongestRun.ns() / 1e9;
  const auto check = [&](const char* path, double seconds) {
    broken.add_if(seconds > most, {"workload.requests", "run.warmup", path},
                  "{} requests, the warm-up included, take {:.0f} s of simulated time or more; "
                  "expected at most {:.0f} s: fewer requests, or another {}",
                  all, seconds, most, path);
  };
  check("link.preset", bits * static_cast<double>(coding.unit_interval_fs) / 1e15 / coding.lanes);
  check("host.memory.bandwidth", is_dma && bandwidth > 0 ? bits / (bandwidth * 1e9) : 0);
  check("workload.rate", has_rate ? requests / (workload.rate_mrps * 1e6) : 0);
  check("device.dma.issue_interval", is_pio || workload.via == WorkloadVia::kRdma
                                         ? 0
                                         : requests * config.device.dma.issue_interval.ns() / 1e9);
}

}  // namespace flitwise::config
