// SPDX-License-Identifier: Apache-2.0
/// Control flits of the 68-byte link layer: they carry no messages and take no credits. Behind the
/// flit header stand type and subtype, and a payload of 64 bits. [CXL-2.11]
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace flitwise {

struct CxlControl {
  std::uint8_t type = 0;     ///< 4 bits
  std::uint8_t subtype = 0;  ///< 4 bits
  std::uint64_t payload = 0;
};

struct CxlControlField {
  const char* name;
  std::uint8_t at, bits;
};
struct CxlControlInfo {
  static constexpr std::size_t kMostFields = 7;
  const char* name;  ///< "RETRY.Req"
  std::uint8_t type, subtype;
  CxlControlField fields[kMostFields];
  std::uint8_t field_count;
  const CxlControlField* begin() const { return fields; }
  const CxlControlField* end() const { return fields + field_count; }
};
/// All that are modelled.
struct CxlControls {
  const CxlControlInfo* first;
  std::size_t count;
  const CxlControlInfo* begin() const { return first; }
  const CxlControlInfo* end() const { return first + count; }
};
CxlControls cxl_controls();
/// Null: not modelled.
const CxlControlInfo* find_cxl_control(std::uint8_t type, std::uint8_t subtype);
const CxlControlInfo* find_cxl_control(std::string_view name);

/// Where they stand in slot 0.
inline constexpr std::size_t kControlTypeAt = 32, kControlSubtypeAt = 36, kControlPayloadAt = 64;

}  // namespace flitwise
