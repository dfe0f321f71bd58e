// SPDX-License-Identifier: Apache-2.0
// System::run inside the kernel, with a stopwatch.
#include "cli/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "cli/commands.h"
#include "common/interrupt.h"
#include "config/load.h"
#include "flitwise/system.h"
#include "results/summary_table.h"
#include "system/kernel.h"

namespace flitwise::cli {

SimulatedRun simulate(const Config& config, std::string* config_space) {
  watch_for_interrupt();
  SimulatedRun run;
  RunResult& result = run.result;
  print_warnings(config);
  const auto start = std::chrono::steady_clock::now();
  run_in_kernel([&] {
    System system(config);
    if (config_space != nullptr) {
      *config_space = system.config_space();
    }
    result = system.run();
    run.end = !system.is_cut_short()  ? RunEnd::kComplete
              : system.has_measured() ? RunEnd::kInterrupted
                                      : RunEnd::kInterruptedBeforeWindow;
    return kOk;
  });
  result.host_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.seed = config.run.seed;
  result.config_json = effective_config(config).dump();
  result.config_sha256 = config_sha256(config);
  if (const std::string text = refusal_text(result);
      run.end == RunEnd::kComplete && !text.empty()) {
    fmt::print(stderr, "flitwise: warning: {}\n", text);
  }
  if (config.faults.broken_rules != 0 && result.violations.empty()) {
    fmt::print(
        stderr,
        "flitwise: faults.break broke nothing: no monitor spoke. docs/monitors.md says which "
        "traffic each rule needs to be broken\n");
  }
  return run;
}

int exit_code_of(const SimulatedRun& run) {
  const RunResult& result = run.result;
  if (run.end != RunEnd::kComplete) {
    fmt::print(stderr, "flitwise: interrupted{}\n",
               run.end == RunEnd::kInterrupted
                   ? "; the figures cover the run up to there"
                   : " before the measured window began; nothing was measured");
    return kInterrupted;
  }
  int code = kOk;
  for (const CheckResult& check : result.checks) {
    if (!check.ok) {
      fmt::print(stderr, "flitwise: check failed: {}: {}\n", check.name, check.detail);
      code = kSimulationError;
    }
  }
  constexpr std::size_t kMostPrinted = 5;
  for (std::size_t i = 0; i < std::min(result.violations.size(), kMostPrinted); ++i) {
    fmt::print(stderr, "flitwise: violation: {}", text_of(result.violations[i]));
  }
  return code;
}

}  // namespace flitwise::cli
