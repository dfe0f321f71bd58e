// SPDX-License-Identifier: Apache-2.0
/// What `flitwise run` prints for people: which bytes went where, latencies, handles, stalls,
/// errors.
#pragma once

#include <cstddef>
#include <string>

#include "flitwise/result.h"
#include "results/result_json.h"

namespace flitwise {

/// Several short tables, every number with its unit. Parts that have nothing to say are left out.
/// `width`: columns of the terminal.
std::string summary_text(const RunResult& result, RunEnd end = RunEnd::kComplete,
                         std::size_t width = 0);

}  // namespace flitwise
