// SPDX-License-Identifier: Apache-2.0
// Warnings on stderr.
#include "cli/print_warnings.h"

#include <fmt/format.h>

#include <cstdio>

#include "config/warnings.h"

namespace flitwise::cli {

void print_warnings(const Config& config, const std::string& file) {
  for (const std::string& warning : config_warnings(config)) {
    fmt::print(stderr, "flitwise: warning: {}{}{}\n", file, file.empty() ? "" : ": ", warning);
  }
}

}  // namespace flitwise::cli
