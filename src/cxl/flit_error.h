// SPDX-License-Identifier: Apache-2.0
/// What can be wrong with a flit of CXL.cache and CXL.mem.
#pragma once

#include <cstdint>

namespace flitwise {

enum class CxlFlitError : std::uint8_t {
  kWrongSize,
  kOtherProtocol,
  kBadCrc,
  kUnknownControl,
  kHalfLines,
  kUnknownFormat,
  kDataExpected,
  kNoDataOwed,
  kTooManyMessages,
  kWrongMessages,
  kTrailer,
  kTooMuchOwed,
};
inline constexpr int kCxlFlitErrors = 12;
const char* name_of(CxlFlitError error);      ///< "bad_crc", ...
const char* sentence_of(CxlFlitError error);  ///< what is wrong

}  // namespace flitwise
