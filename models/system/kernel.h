// SPDX-License-Identifier: Apache-2.0
/// What the SystemC kernel alone can do, beside the way into it (flitwise/kernel.h).
#pragma once

#include <cstdint>

#include "flitwise/kernel.h"

namespace flitwise {

/// The yardstick of the benchmark: one SC_METHOD notifies its own event 1 ns ahead, nothing else is
/// pending. Returns notifications per second of wall-clock time. REQUIRES: inside run_in_kernel,
/// once per process.
double kernel_notifications_per_second(std::uint64_t notifications);

}  // namespace flitwise
