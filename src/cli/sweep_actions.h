// SPDX-License-Identifier: Apache-2.0
/// What the subcommands of `flitwise sweep` do.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace flitwise::cli {

struct SweepOptions {
  std::string input;  ///< sweep file, manifest or folder, as the subcommand says
  std::string folder;
  std::vector<std::string> sets;
  std::string engine = "local";
  unsigned jobs = 0;  ///< 0: one a core
  unsigned retries = 1;
  std::size_t index = 0;
};

int sweep_plan(const SweepOptions& options);
int sweep_run(const SweepOptions& options);
int sweep_point(const SweepOptions& options);
int sweep_status(const SweepOptions& options);
int sweep_merge(const SweepOptions& options);
int sweep_resume(const SweepOptions& options);

}  // namespace flitwise::cli
