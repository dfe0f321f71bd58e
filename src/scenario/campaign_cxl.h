// SPDX-License-Identifier: Apache-2.0
/// Random cases of CXL.mem and CXL.cache.
#pragma once

#include <cstdint>

#include "scenario/scenario.h"
#include "workload/random.h"

namespace flitwise::scenario {

/// One or two memory expanders, or up to three devices whose caches want the same lines, under
/// random faults of the wire; now and then a link goes down. `random` is the stream to draw from.
Case campaign_cxl_case(std::uint64_t seed, const Random& random);

}  // namespace flitwise::scenario
