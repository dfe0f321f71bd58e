// SPDX-License-Identifier: Apache-2.0
/// The next value of a key that makes what it sizes larger, as a hint for people.
#pragma once

#include <string>

#include "flitwise/config.h"

namespace flitwise {

/// As `--set` takes it: twice the number or quantity, the next larger of a few valid values, the
/// next faster link. Empty: the key has the largest value that this configuration can have, or
/// none that can be larger.
std::string larger_value(const Config& config, const std::string& key);

/// A preset with twice the lanes, else the next generation; empty: there is none of its kind.
std::string faster_preset(const LinkPreset& preset);

}  // namespace flitwise
