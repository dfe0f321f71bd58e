// SPDX-License-Identifier: Apache-2.0
/// What can be wrong with a flit of CXL.cache and CXL.mem.
#pragma once

#include <cstddef>
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

struct CxlFlitErrorText {
  const char* name;
  const char* sentence;  ///< what is wrong
};
/// By CxlFlitError.
inline constexpr CxlFlitErrorText kCxlFlitErrorTexts[kCxlFlitErrors] = {
    {"wrong_size", "a flit has 68 or 256 bytes, and 4 or 15 slots"},
    {"other_protocol", "the protocol ID is not that of CXL.cache and CXL.mem"},
    {"bad_crc", "the CRC does not fit"},
    {"unknown_control", "no control flit of this type and subtype is modelled"},
    {"half_lines", "transfers of 32 bytes (Sz = 0) are not modelled"},
    {"unknown_format", "no messages of this direction stand in such a slot with this format"},
    {"data_expected",
     "a chunk of data or byte enables that earlier messages announced has to stand here"},
    {"no_data_owed", "no message has announced data that could stand here"},
    {"too_many_messages", "the format of the slot holds fewer messages"},
    {"wrong_messages", "the format of the slot has another channel in this place"},
    {"trailer", "trailers of S2M DRS are not modelled"},
    {"too_much_owed", "more than 64 lines are owed"},
};
constexpr const char* name_of(CxlFlitError error) {
  return kCxlFlitErrorTexts[static_cast<std::size_t>(error)].name;
}
constexpr const char* sentence_of(CxlFlitError error) {
  return kCxlFlitErrorTexts[static_cast<std::size_t>(error)].sentence;
}

}  // namespace flitwise
