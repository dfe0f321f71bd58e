// SPDX-License-Identifier: Apache-2.0
/// What stands in the slots of one flit of CXL.cache and CXL.mem, and what a packer decides it by.
/// Plain values of fixed size. [CXL-2.1] [CXL-4.1]
#pragma once

#include <array>
#include <cstdint>

#include "cxl/channels.h"

namespace flitwise {

// What may stand in a slot: a format is a list of messages by channel. The tables are those of the
// 68-byte and 256-byte flits; messages that have grown push others out. [CXL-2.3] [CXL-2.4]
// [CXL-4.2]

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

  using const_iterator = const CxlGroup*;
  const_iterator begin() const { return group.data(); }
  const_iterator end() const { return group.data() + count; }
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
    using const_iterator = const CxlFormat*;
    const_iterator begin() const { return format.data(); }
    const_iterator end() const { return format.data() + count; }
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

/// Bytes of flits on the wire. [CXL-2.1] [CXL-4.1]
inline constexpr std::uint32_t kCxlBytes68 = 68, kCxlBytes256 = 256;
/// Slots that hold messages or data.
inline constexpr std::size_t kCxlSlots68 = 4, kCxlSlots256 = 15;
/// More owed chunks than this make the next 68-byte flit all data. [CXL-2.5]
inline constexpr std::uint32_t kMostCxlRollover = 3;
/// The short header slot of the latency-optimised form. [CXL-4.4]
inline constexpr std::size_t kCxlHsSlot = 8;

constexpr std::size_t slots_of(CxlFlitForm form) {
  return form == CxlFlitForm::k68 ? kCxlSlots68 : kCxlSlots256;
}
constexpr std::uint32_t bytes_of(CxlFlitForm form) {
  return form == CxlFlitForm::k68 ? kCxlBytes68 : kCxlBytes256;
}
/// Which kind of slot the i-th is, unless the flit is all data.
constexpr CxlPlace place_of(CxlFlitForm form, std::size_t slot) {
  if (form == CxlFlitForm::k256LatencyOptimised && slot == kCxlHsSlot) {
    return CxlPlace::kHs;
  }
  return slot == 0 ? CxlPlace::kH : CxlPlace::kG;
}

/// Chunks that a message owes, byte enables included.
constexpr std::uint32_t cxl_chunks_of_line(bool has_byte_enables) {
  return kCxlChunksPerLine + (has_byte_enables ? 1 : 0);
}

struct CxlSlot {
  enum class Kind : std::uint8_t { kEmpty, kMessages, kData, kByteEnables };
  Kind kind = Kind::kEmpty;
  bool ends_line = false;   ///< data, byte enables: the last chunk of its line
  std::uint8_t format = 0;  ///< messages: code of the format
  CxlGroups messages;       ///< those that really stand there, in order
};

struct CxlFlitLayout {
  std::array<CxlSlot, kCxlSlots256> slot{};
  std::uint8_t slots = 0;
  bool is_all_data = false;       ///< 68 bytes: four chunks, no flit header [CXL-2.5]
  bool has_byte_enables = false;  ///< 68 bytes: BE of the flit header [CXL-2.6]

  const CxlSlot* begin() const { return slot.data(); }
  const CxlSlot* end() const { return slot.data() + slots; }
};

/// The data that headers have announced and that is still to come: line by line in the order of the
/// headers, four chunks each, byte enables behind where a line is enabled in part. Sender and
/// receiver both keep it, since slots of data do not say what they hold. [CXL-2.5] [CXL-2.6]
class CxlOwedData {
 public:
  /// Lines that may be owed at a time.
  static constexpr std::uint32_t kMostLines = 64;

  std::uint32_t chunks() const { return chunks_; }
  std::uint32_t lines() const { return lines_; }
  bool is_empty() const { return chunks_ == 0; }
  /// The next chunk has byte enables. REQUIRES: something is owed.
  bool next_is_byte_enables() const { return first_is_partial() && front_ == 1; }
  /// The next chunk is the last of its line, byte enables included. REQUIRES: something is owed.
  bool next_ends_line() const { return front_ == 1; }

  /// REQUIRES: lines() < kMostLines.
  void add(bool has_byte_enables) {
    partial_ |= std::uint64_t{has_byte_enables ? 1U : 0U} << lines_;
    ++lines_;
    chunks_ += cxl_chunks_of_line(has_byte_enables);
    if (lines_ == 1) {
      front_ = cxl_chunks_of_line(has_byte_enables);
    }
  }
  /// One chunk has gone. REQUIRES: something is owed.
  void take() {
    --chunks_;
    if (--front_ == 0) {
      --lines_;
      partial_ >>= 1;
      front_ = cxl_chunks_of_line(first_is_partial());
    }
  }

 private:
  bool first_is_partial() const { return (partial_ & 1U) != 0; }

  std::uint64_t partial_ = 0;  // bit i: the i-th line has byte enables
  std::uint32_t chunks_ = 0;
  std::uint32_t lines_ = 0;
  std::uint32_t front_ = 0;  // chunks left of the first line, byte enables included
};

/// What waits in front of a flit.
struct CxlWaiting {
  /// By CxlChannel: messages that may go now, as far as credits allow.
  std::array<std::uint16_t, kCxlChannels> count{};
  /// Bit i: the i-th waiting message of M2S RwD, or upstream of D2H Data, enables its line only in
  /// part.
  std::uint64_t partial_lines = 0;

  std::uint16_t& of(CxlChannel channel) { return count[index_of(channel)]; }
  std::uint16_t of(CxlChannel channel) const { return count[index_of(channel)]; }
};

/// What a sender holds to. [CXL-2.7] [CXL-2.8] [CXL-2.9]
struct CxlPackingRules {
  /// By CxlChannel: most messages that one flit takes; at least 1 each.
  std::array<std::uint8_t, kCxlChannels> per_flit{};
  /// A message with data waits while it would make more chunks owed than this; at least 5, at most
  /// 4 * CxlOwedData::kMostLines.
  std::uint16_t most_owed_chunks = 0;
  /// Flits with messages in which a channel may be passed over before it goes first; at least 1.
  std::uint8_t patience = 1;
  /// By CxlPlace: bit c: the sender uses the format with code c.
  std::array<std::uint16_t, kCxlPlaces> formats = {0xffff, 0xffff, 0xffff};

  /// bounds: in place of those known for flits of this form; 0: as known.
  explicit CxlPackingRules(CxlFlitForm form,
                           const std::array<std::uint8_t, kCxlChannels>& bounds = {});

  bool uses(CxlPlace place, std::uint8_t code) const {
    return (static_cast<unsigned>(formats[static_cast<std::size_t>(place)]) >> code & 1U) != 0;
  }
};

}  // namespace flitwise
