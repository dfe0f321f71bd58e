// SPDX-License-Identifier: Apache-2.0
/// Checks that what a study file names is there. docs/sweeps.md
#pragma once

#include <array>

#include "common/problems.h"
#include "sweep/plan.h"

namespace flitwise {

/// Latencies of which results may have a row: those of engines, and those of the driver behind the
/// prefix of its host. Pairs of trace.latency are no part of a sweep.
inline constexpr std::array kEngineLatencies = {"dma_read", "dma_write", "dma_write_tlp"};
inline constexpr std::array kDriverLatencies = {
    "unmap",          "teardown",        "teardown_stop",  "teardown_handle",
    "teardown_agent", "teardown_device", "teardown_drain", "teardown_reset"};

/// Adds a problem, at the place of the word and with the nearest known one, for each column that no
/// result of any machine and no axis, label or figure has; for each figure that the block does not
/// have; for each value of an axis that no point of the block has; for a baseline of which
/// several rows fit one, or that lacks seeds of those compared with it; and for baseline() in a
/// figure of which no block has a baseline.
void check_names(const Study& study, config::ProblemList& problems);

}  // namespace flitwise
