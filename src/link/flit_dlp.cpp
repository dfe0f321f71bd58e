// SPDX-License-Identifier: Apache-2.0
// DLPs as bytes.
#include "link/flit_dlp.h"

#include <algorithm>

#include "tlp/crc.h"
#include "tlp/dllp_codec.h"
#include "tlp/dw_bytes.h"

namespace flitwise {
namespace {

constexpr std::size_t kDllpContent = kDllpBytes - 2;  // its CRC is the flit's
constexpr unsigned kPriorBit = 5, kOtherBit = 4;

}  // namespace

DlpBytes encode(const FlitDlp& dlp) {
  DlpBytes bytes{};
  bytes[0] = static_cast<std::uint8_t>(
      (dlp.usage & 3U) << 6 | bit_at(dlp.prior_was_payload, kPriorBit) |
      bit_at(dlp.other.has_value(), kOtherBit) | static_cast<unsigned>(dlp.command) << 2 |
      ((dlp.sequence >> 8) & 3U));
  bytes[1] = static_cast<std::uint8_t>(dlp.sequence);
  if (dlp.other) {
    for (unsigned i = 0; i < kDllpContent; ++i) {
      bytes[kDlpTypeAt + i] = static_cast<std::uint8_t>(*dlp.other >> (24 - 8 * i));
    }
  } else {
    const auto dllp = encode(dlp.dllp);
    std::copy_n(dllp.begin(), kDllpContent, bytes.begin() + kDlpTypeAt);
  }
  return bytes;
}

std::optional<FlitDlp> decode_dlp(const DlpBytes& bytes) {
  FlitDlp dlp;
  dlp.usage = static_cast<std::uint8_t>(bytes[0] >> 6);
  dlp.prior_was_payload = has_bit(bytes[0], kPriorBit);
  dlp.command = static_cast<ReplayCommand>((bytes[0] >> 2) & 3U);
  dlp.sequence = static_cast<std::uint16_t>((bytes[0] & 3U) << 8 | bytes[1]);
  if (has_bit(bytes[0], kOtherBit)) {
    dlp.other = dw_at(bytes.data() + kDlpTypeAt);
    return dlp;
  }
  const bool is_shared = has_bit(bytes[kDlpTypeAt], kSharedCreditsBit);
  const auto type = static_cast<std::uint8_t>(bytes[kDlpTypeAt] & ~bit_at(true, kSharedCreditsBit));
  const std::uint16_t crc = dllp_crc16({type, bytes[3], bytes[4], bytes[5]});
  const std::array<std::uint8_t, kDllpBytes> whole = {type,
                                                      bytes[3],
                                                      bytes[4],
                                                      bytes[5],
                                                      static_cast<std::uint8_t>(crc & 0xffU),
                                                      static_cast<std::uint8_t>(crc >> 8)};
  const DllpDecodeResult dllp = decode_dllp(whole.data(), whole.size());
  if (dllp.error || (is_shared && !is_flow_control(dllp.dllp.type))) {
    return std::nullopt;
  }
  dlp.dllp = dllp.dllp;
  dlp.dllp.is_shared = is_shared;
  return dlp;
}

}  // namespace flitwise
