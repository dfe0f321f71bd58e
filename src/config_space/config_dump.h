// SPDX-License-Identifier: Apache-2.0
/// Configuration space as text, in the form that `lspci -xxxx` prints and `lspci -F` reads
/// (docs/config_space.md, "Dump").
#pragma once

#include <string>

#include "config_space/config_space.h"

namespace flitwise {

/// All 4,096 bytes of one function as software reads them: a line with its routing ID, rows of 16
/// bytes in hexadecimal, an empty line. The device number of `function` is bits [7:3], with ARI
/// too.
std::string config_dump(Bdf function, const ConfigSpace& space);

}  // namespace flitwise
