// SPDX-License-Identifier: Apache-2.0
/// --trace and the options that say what of a run the traces have. (docs/traces.md)
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"
#include "flitwise/config.h"

namespace flitwise::cli {

struct TraceOptions {
  std::vector<std::string> files;  ///< KIND=FILE
  std::string window;              ///< FROM..UNTIL
  std::vector<std::string> only;   ///< FIELD=VALUE,VALUE
  std::string trigger;             ///< fault, error or slow=TIME
  std::string around;              ///< BEFORE..AFTER
};

void add_trace_options(CLI::App& command, TraceOptions& options);

/// Sets `files` and `selection`. Throws UsageError that says what was expected.
void read_trace_options(const TraceOptions& options, TraceConfig& trace);

}  // namespace flitwise::cli
