// SPDX-License-Identifier: Apache-2.0
/// Cases as text again: what a campaign leaves behind.
#pragma once

#include <string>

#include "scenario/scenario.h"

namespace flitwise::scenario {

/// A case file that reads back as the same case. REQUIRES: patterns are made of plain values.
std::string yaml_of(const Case& one);

}  // namespace flitwise::scenario
