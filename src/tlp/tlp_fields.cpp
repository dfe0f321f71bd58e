// SPDX-License-Identifier: Apache-2.0
// The table of header fields, and its bits.
#include "tlp/tlp_fields.h"

#include "tlp/flit_tlp_layout.h"
#include "tlp/header_layout.h"

namespace flitwise {
namespace {

using Format = TlpField::Format;
using Part = TlpPart;

constexpr FieldAccess<Tlp> kNoWrite = {
    [](const Tlp& tlp) { return std::uint64_t{is_no_write(tlp)}; },
    [](Tlp& tlp, std::uint64_t value) {
      tlp.processing_hint = value != 0 ? 1U << kNoWriteBit : tlp.processing_hint;
    }};
// Code 0 is the highest number. [LNK-1.4] [LNK-2.14]
constexpr FieldAccess<Tlp> kLength = {
    field_access<&Tlp::length_dw>.get, [](Tlp& tlp, std::uint64_t value) {
      const bool is_most = value == 0 && length_counts(tlp.type);
      tlp.length_dw = static_cast<std::uint16_t>(is_most ? kMaxLengthDw : value);
    }};
constexpr FieldAccess<Tlp> kByteCount = {
    field_access<&Tlp::byte_count>.get, [](Tlp& tlp, std::uint64_t value) {
      tlp.byte_count = static_cast<std::uint16_t>(value == 0 ? kMaxByteCount : value);
    }};

/// One place, for all TLPs that have the field.
constexpr TlpPlaces at(unsigned dw, unsigned shift, unsigned width, Part part = Part::kAny) {
  return {{{part, static_cast<std::uint8_t>(dw), static_cast<std::uint8_t>(shift),
            static_cast<std::uint8_t>(width), 0}}};
}
constexpr TlpPlaces kNowhere = {};
constexpr TlpPlaces kRequester = {
    {{Part::kNotCompletion, 1, 16, 16, 0}, {Part::kCompletion, 2, 16, 16, 0}}};
constexpr TlpPlaces kAddressBits = {
    {{Part::kWide, 2, 0, 32, 32}, {Part::kWide, 3, 2, 30, 2}, {Part::kNarrow, 2, 2, 30, 2}}};
// The low bits of the address, which are 0. [LNK-2.1] [LNK-11.14]
constexpr TlpPlaces kBelowAddress = {
    {{Part::kWideMemory, 3, 0, 2, 0}, {Part::kNarrowMemory, 2, 0, 2, 0}}};
// T9 and T8 stand apart. [LNK-1.1]
constexpr TlpPlaces kTag = {{{Part::kAny, 0, 23, 1, 9},
                             {Part::kAny, 0, 19, 1, 8},
                             {Part::kNotCompletion, 1, 8, 8, 0},
                             {Part::kCompletion, 2, 8, 8, 0}}};
constexpr TlpPlaces kFlitTag = {{{Part::kNotMessage, 1, 0, kFlitModeTagBits, 0},
                                 {Part::kMessage, 1, kMessageTagShift, kMessageTagBits, 0}}};
// Bits [1:0] are in OHC-A5. [LNK-11.15] [LNK-11.17]
constexpr TlpPlaces kFlitLowerAddress = {{{Part::kAny, 1, 14, 1, 6}, {Part::kAny, 2, 12, 4, 2}}};
constexpr TlpPlaces kRegister = {{{Part::kAny, 2, 2, 10, 2}}};

/// Bits of a field that stand in the header of this TLP.
struct HeaderBits {
  unsigned dw, shift;
  std::uint64_t mask;
  unsigned from;
};
/// Calls take(bits) for each of them.
template <class Take>
void for_bits_of(const TlpField& field, const Tlp& tlp, TlpForm form, Take take) {
  for (const TlpBits& bits : field.places[static_cast<std::size_t>(form)]) {
    if (bits.width > 0 && has_part(tlp, bits.part == Part::kAny ? field.part : bits.part)) {
      take(HeaderBits{bits.dw, bits.shift, (std::uint64_t{1} << bits.width) - 1, bits.from});
    }
  }
}

}  // namespace

bool has_part(const Tlp& tlp, TlpPart part) {
  const auto is_wide = [&] { return header_bytes(tlp) == 16; };
  const auto has_address = [&] { return is_memory_request(tlp.type) || is_io(tlp.type); };
  switch (part) {
    case Part::kAny:
      return true;
    case Part::kRequest:
      return !is_completion(tlp.type) && !is_message(tlp.type);
    case Part::kAddress:
      return has_address();
    case Part::kWide:
      return has_address() && is_wide();
    case Part::kNarrow:
      return has_address() && !is_wide();
    case Part::kWideMemory:
      return is_memory_request(tlp.type) && is_wide();
    case Part::kNarrowMemory:
      return is_memory_request(tlp.type) && !is_wide();
    case Part::kHint:
      return is_memory_request(tlp.type) && !is_translation_request(tlp);
    case Part::kTranslation:
      return is_translation_request(tlp);
    case Part::kConfiguration:
      return is_configuration(tlp.type);
    case Part::kCompletion:
      return is_completion(tlp.type);
    case Part::kNotCompletion:
      return !is_completion(tlp.type);
    case Part::kMessage:
      return is_message(tlp.type);
    case Part::kNotMessage:
      return !is_message(tlp.type);
  }
  return false;
}

// [LNK-1.1] [LNK-2.1] [LNK-2.4] [LNK-2.5] [LNK-2.6]; flit mode: [LNK-11.13] to [LNK-11.15]
const std::vector<TlpField>& tlp_fields() {
  static const std::vector<TlpField> kFields = {
      {"requester_id",
       Format::kBdf,
       Part::kAny,
       field_access<&Tlp::requester_id>,
       0,
       {kRequester, kRequester}},
      {"tag", Format::kNumber, Part::kAny, field_access<&Tlp::tag>, 1023, {kTag, kFlitTag}},
      {"tc", Format::kNumber, Part::kAny, field_access<&Tlp::tc>, 7, {at(0, 20, 3), at(0, 21, 3)}},
      {"at",
       Format::kWord,
       Part::kAny,
       field_access<&Tlp::at>,
       0,
       {at(0, 10, 2), kBelowAddress},
       {"untranslated", "translation_request", "translated", "reserved"}},
      {"ido",
       Format::kFlag,
       Part::kAny,
       field_access<&Tlp::id_based_ordering>,
       1,
       {at(0, 18, 1), at(0, 12, 1)}},
      {"ro",
       Format::kFlag,
       Part::kAny,
       field_access<&Tlp::relaxed_ordering>,
       1,
       {at(0, 13, 1), at(0, 11, 1)}},
      {"ns",
       Format::kFlag,
       Part::kAny,
       field_access<&Tlp::no_snoop>,
       1,
       {at(0, 12, 1), at(0, 10, 1)}},
      {"th",
       Format::kFlag,
       Part::kAny,
       field_access<&Tlp::has_processing_hint>,
       1,
       {at(0, 16, 1), at(0, kOhcBBit, 1)}},
      {"td",
       Format::kFlag,
       Part::kAny,
       field_access<&Tlp::has_ecrc>,
       1,
       {at(0, 15, 1), at(0, trailer::kShift, 1)}},
      {"ep",
       Format::kFlag,
       Part::kAny,
       field_access<&Tlp::is_poisoned>,
       1,
       {at(0, 14, 1), at(1, 15, 1)}},
      {"id_is_handle",
       Format::kFlag,
       Part::kAny,
       field_access<&Tlp::id_is_handle>,
       1,
       {at(0, kHandleBit, 1), at(1, kFlitModeHandleBit, 1, Part::kNotCompletion)}},
      {"length_dw",
       Format::kNumber,
       Part::kAny,
       kLength,
       kMaxLengthDw - 1,
       {at(0, 0, 10), at(0, 0, 10)}},
      {"first_be",
       Format::kNumber,
       Part::kRequest,
       field_access<&Tlp::first_be>,
       15,
       {at(1, 0, 4), kNowhere}},
      {"last_be",
       Format::kNumber,
       Part::kRequest,
       field_access<&Tlp::last_be>,
       15,
       {at(1, 4, 4), kNowhere}},
      {"address",
       Format::kHex,
       Part::kAddress,
       field_access<&Tlp::address>,
       ~std::uint64_t{0},
       {kAddressBits, kAddressBits}},
      {"ph",
       Format::kNumber,
       Part::kHint,
       field_access<&Tlp::processing_hint>,
       3,
       {kBelowAddress, kNowhere}},
      {"no_write", Format::kFlag, Part::kTranslation, kNoWrite, 1, {kNowhere, kNowhere}},
      {"destination_id",
       Format::kBdf,
       Part::kConfiguration,
       field_access<&Tlp::completer_id>,
       0,
       {at(2, 16, 16), at(2, 16, 16)}},
      {"register_offset",
       Format::kNumber,
       Part::kConfiguration,
       field_access<&Tlp::register_offset>,
       4092,
       {kRegister, kRegister}},
      {"completer_id",
       Format::kBdf,
       Part::kCompletion,
       field_access<&Tlp::completer_id>,
       0,
       {at(1, 16, 16), at(1, 16, 16)}},
      {"status",
       Format::kWord,
       Part::kCompletion,
       field_access<&Tlp::status>,
       0,
       {at(1, 13, 3), kNowhere},
       {"SC", "UR", "RRS", "reserved_3", "CA", "reserved_5", "reserved_6", "reserved_7"}},
      {"bcm",
       Format::kFlag,
       Part::kCompletion,
       field_access<&Tlp::bcm>,
       1,
       {at(1, 12, 1), kNowhere}},
      {"byte_count",
       Format::kNumber,
       Part::kCompletion,
       kByteCount,
       kMaxByteCount,
       {at(1, 0, 12), at(2, 0, 12)}},
      {"lower_address",
       Format::kNumber,
       Part::kCompletion,
       field_access<&Tlp::lower_address>,
       127,
       {at(2, 0, 7), kFlitLowerAddress}},
      {"routing",
       Format::kWord,
       Part::kMessage,
       field_access<&Tlp::routing>,
       0,
       {at(0, 24, 3), at(0, 24, 3)},
       {"to_root_complex", "by_address", "by_id", "broadcast", "local", "gathered"}},
      {"message_code",
       Format::kNumber,
       Part::kMessage,
       field_access<&Tlp::message_code>,
       255,
       {at(1, 0, 8), at(1, 0, 8)}},
      {"message_dw2",
       Format::kHexDw,
       Part::kMessage,
       field_access<&Tlp::message_dw2>,
       0xffffffffU,
       {at(2, 0, 32), at(2, 0, 32)}},
      {"message_dw3",
       Format::kHexDw,
       Part::kMessage,
       field_access<&Tlp::message_dw3>,
       0xffffffffU,
       {at(3, 0, 32), at(3, 0, 32)}},
  };
  return kFields;
}

std::array<std::uint32_t, 4> header_bits(const Tlp& tlp, TlpForm form) {
  std::array<std::uint32_t, 4> header{};
  for (const TlpField& field : tlp_fields()) {
    for_bits_of(field, tlp, form, [&](const HeaderBits& bits) {
      header[bits.dw] |=
          static_cast<std::uint32_t>((field.value.get(tlp) >> bits.from & bits.mask) << bits.shift);
    });
  }
  return header;
}

void take_header_dw(std::uint32_t dw, unsigned index, TlpForm form, Tlp& tlp) {
  for (const TlpField& field : tlp_fields()) {
    std::uint64_t elsewhere = 0, here = 0, seen = 0;
    for_bits_of(field, tlp, form, [&](const HeaderBits& bits) {
      (bits.dw == index ? here : elsewhere) |= bits.mask << bits.from;
      seen |= bits.dw == index ? (dw >> bits.shift & bits.mask) << bits.from : 0;
    });
    if (here != 0) {
      field.value.set(tlp, (field.value.get(tlp) & elsewhere) | seen);
    }
  }
}

}  // namespace flitwise
