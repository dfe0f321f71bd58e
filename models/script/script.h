// SPDX-License-Identifier: Apache-2.0
/// Drives a machine line by line: JSON in, JSON out, for regression from any language.
#pragma once

#include <iosfwd>

#include "flitwise/config.h"

namespace flitwise {

/// Reads operations until the end of `in` and writes what they cause, then one line that the
/// operation is done; flushes after each (docs/script.md). Whatever is still under way at the end
/// is run to its end. Returns 0, or 2 where a line could not be understood or asked for something
/// that is not modelled yet. Throws SimulationError. REQUIRES: inside the kernel, once a process.
int script_command(std::istream& in, std::ostream& out, const Config& config);

}  // namespace flitwise
