// SPDX-License-Identifier: Apache-2.0
/// The way into the SystemC kernel, with one simulation per process.
#pragma once

#include <functional>

namespace flitwise {

/// Runs body inside sc_main, without banner, and returns its value. Exceptions of body come out
/// here unchanged. REQUIRES: called at most once per process, which has no sc_main of its own.
int run_in_kernel(const std::function<int()>& body);

/// For a program that has its own sc_main: sets the time resolution of 1 fs, and that the kernel
/// speaks on stderr. REQUIRES: called first of all, before there is any module or sc_time.
void prepare_kernel();

}  // namespace flitwise
