// SPDX-License-Identifier: Apache-2.0
/// Whole flits of CXL.cache and CXL.mem as bytes, and back. Which slots hold data depends on the
/// flits before, so that a codec follows one direction of a link from its first flit on. [CXL-2.1]
/// [CXL-4.1]
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "cxl/control_flit.h"
#include "cxl/flit_error.h"
#include "cxl/flit_frame.h"
#include "cxl/flit_header.h"
#include "cxl/message_fields.h"
#include "cxl/owed_data.h"
#include "cxl/slot_formats.h"

namespace flitwise {

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

}  // namespace flitwise
