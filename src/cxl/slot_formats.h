// SPDX-License-Identifier: Apache-2.0
/// What may stand in a slot: a format is a list of messages by channel. The tables are those of the
/// 68-byte and 256-byte flits; messages that have grown push others out. [CXL-2.3] [CXL-2.4]
/// [CXL-4.2]
#pragma once

#include <array>
#include <cstdint>

#include "cxl/channels.h"

namespace flitwise {

/// So many messages of a channel, one behind the other.
struct CxlGroup {
  CxlChannel channel = CxlChannel::kD2hReq;
  std::uint8_t count = 0;
};
inline constexpr std::size_t kMostCxlGroups = 3;

/// Groups of messages in the order in which they stand in the slot. No channel comes twice, and at
/// most one of them carries data.
struct CxlGroups {
  std::array<CxlGroup, kMostCxlGroups> group{};
  std::uint8_t count = 0;

  const CxlGroup* begin() const { return group.data(); }
  const CxlGroup* end() const { return group.data() + count; }
  void add(CxlGroup added) { group[count++] = added; }
};

struct CxlFormat {
  std::uint8_t code = 0;
  CxlGroups groups;
};

/// Codes of formats. In generic slots of 68-byte flits code 0 is data or byte enables.
inline constexpr std::uint32_t kCxlFormats68 = 8, kCxlFormats256 = 16;
inline constexpr std::uint8_t kCxlDataFormat68 = 0;

/// The formats of one direction, as far as messages of these widths fit.
class CxlSlotFormats {
 public:
  static constexpr std::size_t kMost = 8;
  /// In the order of their codes.
  struct List {
    std::array<CxlFormat, kMost> format{};
    std::uint8_t count = 0;
    const CxlFormat* begin() const { return format.data(); }
    const CxlFormat* end() const { return format.data() + count; }
  };

  CxlSlotFormats(const CxlWidths& widths, CxlDirection direction);

  const List& in(CxlPlace place) const { return lists_[static_cast<std::size_t>(place)]; }
  /// Null: no message can stand there with that code.
  const CxlFormat* find(CxlPlace place, std::uint8_t code) const;
  /// Is there a slot in which a message of this channel can stand?
  bool has_place_for(CxlChannel channel) const;
  const CxlWidths& widths() const { return widths_; }

 private:
  CxlWidths widths_;
  std::array<List, kCxlPlaces> lists_{};
};

}  // namespace flitwise
