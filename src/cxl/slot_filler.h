// SPDX-License-Identifier: Apache-2.0
/// The greedy choice that both packers share: which messages stand in a slot. Of all formats the
/// one that moves most bits of waiting messages; a channel that was passed over goes first.
/// Which slot may hold what is the packers' business. [CXL-2.7] [CXL-2.8]
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "cxl/flit_layout.h"
#include "cxl/owed_data.h"
#include "cxl/slot_formats.h"

namespace flitwise {

class CxlSlotFiller {
 public:
  CxlSlotFiller(const CxlWidths& widths, CxlDirection direction, const CxlPackingRules& rules);

  const CxlSlotFormats& formats() const { return formats_; }
  const CxlOwedData& owed() const { return owed_; }

  /// A flit with messages begins. one_kind_of_lines: all lines that it announces have byte enables,
  /// or none has.
  void begin(const CxlWaiting& waiting, bool one_kind_of_lines);
  /// A channel was passed over too often and has nothing in this flit yet.
  bool has_urgent() const { return urgent_.has_value(); }
  /// Could messages of that channel stand in such a slot now? REQUIRES: has_urgent().
  bool urgent_fits(CxlPlace place) const;
  /// The best messages for a slot, or an empty one. Where the urgent channel does not fit and
  /// nothing later in the flit will hold it, no message with data goes, so that data slots run out.
  CxlSlot take_messages(CxlPlace place, bool urgent_fits_later);
  /// The next chunk. REQUIRES: something is owed.
  CxlSlot take_data();
  /// This flit has announced a line with byte enables.
  bool announces_byte_enables() const { return announces_byte_enables_; }
  /// The flit is done: who was passed over?
  void end();
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

  /// Null: none moves anything.
  const CxlFormat* best(CxlPlace place, Wanted wanted) const;
  /// Some of its messages wait.
  bool has_any_of(const CxlFormat& format) const;
  Score score_of(const CxlFormat& format, Wanted wanted) const;
  std::uint8_t count_of(const CxlGroup& group, Wanted wanted) const;
  bool is_partial(CxlChannel channel, std::uint32_t ahead) const;
  CxlSlot take(const CxlFormat& format, Wanted wanted);
  void take(const CxlGroup& group);

  const CxlSlotFormats formats_;
  const CxlPackingRules rules_;
  std::array<CxlChannel, kCxlChannels> channels_{};  // of this direction
  std::uint8_t channel_count_ = 0;
  CxlOwedData owed_;
  std::array<std::uint8_t, kCxlChannels> ages_{};   // flits since the channel was served
  std::array<std::uint16_t, kCxlChannels> left_{};  // messages that may still go in this flit
  std::uint32_t channels_left_ = 0;                 // that have some, a bit each
  std::array<bool, kCxlChannels> waited_{}, served_{};
  std::uint64_t partial_lines_ = 0;  // bit 0: the next line
  bool announces_byte_enables_ = false;
  std::optional<CxlChannel> urgent_;
};

}  // namespace flitwise
