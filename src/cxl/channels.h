// SPDX-License-Identifier: Apache-2.0
/// What the channels of CXL.cache and CXL.mem are: direction, widths, data, credits, opcodes.
/// [CXL-1.1] [CXL-1.2] [CXL-1.6]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "flitwise/cxl.h"

namespace flitwise {

/// Downstream is away from the host: H2D and M2S.
enum class CxlDirection : std::uint8_t { kDownstream, kUpstream };
enum class CxlProtocol : std::uint8_t { kCache, kMem };
/// The three forms of a flit that carries CXL.cache and CXL.mem. [CXL-2.1] [CXL-4.1]
enum class CxlFlitForm : std::uint8_t { k68, k256, k256LatencyOptimised };

/// Classes of credits; CXL.cache and CXL.mem each have these three. [CXL-1.6]
enum class CxlCredit : std::uint8_t { kReq, kRsp, kData };
inline constexpr std::size_t kCxlCredits = 3;

/// Rows of a constant table.
template <class Row>
struct CxlRows {
  const Row* first = nullptr;
  std::size_t count = 0;

  constexpr CxlRows() = default;
  template <std::size_t N>
  constexpr CxlRows(const Row (&rows)[N]) : first(rows), count(N) {}
  constexpr const Row* begin() const { return first; }
  constexpr const Row* end() const { return first + count; }
};

struct CxlOpcodeName {
  std::uint8_t code;
  const char* name;  ///< the standard's: "RdOwn", "MemWrPtl", ...

  template <class Opcode>
  constexpr CxlOpcodeName(Opcode opcode, const char* text)
      : code(static_cast<std::uint8_t>(opcode)), name(text) {}
};

struct CxlChannelInfo {
  const char* name;  ///< "D2H Req", ...
  CxlDirection direction;
  CxlProtocol protocol;
  bool has_data;                                  ///< a line follows each message
  bool may_have_byte_enables;                     ///< the line may be enabled in part
  std::array<std::uint8_t, kCxlCredits> credits;  ///< that one message takes, by CxlCredit
  std::uint8_t bits_68, bits_256;                 ///< 0: not in flits of this size
  CxlRows<CxlOpcodeName> opcodes;                 ///< all; data headers have none
};
constexpr std::size_t index_of(CxlChannel channel) {
  return static_cast<std::size_t>(channel);
}
/// By CxlChannel. [CXL-1.1] [CXL-1.3] [CXL-1.4]
extern const std::array<CxlChannelInfo, kCxlChannels> kCxlChannelInfos;
inline const CxlChannelInfo& info_of(CxlChannel channel) {
  return kCxlChannelInfos[index_of(channel)];
}
/// The channel with this name.
std::optional<CxlChannel> find_cxl_channel(std::string_view name);
/// Null for a code that has no name.
const char* cxl_opcode_name(CxlChannel channel, std::uint8_t code);
std::optional<std::uint8_t> find_cxl_opcode(CxlChannel channel, std::string_view name);

// How many bits a message takes in one form of flit, with an identity in the D2H Req or without,
// and how many bits of messages each kind of slot holds. [CXL-1.3] [CXL-1.4] [CXL-1.5]

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
