// SPDX-License-Identifier: Apache-2.0
/// What of a configuration is allowed and yet hardly meant, on stderr. The exit code stays 0.
#pragma once

#include <string>

#include "flitwise/config.h"

namespace flitwise::cli {

/// file: stands before each line; empty: the only one there is.
void print_warnings(const Config& config, const std::string& file = "");

}  // namespace flitwise::cli
