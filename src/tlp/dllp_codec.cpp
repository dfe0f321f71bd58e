// SPDX-License-Identifier: Apache-2.0
// Encoder and decoder of DLLPs.
#include "tlp/dllp_codec.h"

#include "tlp/crc.h"
#include "tlp/dw_bytes.h"

namespace flitwise {
namespace {

constexpr std::array<std::uint8_t, 12> kTypeCodes = {0x00, 0x10, 0x02, 0x40, 0xc0, 0x80,
                                                     0x20, 0x21, 0x23, 0x24, 0x30, 0x31};

// Sets type, class and VC; false for a byte that no DLLP starts with. [LNK-6.2] [LNK-6.3]
bool read_type(std::uint8_t byte, Dllp& dllp) {
  for (std::size_t i = 0; i < kTypeCodes.size(); ++i) {
    const auto type = static_cast<DllpType>(i);
    if (!is_flow_control(type)) {
      if (byte == kTypeCodes[i]) {
        dllp.type = type;
        return true;
      }
      continue;
    }
    const int fc_class = ((byte & 0xf0) - kTypeCodes[i]) / 0x10;
    if ((byte & 0xf0) >= kTypeCodes[i] && fc_class < kFcClasses && (byte & 8) == 0) {
      dllp.type = type;
      dllp.fc_class = static_cast<FcClass>(fc_class);
      dllp.vc = byte & 7;
      return true;
    }
  }
  return false;
}

}  // namespace

const char* name_of(DllpError error) {
  static constexpr std::array<const char*, 3> kNames = {"wrong_size", "bad_crc", "unknown_type"};
  return kNames[static_cast<std::size_t>(error)];
}

const char* name_of(DllpType type) {
  static constexpr std::array<const char*, 13> kNames = {"Ack",
                                                         "Nak",
                                                         "Data_Link_Feature",
                                                         "InitFC1",
                                                         "InitFC2",
                                                         "UpdateFC",
                                                         "PM_Enter_L1",
                                                         "PM_Enter_L23",
                                                         "PM_Active_State_Request_L1",
                                                         "PM_Request_Ack",
                                                         "Vendor",
                                                         "NOP",
                                                         "Optimized_Update_FC"};
  return kNames[static_cast<std::size_t>(type)];
}

std::array<std::uint8_t, kDllpBytes> encode(const Dllp& dllp) {
  std::uint32_t dw = std::uint32_t{kTypeCodes[static_cast<std::size_t>(dllp.type)]} << 24;
  if (is_flow_control(dllp.type)) {
    dw += static_cast<std::uint32_t>(dllp.fc_class) << 28 | (dllp.vc & 7U) << 24 |
          bit_at(dllp.is_shared, 24 + kSharedCreditsBit) | (dllp.hdr_scale & 3U) << 22 |
          std::uint32_t{dllp.hdr_fc} << 14 | (dllp.data_scale & 3U) << 12 | (dllp.data_fc & 0xfffU);
  } else if (is_ack_or_nak(dllp.type)) {
    dw |= (dllp.raw & 0xfff000U) | (dllp.sequence & 0xfffU);
  } else {
    dw |= dllp.raw & 0xffffffU;
  }
  const std::array<std::uint8_t, 4> content = {
      static_cast<std::uint8_t>(dw >> 24), static_cast<std::uint8_t>(dw >> 16),
      static_cast<std::uint8_t>(dw >> 8), static_cast<std::uint8_t>(dw)};
  const std::uint16_t crc = dllp_crc16(content);
  return {content[0],
          content[1],
          content[2],
          content[3],
          static_cast<std::uint8_t>(crc & 0xffU),
          static_cast<std::uint8_t>(crc >> 8)};
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
  const std::uint32_t dw = std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
  if (is_flow_control(dllp.type)) {
    dllp.hdr_scale = (dw >> 22) & 3U;
    dllp.hdr_fc = (dw >> 14) & 0xffU;
    dllp.data_scale = (dw >> 12) & 3U;
    dllp.data_fc = dw & 0xfffU;
  } else if (is_ack_or_nak(dllp.type)) {
    dllp.sequence = dw & 0xfffU;
    dllp.raw = dw & 0xfff000U;
  } else {
    dllp.raw = dw;
  }
  return result;
}

}  // namespace flitwise
