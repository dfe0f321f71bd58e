// SPDX-License-Identifier: Apache-2.0
/// Why goodput and utilisation of a direction do not fit together: what went on after its last
/// symbol, up to the end of its window.
#pragma once

#include <string>

#include "flitwise/result.h"

namespace flitwise {

/// One line for each direction whose window goes on for more than a few percent after its last
/// symbol; empty where none does.
std::string drain_text(const RunResult& result);

}  // namespace flitwise
