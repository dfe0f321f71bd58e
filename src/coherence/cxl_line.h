// SPDX-License-Identifier: Apache-2.0
/// A line of 64 bytes, its states in a cache [COH-1.1], memory by lines, a message with the line
/// that goes along, and the list that agents put what they send into.
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

enum class LineState : std::uint8_t { kInvalid, kShared, kExclusive, kModified };

/// E and M: no other cache has a copy.
constexpr bool is_owned(LineState state) {
  return state == LineState::kExclusive || state == LineState::kModified;
}
constexpr const char* text_of(LineState state) {
  constexpr const char* kTexts[] = {"I", "S", "E", "M"};
  return kTexts[static_cast<unsigned>(state)];
}

/// Is told of every change of a line's state in one agent; changes nothing itself.
class LineStateListener {
 public:
  virtual ~LineStateListener() = default;
  virtual void line_state(std::uint64_t line, LineState state) = 0;
};

/// Memory as a home or a device sees it: it is asked now and answers later.
/// Whoever owns the memory tells the asker of the end of each request by its token, never within
/// the call itself.
class LineMemory {
 public:
  virtual ~LineMemory() = default;
  virtual void read(std::uint32_t token, std::uint64_t line) = 0;
  virtual void write(std::uint32_t token, std::uint64_t line, const CxlLine& data,
                     std::uint64_t byte_enables) = 0;
};

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

/// Answers of CXL.mem: they bring back the Tag and the logical device of what they answer.
inline void answer_mem(CxlChannel channel, std::uint8_t opcode, const CxlMessage& request,
                       const CxlLine& line, CxlOutput& out) {
  CxlOut& sent = add_message(out, channel, opcode, request.id);
  sent.message.ld_id = request.ld_id;
  sent.message.meta_field = static_cast<std::uint8_t>(cxl::MetaField::kNoOp);
  sent.line = line;
}

inline void answer_ndr(cxl::S2mNdr opcode, const CxlMessage& request, CxlOutput& out) {
  answer_mem(CxlChannel::kS2mNdr, static_cast<std::uint8_t>(opcode), request, CxlLine{}, out);
}

inline void answer_drs(cxl::S2mDrs opcode, const CxlMessage& request, const CxlLine& line,
                       CxlOutput& out) {
  answer_mem(CxlChannel::kS2mDrs, static_cast<std::uint8_t>(opcode), request, line, out);
}

}  // namespace flitwise
