// SPDX-License-Identifier: Apache-2.0
/// Entry into the SystemC kernel: one simulation per process.
#pragma once

#include <functional>

namespace flitwise {

/// Runs body inside sc_main, without banner, and returns its value. Exceptions of body come out
/// here unchanged. REQUIRES: called at most once per process.
int run_in_kernel(const std::function<int()>& body);

}  // namespace flitwise
