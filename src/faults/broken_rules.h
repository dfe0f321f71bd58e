// SPDX-License-Identifier: Apache-2.0
/// What breaks rules on purpose: `faults.break` (docs/monitors.md) and `faults.drop_completions`.
/// The classes that keep the rules know of no fault: where one can strike, they let a function
/// change what they use or say. Those made here are empty where the rule is kept; each other breaks
/// its rule once, but those of credits whenever they can.
#pragma once

#include <cstdint>
#include <functional>

#include "flitwise/config.h"
#include "flitwise/dllp.h"
#include "flitwise/flit.h"

namespace flitwise {

/// An Ack names what has not been delivered yet. [LNK-7.15]
std::function<std::uint16_t(std::uint16_t accepted, std::uint16_t next)> broken_acks(
    const FaultsConfig& faults);
/// An UpdateFC of dedicated credits is taken for more than it says. [LNK-8.3]
std::function<Dllp(Dllp)> broken_updates(const FaultsConfig& faults);
/// Credits of CXL.cache and CXL.mem are taken for twice as many. [CXL-3.1]
std::function<CxlFlitHeader::Credits(CxlFlitHeader::Credits)> broken_cxl_credits(
    const FaultsConfig& faults);

}  // namespace flitwise
