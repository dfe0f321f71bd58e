// SPDX-License-Identifier: Apache-2.0
// Flits as bytes.
#include "cxl/flit_codec.h"

#include <algorithm>

#include "cxl/bit_string.h"
#include "cxl/flit_frame.h"
#include "cxl/protocol_id.h"
#include "cxl/slot_walk.h"

namespace flitwise {
namespace {

using Error = std::optional<CxlFlitError>;
using Kind = CxlSlot::Kind;
using Rule = CxlSlotWalk::Rule;

constexpr std::uint32_t kFormatBits256 = 4;

/// Do byte enables go with the line of this message?
bool has_byte_enables(const CxlFlit& flit, CxlFlitForm form, const CxlWireMessage& wire) {
  return form == CxlFlitForm::k68
             ? flit.header.has_byte_enables && info_of(wire.message.channel).may_have_byte_enables
             : wire.has_byte_enables;
}

/// Notes the lines that the messages of a slot announce.
Error announce(const CxlFlit& flit, CxlFlitForm form, const CxlSlotContents& slot,
               CxlSlotWalk& walk) {
  for (const CxlWireMessage& wire : slot.messages) {
    if (!wire.is_valid || !wire.message.has_data()) {
      continue;
    }
    if (wire.has_trailer) {
      return CxlFlitError::kTrailer;
    }
    if (!walk.announce(has_byte_enables(flit, form, wire))) {
      return CxlFlitError::kTooMuchOwed;
    }
  }
  return std::nullopt;
}

// ---- reading

class Reader {
 public:
  Reader(const CxlSlotFormats& formats, const CxlOwedData& owed, std::vector<std::uint8_t> body,
         CxlFlitCodec::Decoded& out)
      : formats_(formats),
        form_(formats.widths().form),
        walk_(form_, owed),
        body_(std::move(body)),
        out_(out) {}

  bool read() {
    out_.is_all_data = walk_.is_all_data();
    if (form_ == CxlFlitForm::k68 && !out_.is_all_data) {
      out_.flit.header = cxl_header68_of(static_cast<std::uint32_t>(bits_at(body_.data(), 0, 32)));
      if (out_.flit.header.is_control) {
        return read_control();
      }
      if (!out_.flit.header.is_64_byte_transfer) {
        return fail(CxlFlitError::kHalfLines, 0);
      }
    } else if (form_ != CxlFlitForm::k68) {
      out_.flit.header_256 = static_cast<std::uint16_t>(bits_at(body_.data(), 0, 16));
      out_.flit.credits = cxl_credit_return256_of(
          static_cast<std::uint16_t>(bits_at(body_.data(), credits_at(form_) * 8, 16)));
    }
    out_.flit.slots.resize(slots_of(form_));
    for (std::size_t i = 0; i < out_.flit.slots.size(); ++i) {
      if (!read_slot(i, out_.flit.slots[i])) {
        return false;
      }
    }
    return true;
  }
  const CxlOwedData& owed() const { return walk_.owed(); }

 private:
  bool fail(CxlFlitError error, std::size_t body_byte) {
    out_.error = error;
    out_.error_offset = flit_offset(form_, body_byte);
    return false;
  }
  std::uint64_t bits(std::size_t slot, std::size_t at, std::uint32_t count) const {
    return bits_at(body_.data(), slot_at(form_, slot) * 8 + at, count);
  }

  bool read_control() {
    CxlControl control;
    control.type = static_cast<std::uint8_t>(bits(0, kControlTypeAt, 4));
    control.subtype = static_cast<std::uint8_t>(bits(0, kControlSubtypeAt, 4));
    control.payload = bits(0, kControlPayloadAt, 64);
    if (find_cxl_control(control.type, control.subtype) == nullptr) {
      return fail(CxlFlitError::kUnknownControl, kControlTypeAt / 8);
    }
    out_.flit.control = control;
    return true;
  }

  bool read_slot(std::size_t i, CxlSlotContents& slot) {
    const Rule rule = walk_.rule_of(i);
    const std::size_t at = slot_at(form_, i);
    if (form_ == CxlFlitForm::k68 && !out_.is_all_data) {
      slot.format = out_.flit.header.formats[i];
      const bool is_data = place_of(form_, i) == CxlPlace::kG && slot.format == kCxlDataFormat68;
      if (is_data && rule == Rule::kMessages) {
        return fail(CxlFlitError::kNoDataOwed, at);
      }
      if (!is_data && rule == Rule::kData) {
        return fail(CxlFlitError::kDataExpected, at);
      }
      return is_data ? read_data(i, slot) : read_messages(i, slot);
    }
    if (rule == Rule::kData) {
      return read_data(i, slot);
    }
    slot.format = static_cast<std::uint8_t>(bits(i, 0, kFormatBits256));
    return read_messages(i, slot);
  }

  bool read_data(std::size_t i, CxlSlotContents& slot) {
    slot.kind = walk_.take_data();
    std::copy_n(body_.begin() + static_cast<std::ptrdiff_t>(slot_at(form_, i)), kCxlChunkBytes,
                slot.chunk.begin());
    return true;
  }

  bool read_messages(std::size_t i, CxlSlotContents& slot) {
    const std::size_t at = slot_at(form_, i);
    const CxlFormat* format = formats_.find(place_of(form_, i), slot.format);
    if (format == nullptr) {
      return fail(CxlFlitError::kUnknownFormat, at);
    }
    std::size_t bit = at * 8 + first_message_bit(form_, i);
    for (const CxlGroup& group : format->groups) {
      for (std::uint8_t n = 0; n < group.count; ++n) {
        slot.messages.push_back(message_at(group.channel, formats_.widths(), body_.data(), bit));
        bit += formats_.widths().of(group.channel);
      }
    }
    const Error error = announce(out_.flit, form_, slot, walk_);
    return !error || fail(*error, at);
  }

  const CxlSlotFormats& formats_;
  const CxlFlitForm form_;
  CxlSlotWalk walk_;
  std::vector<std::uint8_t> body_;
  CxlFlitCodec::Decoded& out_;
};

// ---- writing

class Writer {
 public:
  Writer(const CxlSlotFormats& formats, const CxlOwedData& owed, const CxlFlit& flit)
      : formats_(formats),
        form_(formats.widths().form),
        walk_(form_, owed),
        flit_(flit),
        header_(flit.header),
        body_(body_bytes(form_)) {}

  Error write() {
    if (flit_.control) {
      return write_control();
    }
    for (; slot_ < slots_of(form_); ++slot_) {
      const bool is_there = slot_ < flit_.slots.size();
      if (const Error error = is_there ? write_slot(flit_.slots[slot_]) : write_empty()) {
        return error;
      }
    }
    if (flit_.slots.size() > slots_of(form_)) {
      return CxlFlitError::kWrongSize;
    }
    if (form_ == CxlFlitForm::k68 && !walk_.is_all_data()) {
      header_.is_control = false;
      put_bits(body_.data(), 0, 32, word_of(header_));
    } else if (form_ != CxlFlitForm::k68) {
      put_bits(body_.data(), 0, 16, flit_.header_256);
      put_bits(body_.data(), credits_at(form_) * 8, 16, word_of(flit_.credits));
    }
    return std::nullopt;
  }
  std::size_t slot() const { return slot_; }
  const std::vector<std::uint8_t>& body() const { return body_; }
  const CxlOwedData& owed() const { return walk_.owed(); }

 private:
  Error write_control() {
    if (form_ != CxlFlitForm::k68) {
      return CxlFlitError::kUnknownControl;
    }
    if (walk_.is_all_data()) {
      return CxlFlitError::kDataExpected;
    }
    header_.is_control = true;
    header_.formats = {};
    put_bits(body_.data(), 0, 32, word_of(header_));
    put_bits(body_.data(), kControlTypeAt, 4, flit_.control->type);
    put_bits(body_.data(), kControlSubtypeAt, 4, flit_.control->subtype);
    put_bits(body_.data(), kControlPayloadAt, 64, flit_.control->payload);
    return std::nullopt;
  }

  Error write_empty() {
    CxlSlotContents empty;
    empty.format = formats_.in(place_of(form_, slot_)).begin()->code;
    return write_slot(empty);
  }

  Error write_slot(const CxlSlotContents& slot) {
    const Rule rule = walk_.rule_of(slot_);
    if (slot.kind == Kind::kMessages) {
      return rule == Rule::kData ? Error(CxlFlitError::kDataExpected) : write_messages(slot);
    }
    if (rule == Rule::kMessages) {
      return CxlFlitError::kNoDataOwed;
    }
    if (slot.kind != walk_.take_data()) {
      return CxlFlitError::kDataExpected;
    }
    if (form_ == CxlFlitForm::k68) {
      header_.formats[slot_] = kCxlDataFormat68;
    }
    std::copy(slot.chunk.begin(), slot.chunk.end(),
              body_.begin() + static_cast<std::ptrdiff_t>(slot_at(form_, slot_)));
    return std::nullopt;
  }

  Error write_messages(const CxlSlotContents& slot) {
    const CxlFormat* format = formats_.find(place_of(form_, slot_), slot.format);
    if (format == nullptr) {
      return CxlFlitError::kUnknownFormat;
    }
    if (form_ == CxlFlitForm::k68) {
      header_.formats[slot_] = slot.format;
    } else {
      put_bits(body_.data(), slot_at(form_, slot_) * 8, kFormatBits256, slot.format);
    }
    std::size_t bit = slot_at(form_, slot_) * 8 + first_message_bit(form_, slot_);
    std::size_t next = 0;
    for (const CxlGroup& group : format->groups) {
      for (std::uint8_t n = 0; n < group.count; ++n, ++next) {
        if (next < slot.messages.size() && slot.messages[next].is_valid) {
          if (slot.messages[next].message.channel != group.channel) {
            return CxlFlitError::kWrongMessages;
          }
          put_message(slot.messages[next], formats_.widths(), body_.data(), bit);
        }
        bit += formats_.widths().of(group.channel);
      }
    }
    return next < slot.messages.size() ? Error(CxlFlitError::kTooManyMessages)
                                       : announce(flit_, form_, slot, walk_);
  }

  const CxlSlotFormats& formats_;
  const CxlFlitForm form_;
  CxlSlotWalk walk_;
  const CxlFlit& flit_;
  CxlHeader68 header_;
  std::vector<std::uint8_t> body_;
  std::size_t slot_ = 0;
};

}  // namespace

bool CxlFlitCodec::next_is_all_data() const {
  return CxlSlotWalk(form(), owed_).is_all_data();
}

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
