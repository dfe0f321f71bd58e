// SPDX-License-Identifier: Apache-2.0
/// The smallest page of memory: no request crosses its boundary, no translation divides it.
/// [LNK-9.14]
#pragma once

#include <cstdint>

namespace flitwise {

inline constexpr std::uint32_t kPageBytes = 4096;
inline constexpr std::uint64_t kPageOffset = kPageBytes - 1;  ///< bits of an address in its page
inline constexpr std::uint64_t kPageAddress = ~kPageOffset;   ///< bits that name the page

}  // namespace flitwise
