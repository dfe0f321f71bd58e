// SPDX-License-Identifier: Apache-2.0
// Times that a run has to wait for before it may call its machine dead.
#include "config/relations.h"

#include <algorithm>
#include <string_view>

#include "common/quantity.h"
#include "common/ranges.h"
#include "config/sections/sections.h"

namespace flitwise::config {
namespace {

/// Patience begins anew behind these (docs/statistics.md, "When a run ends by itself").
constexpr std::string_view kWaitedFor[] = {"run.deadlock_after",
                                           "device.dma.issue_interval",
                                           "host.memory.timing.latency",
                                           "iommu.timing.invalidate_timeout",
                                           "host.iommu_driver.map_latency",
                                           "host.iommu_driver.flush_after",
                                           "host.iommu_driver.remap_after"};
/// No part of the way of a request: timers, and steps of software, each of which is progress.
constexpr std::string_view kNotOnTheWay[] = {
    "host.iommu_driver.step",         "host.timing.software_step",
    "host.timing.completion_timeout", "link.timing.retrain",
    "link.cxl.timing.retry_timeout",  "link.cxl.timing.ack_after",
    "link.timing.replay_timeout",     "device.timing.completion_timeout"};

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
    if (key.unit != "time" || contains(kWaitedFor, key.path)) {
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
    if (!contains(kNotOnTheWay, key.path)) {
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

}  // namespace flitwise::config
