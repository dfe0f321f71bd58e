// SPDX-License-Identifier: Apache-2.0
// Every time of the tables is looked at, but for those that a run waits for anyway.
#include "config/patience_relations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "config/quantity.h"
#include "config/table.h"

namespace flitwise::config {
namespace {

/// Patience begins anew behind these (docs/statistics.md, "When a run ends by itself").
constexpr std::array<std::string_view, 7> kWaitedFor = {"run.deadlock_after",
                                                        "device.dma.issue_interval",
                                                        "host.memory.timing.latency",
                                                        "iommu.timing.invalidate_timeout",
                                                        "host.iommu_driver.map_latency",
                                                        "host.iommu_driver.flush_after",
                                                        "host.iommu_driver.remap_after"};

bool is_completion_timeout(const std::string& path) {
  return path == "device.timing.completion_timeout" || path == "host.timing.completion_timeout";
}

}  // namespace

void add_short_patience(const Config& config, std::vector<BrokenRelation>& broken) {
  const Time patience = config.run.deadlock_after;
  for (const Key& key : all_rows()) {
    if (key.unit != "time" ||
        std::find(kWaitedFor.begin(), kWaitedFor.end(), key.path) != kWaitedFor.end()) {
      continue;
    }
    const auto written = key.write(config).get<std::string>();
    const Read<std::int64_t> time = read_quantity(written, time_dimension());
    if (time.value.value_or(0) <= patience.fs) {
      continue;  // or a word, which stands for a time that follows from others
    }
    broken.push_back(
        {{"run.deadlock_after", key.path},
         fmt::format("a run without progress counts as a deadlock after {}, but {} {}; expected "
                     "run.deadlock_after of at least {}, or a shorter {}",
                     write_quantity(patience.fs, time_dimension()),
                     is_completion_timeout(key.path) ? "a request without completion gives up after"
                                                     : key.path + " alone takes",
                     written, written, key.path)});
  }
}

}  // namespace flitwise::config
