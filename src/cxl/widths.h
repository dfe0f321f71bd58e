// SPDX-License-Identifier: Apache-2.0
/// How many bits a message takes in one form of flit, with an identity in the D2H Req or without,
/// and how many bits of messages each kind of slot holds. [CXL-1.3] [CXL-1.4] [CXL-1.5]
#pragma once

#include <array>
#include <cstdint>

#include "cxl/channels.h"

namespace flitwise {

/// Where messages may stand: header slot, the short header slot 8 of the latency-optimised flit,
/// generic slot. [CXL-2.1] [CXL-4.1]
enum class CxlPlace : std::uint8_t { kH, kHs, kG };
inline constexpr std::size_t kCxlPlaces = 3;

/// Reserved bits of a D2H Req, which an identity fills first. [CXL-1.5]
constexpr std::uint32_t reserved_identity_bits(CxlFlitForm form) {
  return form == CxlFlitForm::k68 ? 14 : 7;
}

/// BDF and PASID. [DHI D24]
inline constexpr std::uint32_t kFullIdentityBits = 36;
struct CxlWidths {
  CxlFlitForm form = CxlFlitForm::k68;
  std::uint32_t identity_bits = 0;  ///< of each D2H Req [DHI D24]
  /// By CxlChannel; 0: there is no such message in this form.
  std::array<std::uint32_t, kCxlChannels> bits{};

  CxlWidths(CxlFlitForm flit_form, std::uint32_t identity)
      : form(flit_form), identity_bits(identity) {
    for (std::size_t i = 0; i < kCxlChannels; ++i) {
      const CxlChannelInfo& info = kCxlChannelInfos[i];
      bits[i] = (form == CxlFlitForm::k68 ? info.bits_68 : info.bits_256) +
                added(static_cast<CxlChannel>(i));
    }
  }

  std::uint32_t of(CxlChannel channel) const { return bits[index_of(channel)]; }
  /// Bits that such a message is longer for its identity.
  std::uint32_t added(CxlChannel channel) const {
    const std::uint32_t free_bits = reserved_identity_bits(form);
    return channel == CxlChannel::kD2hReq && identity_bits > free_bits ? identity_bits - free_bits
                                                                       : 0;
  }
};

/// Bits of messages in a slot: without the flit header, the format code and the like; 0: no such
/// slot.
constexpr std::uint32_t slot_bits(CxlFlitForm form, CxlPlace place) {
  constexpr std::uint32_t kFlitHeader68 = 32, kFormatCode256 = 4;
  if (form == CxlFlitForm::k68) {
    return place == CxlPlace::kHs ? 0 : place == CxlPlace::kH ? 128 - kFlitHeader68 : 128;
  }
  if (place == CxlPlace::kHs && form == CxlFlitForm::k256) {
    return 0;
  }
  const std::uint32_t bytes = place == CxlPlace::kH ? 14 : place == CxlPlace::kHs ? 12 : 16;
  return bytes * 8 - kFormatCode256;
}

}  // namespace flitwise
