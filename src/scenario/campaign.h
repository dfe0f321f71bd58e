// SPDX-License-Identifier: Apache-2.0
/// Random cases over the invariants: machines, traffic and faults drawn from a seed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace flitwise::scenario {

/// The case of one seed: a random machine under random faults of the wire, with the traffic of a
/// conforming device, of a hostile one, or of a list of DMA operations whose outcome in memory is
/// known. Whatever happens, no invariant may break, no protocol monitor may speak, and nothing may
/// stand still. `sets` come last, over what was drawn.
Case campaign_case(std::uint64_t seed, const std::vector<std::string>& sets);

/// The same case as small as it still fails: steps, final checks and settings are left out one
/// group after the other as long as fails(rest) holds. `fails` is asked at most `budget` times.
Case shrunk(Case one, const std::function<bool(const Case&)>& fails, unsigned budget);

}  // namespace flitwise::scenario
