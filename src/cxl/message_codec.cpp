// SPDX-License-Identifier: Apache-2.0
// Messages as bits.
#include "cxl/message_codec.h"

#include <algorithm>

#include "cxl/bit_string.h"

namespace flitwise {
namespace {

std::uint64_t bits_of(const CxlWireMessage& wire, CxlFieldSpec spec) {
  switch (spec.field) {
    case CxlField::kValid:
      return wire.is_valid ? 1 : 0;
    case CxlField::kByteEnables:
      return wire.has_byte_enables ? 1 : 0;
    case CxlField::kTrailer:
      return wire.has_trailer ? 1 : 0;
    default:
      return value_of(wire.message, spec);
  }
}

void set_bits(CxlWireMessage& wire, CxlFieldSpec spec, std::uint64_t value) {
  switch (spec.field) {
    case CxlField::kValid:
      wire.is_valid = value != 0;
      return;
    case CxlField::kByteEnables:
      wire.has_byte_enables = value != 0;
      return;
    case CxlField::kTrailer:
      wire.has_trailer = value != 0;
      return;
    default:
      set_value(wire.message, spec, value);
  }
}

/// Places for the bits of an identity: reserved ones first, then behind the message. [CXL-1.5]
struct IdentityBits {
  std::uint32_t done = 0, total = 0;

  IdentityBits(CxlChannel channel, const CxlWidths& widths)
      : total(channel == CxlChannel::kD2hReq ? widths.identity_bits : 0) {}
  std::uint32_t take(std::uint32_t room) {
    const std::uint32_t taken = std::min(room, total - done);
    done += taken;
    return taken;
  }
};

}  // namespace

void put_message(const CxlWireMessage& wire, const CxlWidths& widths, std::uint8_t* bytes,
                 std::size_t at) {
  IdentityBits identity(wire.message.channel, widths);
  const auto put_identity = [&](std::uint32_t room) {
    const std::uint32_t first = identity.done;
    if (const std::uint32_t count = identity.take(room); count > 0) {
      put_bits(bytes, at, count, wire.message.identity >> first);
    }
  };
  for (const CxlFieldSpec& spec : fields_of(widths.form, wire.message.channel)) {
    if (spec.field == CxlField::kReserved) {
      put_identity(spec.bits);
    } else {
      put_bits(bytes, at, spec.bits, bits_of(wire, spec));
    }
    at += spec.bits;
  }
  put_identity(kMostIdentityBits);
}

CxlWireMessage message_at(CxlChannel channel, const CxlWidths& widths, const std::uint8_t* bytes,
                          std::size_t at) {
  CxlWireMessage wire;
  wire.message.channel = channel;
  IdentityBits identity(channel, widths);
  const auto take_identity = [&](std::uint32_t room) {
    const std::uint32_t first = identity.done;
    if (const std::uint32_t count = identity.take(room); count > 0) {
      wire.message.identity |= bits_at(bytes, at, count) << first;
    }
  };
  for (const CxlFieldSpec& spec : fields_of(widths.form, channel)) {
    if (spec.field == CxlField::kReserved) {
      take_identity(spec.bits);
    } else {
      set_bits(wire, spec, bits_at(bytes, at, spec.bits));
    }
    at += spec.bits;
  }
  take_identity(kMostIdentityBits);
  return wire;
}

}  // namespace flitwise
