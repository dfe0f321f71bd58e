// SPDX-License-Identifier: Apache-2.0
/// Whole flits of CXL.cache and CXL.mem as bytes, and back. Which slots hold data depends on the
/// flits before, so that a codec follows one direction of a link from its first flit on. [CXL-2.1]
/// [CXL-4.1]
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "cxl/flit_frame.h"
#include "cxl/flit_layout.h"
#include "cxl/message_fields.h"

namespace flitwise {

/// What can be wrong with a flit.
enum class CxlFlitError : std::uint8_t {
  kWrongSize,
  kOtherProtocol,
  kBadCrc,
  kUnknownControl,
  kHalfLines,
  kUnknownFormat,
  kDataExpected,
  kNoDataOwed,
  kTooManyMessages,
  kWrongMessages,
  kTrailer,
  kTooMuchOwed,
};
inline constexpr int kCxlFlitErrors = 12;

struct CxlFlitErrorText {
  const char* name;
  const char* sentence;  ///< what is wrong
};
/// By CxlFlitError.
inline constexpr CxlFlitErrorText kCxlFlitErrorTexts[kCxlFlitErrors] = {
    {"wrong_size", "a flit has 68 or 256 bytes, and 4 or 15 slots"},
    {"other_protocol", "the protocol ID is not that of CXL.cache and CXL.mem"},
    {"bad_crc", "the CRC does not fit"},
    {"unknown_control", "no control flit of this type and subtype is modelled"},
    {"half_lines", "transfers of 32 bytes (Sz = 0) are not modelled"},
    {"unknown_format", "no messages of this direction stand in such a slot with this format"},
    {"data_expected",
     "a chunk of data or byte enables that earlier messages announced has to stand here"},
    {"no_data_owed", "no message has announced data that could stand here"},
    {"too_many_messages", "the format of the slot holds fewer messages"},
    {"wrong_messages", "the format of the slot has another channel in this place"},
    {"trailer", "trailers of S2M DRS are not modelled"},
    {"too_much_owed", "more than 64 lines are owed"},
};
constexpr const char* name_of(CxlFlitError error) {
  return kCxlFlitErrorTexts[static_cast<std::size_t>(error)].name;
}
constexpr const char* sentence_of(CxlFlitError error) {
  return kCxlFlitErrorTexts[static_cast<std::size_t>(error)].sentence;
}

/// What one slot holds.
struct CxlSlotContents {
  CxlSlot::Kind kind = CxlSlot::Kind::kMessages;  ///< kMessages, kData or kByteEnables
  std::uint8_t format = 0;
  /// By place in the format, those without V included; what is missing at the end has no V.
  std::vector<CxlWireMessage> messages;
  /// Data; of byte enables the first eight bytes, lowest byte of the line first.
  std::array<std::uint8_t, kCxlChunkBytes> chunk{};
};

struct CxlFlit {
  CxlHeader68 header;                 ///< 68 bytes, unless all data; its formats are those of slots
  std::optional<CxlControl> control;  ///< 68 bytes: then there are no slots
  std::uint16_t header_256 = 0;       ///< 256 bytes: the flit header as it stands
  CxlCreditReturn256 credits;         ///< 256 bytes
  std::vector<CxlSlotContents> slots;
  std::array<std::uint8_t, kCxlFecBytes> fec{};  ///< 256 bytes: as it stands
};

class CxlFlitCodec {
 public:
  CxlFlitCodec(CxlFlitForm form, CxlDirection direction, std::uint32_t identity_bits)
      : formats_(CxlWidths(form, identity_bits), direction) {}

  CxlFlitForm form() const { return formats_.widths().form; }
  const CxlSlotFormats& formats() const { return formats_; }
  const CxlOwedData& owed() const { return owed_; }
  /// The next flit is all data: it has no header, and control flits have to wait. [CXL-2.5]
  bool next_is_all_data() const {
    return form() == CxlFlitForm::k68 && owed_.chunks() > kMostCxlRollover;
  }

  struct Decoded {
    CxlFlit flit;
    bool is_all_data = false;
    std::optional<CxlFlitError> error;
    std::size_t error_offset = 0;
  };
  /// Any bytes in. A flit with an error changes nothing.
  Decoded decode(const std::uint8_t* bytes, std::size_t count);

  struct Encoded {
    std::vector<std::uint8_t> bytes;
    std::optional<CxlFlitError> error;
    std::size_t error_slot = 0;
  };
  /// A flit whose slots do not fit what is owed is refused and changes nothing. Slots that are
  /// missing at the end are empty.
  Encoded encode(const CxlFlit& flit);

 private:
  const CxlSlotFormats formats_;
  CxlOwedData owed_;
};

struct CxlSend {
  CxlMessage message;
  std::array<std::uint8_t, kCxlLineBytes> line{};  ///< for messages with data
};

/// A list of messages with their lines, packed into as many flits as it takes. [CXL-2.7] [CXL-4.6]
/// Messages of a channel keep their order. REQUIRES: all are of the direction and have a place in
/// the formats; nothing is owed before.
std::vector<CxlFlit> pack_messages(const CxlSlotFormats& formats, CxlDirection direction,
                                   const std::vector<CxlSend>& messages);

}  // namespace flitwise
