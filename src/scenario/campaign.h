// SPDX-License-Identifier: Apache-2.0
/// Random cases over the invariants: machines, traffic and faults drawn from a seed. How a failing
/// one is made small, and seen to fail for the same.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace flitwise::scenario {

/// The case of one seed: a random machine under random faults of the wire, with one of: the traffic
/// of conforming devices, translated or not, also with a driver that unmaps; writes through tables
/// whose outcome is known; a hostile device beside a conforming one, all that
/// guards against it switched on; hostile devices alone; resets amid traffic; DLLPs that no
/// rule asks for; DMA operations whose outcome in memory is known. One in four has a CXL link, and
/// most of these CXL.mem or CXL.cache (campaign_draw.h). Whatever happens, no invariant may break,
/// no protocol monitor may speak, and nothing may stand still. `sets` come last, over what was
/// drawn.
Case campaign_case(std::uint64_t seed, const std::vector<std::string>& sets);

/// The same case as small as it still fails: fewer requests of a workload, then groups of steps,
/// expectations, final checks and settings left out one after the other as long as fails(rest)
/// holds, at last DMA steps in place of a workload where they fail as well. No candidate has more
/// requests than the case, and the settings `held` stay as they are. What an expectation that is
/// left rests on stays: writes of the bytes it names, reads of them, and leave to go on after
/// resets. `fails` is asked at most `budget` times.
Case shrunk(Case one, const std::function<bool(const Case&)>& fails, unsigned budget,
            const std::vector<std::string>& held = {});

/// Why the process of a case, which may take so many seconds, printed nothing: text for a person.
std::string text_of_silence(int exit_code, unsigned seconds);

/// The words from `key` to the end of the line; empty where it is nowhere.
std::string line_from(const std::string& text, const std::string& key);
/// What was expected first and what came instead, or how the process ended; the same for all cases
/// that fail for one reason.
std::string kind_of(const std::string& failure);

/// Can failures of this kind be tried again and again? Not those that take all the time there is.
bool is_quick(const std::string& kind);

}  // namespace flitwise::scenario
