// SPDX-License-Identifier: Apache-2.0
/// Random cases over the invariants: machines, traffic and faults drawn from a seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace flitwise::scenario {

/// The case of one seed: a random machine under random faults of the wire, with one of: the traffic
/// of conforming devices, translated or not; a hostile device beside a conforming one, all that
/// guards against it switched on; hostile devices alone; resets amid traffic; DLLPs that no
/// rule asks for; DMA operations whose outcome in memory is known. One in four has a CXL link, and
/// most of these CXL.mem or CXL.cache (campaign_draw.h). Whatever happens, no invariant may break,
/// no protocol monitor may speak, and nothing may stand still. `sets` come last, over what was
/// drawn.
Case campaign_case(std::uint64_t seed, const std::vector<std::string>& sets);

}  // namespace flitwise::scenario
