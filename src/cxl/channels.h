// SPDX-License-Identifier: Apache-2.0
/// What the channels of CXL.cache and CXL.mem are: direction, width, data, credits, opcodes.
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

}  // namespace flitwise
