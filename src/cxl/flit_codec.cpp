// SPDX-License-Identifier: Apache-2.0
// Flits as bytes.
#include "cxl/flit_codec.h"

#include <algorithm>
#include <utility>

namespace flitwise {
namespace {

using Error = std::optional<CxlFlitError>;
using Kind = CxlSlot::Kind;

constexpr std::uint32_t kFormatBits256 = 4;

/// What readers and writers of a flit share: its body, and what each slot has to hold by what is
/// owed so far. [CXL-2.5] [CXL-2.6] [CXL-4.3]
class SlotWalk {
 public:
  const CxlOwedData& owed() const { return owed_; }
  const std::vector<std::uint8_t>& body() const { return body_; }

 protected:
  enum class Rule : std::uint8_t { kMessages, kData, kEither };

  /// Starts a flit with what earlier ones left owed.
  SlotWalk(const CxlSlotFormats& formats, const CxlOwedData& owed, std::vector<std::uint8_t> body)
      : formats_(formats),
        form_(formats.widths().form),
        is_68_(form_ == CxlFlitForm::k68),
        owed_(owed),
        rollover_(owed.chunks()),
        body_(std::move(body)) {}

  bool is_all_data() const { return is_68_ && rollover_ > kMostCxlRollover; }
  Rule rule_of(std::size_t slot) const {
    const bool is_generic = place_of(form_, slot) == CxlPlace::kG;
    if (is_all_data() || (is_68_ && is_generic && slot <= rollover_)) {
      return Rule::kData;
    }
    return !is_generic || owed_.is_empty() ? Rule::kMessages : is_68_ ? Rule::kEither : Rule::kData;
  }
  /// First bit of a slot.
  std::size_t bit_of(std::size_t slot) const { return slot_at(form_, slot) * 8; }
  auto chunk_at(std::size_t slot) {
    return body_.begin() + static_cast<std::ptrdiff_t>(slot_at(form_, slot));
  }
  /// Calls visit(channel, bit) for each place that the format has for a message in the slot.
  template <class Visit>
  void for_places(const CxlFormat& format, std::size_t slot, Visit visit) const {
    std::size_t bit = bit_of(slot) + first_message_bit(form_, slot);
    for (const CxlGroup& group : format.groups) {
      for (std::uint8_t n = 0; n < group.count; ++n) {
        visit(group.channel, bit);
        bit += formats_.widths().of(group.channel);
      }
    }
  }
  /// Notes the lines that the messages of a slot announce.
  Error announce(const CxlFlit& flit, const CxlSlotContents& slot) {
    for (const CxlWireMessage& wire : slot.messages) {
      if (!wire.is_valid || !wire.message.has_data()) {
        continue;
      }
      if (wire.has_trailer) {
        return CxlFlitError::kTrailer;
      }
      if (owed_.lines() >= CxlOwedData::kMostLines) {
        return CxlFlitError::kTooMuchOwed;  // more than anybody keeps
      }
      owed_.add(is_68_ ? flit.header.has_byte_enables &&
                             info_of(wire.message.channel).may_have_byte_enables
                       : wire.has_byte_enables);
    }
    return std::nullopt;
  }
  /// The slot has a chunk. REQUIRES: something is owed.
  Kind take_data() {
    const Kind kind = owed_.next_is_byte_enables() ? Kind::kByteEnables : Kind::kData;
    owed_.take();
    return kind;
  }

  const CxlSlotFormats& formats_;
  const CxlFlitForm form_;
  const bool is_68_;
  CxlOwedData owed_;
  const std::uint32_t rollover_;
  std::vector<std::uint8_t> body_;
};

class Reader : public SlotWalk {
 public:
  Reader(const CxlSlotFormats& formats, const CxlOwedData& owed, std::vector<std::uint8_t> body,
         CxlFlitCodec::Decoded& out)
      : SlotWalk(formats, owed, std::move(body)), out_(out) {}

  bool read() {
    out_.is_all_data = is_all_data();
    if (!is_68_) {
      out_.flit.header_256 = static_cast<std::uint16_t>(bits(0, 16));
      out_.flit.credits =
          cxl_credit_return256_of(static_cast<std::uint16_t>(bits(credits_at(form_) * 8, 16)));
    } else if (!is_all_data()) {
      out_.flit.header = cxl_header68_of(static_cast<std::uint32_t>(bits(0, 32)));
      if (out_.flit.header.is_control) {
        return read_control();
      }
      if (!out_.flit.header.is_64_byte_transfer) {
        return fail(CxlFlitError::kHalfLines, 0);
      }
    }
    out_.flit.slots.resize(slots_of(form_));
    for (std::size_t i = 0; i < out_.flit.slots.size(); ++i) {
      if (!read_slot(i, out_.flit.slots[i])) {
        return false;
      }
    }
    return true;
  }

 private:
  bool fail(CxlFlitError error, std::size_t body_byte) {
    out_.error = error;
    out_.error_offset = flit_offset(form_, body_byte);
    return false;
  }
  std::uint64_t bits(std::size_t at, std::uint32_t count) const {
    return bits_at(body_.data(), at, count);
  }

  bool read_control() {
    CxlControl control;
    control.type = static_cast<std::uint8_t>(bits(kControlTypeAt, 4));
    control.subtype = static_cast<std::uint8_t>(bits(kControlSubtypeAt, 4));
    control.payload = bits(kControlPayloadAt, 64);
    if (find_cxl_control(control.type, control.subtype) == nullptr) {
      return fail(CxlFlitError::kUnknownControl, kControlTypeAt / 8);
    }
    out_.flit.control = control;
    return true;
  }

  bool read_slot(std::size_t i, CxlSlotContents& slot) {
    const Rule rule = rule_of(i);
    bool is_data = rule == Rule::kData;
    if (is_68_ && !is_all_data()) {  // the header says
      slot.format = out_.flit.header.formats[i];
      is_data = place_of(form_, i) == CxlPlace::kG && slot.format == kCxlDataFormat68;
      if (is_data ? rule == Rule::kMessages : rule == Rule::kData) {
        return fail(is_data ? CxlFlitError::kNoDataOwed : CxlFlitError::kDataExpected,
                    slot_at(form_, i));
      }
    } else if (!is_data) {
      slot.format = static_cast<std::uint8_t>(bits(bit_of(i), kFormatBits256));
    }
    if (!is_data) {
      return read_messages(i, slot);
    }
    slot.kind = take_data();
    std::copy_n(chunk_at(i), kCxlChunkBytes, slot.chunk.begin());
    return true;
  }

  bool read_messages(std::size_t i, CxlSlotContents& slot) {
    const CxlFormat* format = formats_.find(place_of(form_, i), slot.format);
    if (format == nullptr) {
      return fail(CxlFlitError::kUnknownFormat, slot_at(form_, i));
    }
    for_places(*format, i, [&](CxlChannel channel, std::size_t bit) {
      slot.messages.push_back(message_at(channel, formats_.widths(), body_.data(), bit));
    });
    const Error error = announce(out_.flit, slot);
    return !error || fail(*error, slot_at(form_, i));
  }

  CxlFlitCodec::Decoded& out_;
};

class Writer : public SlotWalk {
 public:
  Writer(const CxlSlotFormats& formats, const CxlOwedData& owed, const CxlFlit& flit)
      : SlotWalk(formats, owed, std::vector<std::uint8_t>(body_bytes(formats.widths().form))),
        flit_(flit),
        header_(flit.header) {}

  Error write() {
    if (flit_.control) {
      return write_control();
    }
    for (; slot_ < slots_of(form_); ++slot_) {
      CxlSlotContents empty;
      empty.format = formats_.in(place_of(form_, slot_)).begin()->code;
      if (const Error error = write_slot(slot_ < flit_.slots.size() ? flit_.slots[slot_] : empty)) {
        return error;
      }
    }
    if (flit_.slots.size() > slots_of(form_)) {
      return CxlFlitError::kWrongSize;
    }
    if (!is_68_) {
      put(0, 16, flit_.header_256);
      put(credits_at(form_) * 8, 16, word_of(flit_.credits));
    } else if (!is_all_data()) {
      header_.is_control = false;
      put(0, 32, word_of(header_));
    }
    return std::nullopt;
  }
  std::size_t slot() const { return slot_; }

 private:
  void put(std::size_t at, std::uint32_t count, std::uint64_t value) {
    put_bits(body_.data(), at, count, value);
  }

  Error write_control() {
    if (!is_68_) {
      return CxlFlitError::kUnknownControl;
    }
    if (is_all_data()) {
      return CxlFlitError::kDataExpected;
    }
    header_.is_control = true;
    header_.formats = {};
    put(0, 32, word_of(header_));
    put(kControlTypeAt, 4, flit_.control->type);
    put(kControlSubtypeAt, 4, flit_.control->subtype);
    put(kControlPayloadAt, 64, flit_.control->payload);
    return std::nullopt;
  }

  Error write_slot(const CxlSlotContents& slot) {
    const Rule rule = rule_of(slot_);
    if (slot.kind == Kind::kMessages) {
      return rule == Rule::kData ? Error(CxlFlitError::kDataExpected) : write_messages(slot);
    }
    if (rule == Rule::kMessages) {
      return CxlFlitError::kNoDataOwed;
    }
    if (slot.kind != take_data()) {
      return CxlFlitError::kDataExpected;
    }
    if (is_68_) {
      header_.formats[slot_] = kCxlDataFormat68;
    }
    std::copy(slot.chunk.begin(), slot.chunk.end(), chunk_at(slot_));
    return std::nullopt;
  }

  Error write_messages(const CxlSlotContents& slot) {
    const CxlFormat* format = formats_.find(place_of(form_, slot_), slot.format);
    if (format == nullptr) {
      return CxlFlitError::kUnknownFormat;
    }
    if (is_68_) {
      header_.formats[slot_] = slot.format;
    } else {
      put(bit_of(slot_), kFormatBits256, slot.format);
    }
    std::size_t next = 0;
    bool is_right = true;
    for_places(*format, slot_, [&](CxlChannel channel, std::size_t bit) {
      if (next < slot.messages.size() && slot.messages[next].is_valid) {
        is_right = is_right && slot.messages[next].message.channel == channel;
        if (is_right) {
          put_message(slot.messages[next], formats_.widths(), body_.data(), bit);
        }
      }
      ++next;
    });
    if (!is_right) {
      return CxlFlitError::kWrongMessages;
    }
    return next < slot.messages.size() ? Error(CxlFlitError::kTooManyMessages)
                                       : announce(flit_, slot);
  }

  const CxlFlit& flit_;
  CxlHeader68 header_;
  std::size_t slot_ = 0;
};

}  // namespace

CxlFlitCodec::Decoded CxlFlitCodec::decode(const std::uint8_t* bytes, std::size_t count) {
  Decoded out;
  const auto fail = [&](CxlFlitError error, std::size_t offset) {
    out.error = error;
    out.error_offset = offset;
    return out;
  };
  if (count != bytes_of(form())) {
    return fail(CxlFlitError::kWrongSize, std::min<std::size_t>(count, bytes_of(form())));
  }
  if (form() == CxlFlitForm::k68) {
    for (std::size_t i = 0; i < kCxlProtocolIdBytes; ++i) {
      if (bytes[i] != static_cast<std::uint8_t>(CxlProtocolId::kCacheMem)) {
        return fail(CxlFlitError::kOtherProtocol, i);
      }
    }
  } else {
    out.flit.fec = fec_of(form(), bytes);
  }
  if (const auto bad = find_bad_crc(form(), bytes)) {
    return fail(CxlFlitError::kBadCrc, *bad);
  }
  Reader reader(formats_, owed_, body_of(form(), bytes), out);
  if (reader.read()) {
    owed_ = reader.owed();
  }
  return out;
}

CxlFlitCodec::Encoded CxlFlitCodec::encode(const CxlFlit& flit) {
  Encoded out;
  Writer writer(formats_, owed_, flit);
  out.error = writer.write();
  out.error_slot = writer.slot();
  if (!out.error) {
    out.bytes = framed(form(), writer.body(), flit.fec);
    owed_ = writer.owed();
  }
  return out;
}

}  // namespace flitwise
