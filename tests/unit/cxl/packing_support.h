// SPDX-License-Identifier: Apache-2.0
/// Words for tests of packers: queues, flits, what went.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <string>
#include <utility>

#include "cxl/slot_packer.h"

namespace flitwise::test {

inline constexpr std::uint16_t kSaturated = 1000;

inline CxlWaiting waiting(std::initializer_list<std::pair<CxlChannel, std::uint16_t>> counts) {
  CxlWaiting made;
  for (const auto& [channel, count] : counts) {
    made.of(channel) = count;
  }
  return made;
}

inline std::uint32_t count_in(const CxlFlitLayout& flit, CxlSlot::Kind kind) {
  std::uint32_t count = 0;
  for (const CxlSlot& slot : flit) {
    count += slot.kind == kind ? 1 : 0;
  }
  return count;
}
inline std::uint32_t count_in(const CxlFlitLayout& flit, CxlChannel channel) {
  std::uint32_t count = 0;
  for (const CxlSlot& slot : flit) {
    for (const CxlGroup& group : slot.messages) {
      count += group.channel == channel ? group.count : 0;
    }
  }
  return count;
}

/// "H5 d d d" or "H4 b d -": a letter a slot, with the format of messages.
inline std::string text_of(const CxlFlitLayout& flit) {
  std::string text;
  for (std::size_t i = 0; i < flit.slots; ++i) {
    const CxlSlot& slot = flit.slot[i];
    text += text.empty() ? "" : " ";
    switch (slot.kind) {
      case CxlSlot::Kind::kEmpty: text += "-"; break;
      case CxlSlot::Kind::kMessages:
        text += (i == 0 ? "H" : "G") + std::to_string(slot.format);
        break;
      case CxlSlot::Kind::kData: text += slot.ends_line ? "D" : "d"; break;
      case CxlSlot::Kind::kByteEnables: text += "b"; break;
    }
  }
  return text;
}

/// Bytes of data per byte of wire, in percent, with queues that never run dry.
inline double efficiency(CxlSlotPacker& packer, const CxlWaiting& waiting,
                         std::uint32_t flit_bytes) {
  constexpr int kWarmUp = 100, kFlits = 11000;  // a multiple of every cycle of the patterns below
  CxlFlitLayout flit;
  std::uint64_t data = 0;
  for (int i = 0; i < kWarmUp + kFlits; ++i) {
    packer.pack(waiting, flit);
    data += i < kWarmUp ? 0 : count_in(flit, CxlSlot::Kind::kData) * kCxlChunkBytes;
  }
  return 100.0 * static_cast<double>(data) / (static_cast<double>(kFlits) * flit_bytes);
}

}  // namespace flitwise::test
