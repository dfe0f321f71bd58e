// SPDX-License-Identifier: Apache-2.0
/// Entry into the SystemC kernel: one simulation per process; and what the kernel alone can do.
#pragma once

#include <cstdint>
#include <functional>

namespace flitwise {

/// Runs body inside sc_main, without banner, and returns its value. Exceptions of body come out
/// here unchanged. REQUIRES: called at most once per process.
int run_in_kernel(const std::function<int()>& body);

/// The yardstick of the benchmark: one SC_METHOD notifies its own event 1 ns ahead, nothing else is
/// pending. Returns notifications per second of wall-clock time. REQUIRES: inside run_in_kernel,
/// once per process.
double kernel_notifications_per_second(std::uint64_t notifications);

}  // namespace flitwise
