// SPDX-License-Identifier: Apache-2.0
/// What atomics do to memory, and how long they and deferrable writes are. [LNK-9.29] [LNK-9.30]
#pragma once

#include <cstdint>

#include "flitwise/tlp.h"
#include "tlp/splitter.h"

namespace flitwise {

/// CAS has the largest operands.
inline constexpr std::uint32_t kMaxOperandBytes = 16;
/// Length up to which a root port takes deferrable writes, as it announces. [LNK-9.30]
inline constexpr std::uint32_t kMaxDeferrableBytes = 128;

/// Bytes of memory, in whole DWs, that a memory request names from its address on: of an atomic
/// those of one operand, though a CAS brings two.
inline std::uint32_t bytes_named(const Tlp& tlp) {
  return is_atomic(tlp.type) ? byte_count_of(tlp) : 4U * tlp.length_dw;
}

/// Works out what an atomic leaves in memory where `old` stands: `result`, of bytes_named() bytes
/// as `old`; false where it leaves `old` as it is, which a CAS that compares unequal does.
/// operands: the payload. All values are little-endian. REQUIRES: an atomic whose Length is fine.
bool apply_atomic(const Tlp& tlp, const std::uint8_t* operands, const std::uint8_t* old,
                  std::uint8_t* result);

}  // namespace flitwise
