// SPDX-License-Identifier: Apache-2.0
/// No Write of a translation request.
#pragma once

#include "flitwise/tlp.h"

namespace flitwise {

/// As a bit of the last address byte, where PH stands in other requests. [LNK-4.2] unverified
inline constexpr unsigned kNoWriteBit = 0;

/// REQUIRES: at is translation request.
constexpr bool is_no_write(const Tlp& tlp) {
  return ((tlp.processing_hint >> kNoWriteBit) & 1U) != 0;
}

}  // namespace flitwise
