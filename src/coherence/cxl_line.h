// SPDX-License-Identifier: Apache-2.0
/// A line of 64 bytes, a message with the line that goes along, and the list that agents put what
/// they send into.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "flitwise/cxl.h"

namespace flitwise {

using CxlLine = std::array<std::uint8_t, kCxlLineBytes>;

inline constexpr std::uint64_t kAllBytes = ~std::uint64_t{0};

/// The line that a byte stands in.
constexpr std::uint64_t line_of(std::uint64_t address) {
  return address & ~std::uint64_t{kCxlLineBytes - 1};
}

/// Writes the enabled bytes of `from` over those of `line`.
inline void merge(CxlLine& line, const CxlLine& from, std::uint64_t byte_enables) {
  if (byte_enables == kAllBytes) {
    line = from;
    return;
  }
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (((byte_enables >> i) & 1U) != 0) {
      line[i] = from[i];
    }
  }
}

/// A message that an agent sends.
struct CxlOut {
  std::uint8_t port = 0;  ///< of a home: which of its caches it is for; elsewhere 0
  CxlMessage message;
  CxlLine line{};  ///< where message.has_data()
};

/// Agents append; the caller sends and clears, and uses the list again so that nothing is
/// allocated. Messages of one channel leave in the order of the list.
using CxlOutput = std::vector<CxlOut>;

/// A message at the end of the list; what else it says is for the caller to fill in.
template <class Opcode>
CxlOut& add_message(CxlOutput& out, CxlChannel channel, Opcode opcode, std::uint16_t id) {
  CxlOut& sent = out.emplace_back();
  sent.message.channel = channel;
  sent.message.opcode = static_cast<std::uint8_t>(opcode);
  sent.message.id = id;
  return sent;
}

}  // namespace flitwise
