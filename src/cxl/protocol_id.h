// SPDX-License-Identifier: Apache-2.0
/// The protocol ID in front of a 68-byte flit: a code of eight bits, twice. Any two codes differ in
/// four bits. Codes unverified. [CXL-2.14]
#pragma once

#include <cstddef>
#include <cstdint>

namespace flitwise {

enum class CxlProtocolId : std::uint8_t {
  kIo = 0xff,
  kCacheMem = 0x55,
  kNull = 0x99,
  kAlmp = 0xcc
};
inline constexpr std::size_t kCxlProtocolIdBytes = 2;

}  // namespace flitwise
