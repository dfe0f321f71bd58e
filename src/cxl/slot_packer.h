// SPDX-License-Identifier: Apache-2.0
/// Packs messages and data of CXL.cache and CXL.mem into flits of all forms. Messages by a greedy
/// choice: of all formats of a slot the one that moves most bits of waiting messages; a channel
/// that was passed over goes first. [CXL-2.5] to [CXL-2.8] [CXL-4.3] [CXL-4.4] [CXL-4.6]
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "cxl/flit_layout.h"

namespace flitwise {

class CxlSlotPacker {
 public:
  CxlSlotPacker(const CxlWidths& widths, CxlDirection direction, const CxlPackingRules& rules);
  CxlSlotPacker(const CxlWidths& widths, CxlDirection direction)
      : CxlSlotPacker(widths, direction, CxlPackingRules(widths.form)) {}

  /// Chunks that earlier flits left for later ones (rollover).
  std::uint32_t owed() const { return owed_.chunks(); }
  /// The next flit of 68 bytes is all data: no message may go in it. [CXL-2.5]
  bool next_is_all_data() const { return is_68_ && owed() > kMostCxlRollover; }
  /// Decides one flit. What the layout has of each channel goes, first come first.
  void pack(const CxlWaiting& waiting, CxlFlitLayout& flit);
  /// Forgets what is owed and who waited: the link starts anew.
  void reset();

 private:
  enum class Wanted : std::uint8_t { kAny, kUrgent, kNoData };
  /// What a format would move.
  struct Score {
    std::uint32_t bits = 0;
    std::uint32_t age = 0;
    bool is_better_than(const Score& other) const {
      return bits != other.bits ? bits > other.bits : age > other.age;
    }
  };

  void begin(const CxlWaiting& waiting);
  void end();
  /// Could messages of the urgent channel stand in such a slot now?
  bool urgent_fits(CxlPlace place) const {
    return urgent_ && best(place, Wanted::kUrgent) != nullptr;
  }
  /// The best messages for a slot, or an empty one. Where the urgent channel does not fit and
  /// nothing later in the flit will hold it, no message with data goes, so that data slots run out.
  CxlSlot take_messages(CxlPlace place, bool urgent_fits_later);
  CxlSlot take_data();
  /// Null: none moves anything.
  const CxlFormat* best(CxlPlace place, Wanted wanted) const;
  Score score_of(const CxlFormat& format, Wanted wanted) const;
  std::uint8_t count_of(const CxlGroup& group, Wanted wanted) const;
  bool is_partial(CxlChannel channel, std::uint32_t ahead) const;
  void take(const CxlGroup& group);

  const CxlSlotFormats formats_;
  const CxlPackingRules rules_;
  const bool is_68_;
  std::array<CxlChannel, kCxlChannels> channels_{};  // of this direction
  std::uint8_t channel_count_ = 0;
  CxlOwedData owed_;
  std::array<std::uint8_t, kCxlChannels> ages_{};   // flits since the channel was served
  std::array<std::uint16_t, kCxlChannels> left_{};  // messages that may still go in this flit
  std::uint32_t channels_left_ = 0;                 // that have some, a bit each
  std::array<bool, kCxlChannels> waited_{}, served_{};
  std::uint64_t partial_lines_ = 0;      // bit 0: the next line
  bool announces_byte_enables_ = false;  // this flit, of a line
  std::optional<CxlChannel> urgent_;     // passed over too often, and nothing in this flit yet
};

}  // namespace flitwise
