// SPDX-License-Identifier: Apache-2.0
// flitwise sweep point: one simulation, one result file.
#include <fmt/format.h>

#include "cli/exit_codes.h"
#include "cli/simulate.h"
#include "cli/sweep_actions.h"
#include "common/atomic_file.h"
#include "results/result_json.h"
#include "sweep/plan.h"

namespace flitwise::cli {

int sweep_point(const SweepOptions& options) {
  const Point point = read_manifest_line(options.input, options.index);
  check_places(options.folder, point);
  if (has_result(options.folder, point)) {
    fmt::print("point {} ({}): cached\n", point.index, point.id);
    return kOk;
  }
  const SimulatedRun run = simulate(config_of(point));
  const RunResult& result = run.result;
  if (run.end != RunEnd::kComplete) {
    return kInterrupted;
  }
  nlohmann::ordered_json json = result_json(result);
  json["point"] = {{"id", point.id}, {"block", point.block}, {"seed", point.seed}};
  write_files_together(
      {{result_path(options.folder, point),
        json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"}});
  fmt::print("point {} ({}): done in {:.2f} s\n", point.index, point.id, result.host_seconds);
  for (const CheckResult& check : result.checks) {
    if (!check.ok) {
      fmt::print(stderr, "check failed: {}: {}\n", check.name, check.detail);
    }
  }
  return kOk;
}

}  // namespace flitwise::cli
