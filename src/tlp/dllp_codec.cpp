// SPDX-License-Identifier: Apache-2.0
// Encoder and decoder of DLLPs.
#include "tlp/dllp_codec.h"

#include <algorithm>
#include <iterator>

#include "common/byte_vector.h"
#include "tlp/crc.h"

namespace flitwise {
namespace {

/// A type: the byte that it starts with, of flow control that of class P.
struct TypeRow {
  const char* name;
  std::uint8_t code;
};
constexpr TypeRow kTypes[] = {
    {"Ack", 0x00},
    {"Nak", 0x10},
    {"Data_Link_Feature", 0x02},
    {"InitFC1", 0x40},
    {"InitFC2", 0xc0},
    {"UpdateFC", 0x80},
    {"PM_Enter_L1", 0x20},
    {"PM_Enter_L23", 0x21},
    {"PM_Active_State_Request_L1", 0x23},
    {"PM_Request_Ack", 0x24},
    {"Vendor", 0x30},
    {"NOP", 0x31},
    {"Optimized_Update_FC", 0x00},  // no DLLP
};
static_assert(std::size(kTypes) == kDllpTypesInFlits);

// Sets type and class; false for a byte that no DLLP starts with. [LNK-6.2] [LNK-6.3]
bool read_type(std::uint8_t byte, Dllp& dllp) {
  for (int i = 0; i < kDllpTypes; ++i) {
    const auto type = static_cast<DllpType>(i);
    const int above = byte - kTypes[i].code;  // the class in [5:4], and a virtual channel in [2:0]
    if (is_flow_control(type) ? above >= 0 && above < kFcClasses << 4 && (byte & 8) == 0
                              : above == 0) {
      dllp.type = type;
      dllp.fc_class = static_cast<FcClass>(above >> 4);
      return true;
    }
  }
  return false;
}

// Bits [23:0] that no field of the type has.
std::uint32_t raw_mask(DllpType type) {
  std::uint32_t mask = is_flow_control(type) ? 0 : 0xffffffU;
  for (const DllpField& field : dllp_fields()) {
    mask &= field.is_of(type) ? ~(field.mask() << field.shift) : ~0U;
  }
  return mask;
}

}  // namespace

const std::array<DllpField, 7>& dllp_fields() {
  static constexpr std::array<DllpField, 7> kFields = {{
      {"seq", is_ack_or_nak, field_access<&Dllp::sequence>, 12, 0},
      {"vc", is_flow_control, field_access<&Dllp::vc>, 3, 24},
      {"shared", is_flow_control, field_access<&Dllp::is_shared>, 1, 24 + kSharedCreditsBit},
      {"hdr_scale", is_flow_control, field_access<&Dllp::hdr_scale>, 2, 22},
      {"hdr_fc", is_flow_control, field_access<&Dllp::hdr_fc>, 8, 14},
      {"data_scale", is_flow_control, field_access<&Dllp::data_scale>, 2, 12},
      {"data_fc", is_flow_control, field_access<&Dllp::data_fc>, 12, 0},
  }};
  return kFields;
}

const char* name_of(DllpError error) {
  static constexpr std::array<const char*, 3> kNames = {"wrong_size", "bad_crc", "unknown_type"};
  return kNames[static_cast<std::size_t>(error)];
}

const char* name_of(DllpType type) {
  return kTypes[static_cast<std::size_t>(type)].name;
}

std::array<std::uint8_t, kDllpBytes> encode(const Dllp& dllp) {
  std::uint32_t dw = std::uint32_t{kTypes[static_cast<std::size_t>(dllp.type)].code} << 24;
  dw += is_flow_control(dllp.type) ? static_cast<std::uint32_t>(dllp.fc_class) << 28 : 0U;
  for (const DllpField& field : dllp_fields()) {
    if (field.is_of(dllp.type)) {
      dw |= (static_cast<std::uint32_t>(field.value.get(dllp)) & field.mask()) << field.shift;
    }
  }
  dw |= dllp.raw & raw_mask(dllp.type);
  const std::array<std::uint8_t, 4> content = bytes_of(dw);
  const std::uint16_t crc = dllp_crc16(content);
  std::array<std::uint8_t, kDllpBytes> bytes{};
  std::copy(content.begin(), content.end(), bytes.begin());
  bytes[4] = static_cast<std::uint8_t>(crc & 0xffU);
  bytes[5] = static_cast<std::uint8_t>(crc >> 8);
  return bytes;
}

DllpDecodeResult decode_dllp(const std::uint8_t* bytes, std::size_t count) {
  DllpDecodeResult result;
  if (count != kDllpBytes) {
    result.error = DllpError::kWrongSize;
    result.error_offset = count < kDllpBytes ? count : kDllpBytes;
    return result;
  }
  result.crc = static_cast<std::uint16_t>(bytes[4] | bytes[5] << 8);
  if (result.crc != dllp_crc16({bytes[0], bytes[1], bytes[2], bytes[3]})) {
    result.error = DllpError::kBadCrc;
    result.error_offset = 4;
    return result;
  }
  Dllp& dllp = result.dllp;
  if (!read_type(bytes[0], dllp)) {
    result.error = DllpError::kUnknownType;
    return result;
  }
  const std::uint32_t dw = dw_at(bytes);
  for (const DllpField& field : dllp_fields()) {
    if (field.is_of(dllp.type)) {
      field.value.set(dllp, dw >> field.shift & field.mask());
    }
  }
  dllp.raw = dw & raw_mask(dllp.type);
  return result;
}

}  // namespace flitwise
