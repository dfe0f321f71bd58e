// SPDX-License-Identifier: Apache-2.0
/// What of a configuration is allowed and yet hardly meant, on stderr. The exit code stays 0.
#pragma once

#include <string>

#include "flitwise/config.h"
#include "sweep/plan.h"

namespace flitwise::cli {

/// file: stands before each line; empty: the only one there is.
void print_warnings(const Config& config, const std::string& file = "");

/// Of a sweep: each warning once, with the number of points it is about. file: the study, or the
/// folder of a planned sweep.
void print_warnings(const Plan& plan, const std::string& file);

}  // namespace flitwise::cli
