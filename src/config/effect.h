// SPDX-License-Identifier: Apache-2.0
/// Which of the keys that were given a run reads, by the conditions of the tables.
#pragma once

#include <vector>

#include "config/reader.h"
#include "flitwise/error.h"

namespace flitwise::config {

/// Every key that another source than `left_out` gave, in the order of sources, lines and columns.
/// The message says why no run of this machine reads it; empty: some part of it does, or may.
std::vector<Problem> given_keys(const Config& config, const Reader& reader, int left_out);

}  // namespace flitwise::config
