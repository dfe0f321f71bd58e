// SPDX-License-Identifier: Apache-2.0
// The table of header fields, and its bits; the DW of OHC-A.
#include "tlp/tlp_fields.h"

#include "common/byte_vector.h"
#include "tlp/header_layout.h"
#include "tlp/ohc.h"

namespace flitwise {
namespace {

using Format = TlpField::Format;
using Part = TlpPart;

bool has_address(const Tlp& tlp) {
  return is_memory_request(tlp.type) || is_io(tlp.type);
}
bool is_wide(const Tlp& tlp) {
  return header_bytes(tlp) == 16;
}
constexpr Part kAll = [](const Tlp&) { return true; };
constexpr Part kWide = [](const Tlp& tlp) { return has_address(tlp) && is_wide(tlp); };
constexpr Part kNarrow = [](const Tlp& tlp) { return has_address(tlp) && !is_wide(tlp); };
constexpr Part kMemory = [](const Tlp& tlp) { return is_memory_request(tlp.type); };
constexpr Part kWideMemory = [](const Tlp& tlp) { return kMemory(tlp) && is_wide(tlp); };
constexpr Part kNarrowMemory = [](const Tlp& tlp) { return kMemory(tlp) && !is_wide(tlp); };
constexpr Part kHint = [](const Tlp& tlp) { return kMemory(tlp) && !is_translation_request(tlp); };
constexpr Part kConfiguration = [](const Tlp& tlp) { return is_configuration(tlp.type); };
constexpr Part kCompletion = [](const Tlp& tlp) { return is_completion(tlp.type); };
constexpr Part kNotCompletion = [](const Tlp& tlp) { return !is_completion(tlp.type); };
constexpr Part kMessage = [](const Tlp& tlp) { return is_message(tlp.type); };
// Where OHC-A has byte enables, and where OHC-B has a steering tag in the place of those or of the
// low byte of the tag. unverified [LNK-2.15] [LNK-11.17] [LNK-11.18]
constexpr Part kByteEnables = [](const Tlp& tlp) {
  return is_io(tlp.type) || is_configuration(tlp.type) ||
         (is_memory_request(tlp.type) && !has_no_byte_enables(tlp));
};
constexpr Part kSteeringEnables = [](const Tlp& tlp) {
  return is_memory_request(tlp.type) && tlp.has_processing_hint && has_no_byte_enables(tlp);
};
constexpr Part kSteeringTag = [](const Tlp& tlp) {
  return tlp.type == TlpType::kMWr && tlp.has_processing_hint;
};
constexpr Part kPlainTag = [](const Tlp& tlp) {
  return !is_message(tlp.type) && !kSteeringTag(tlp);
};

constexpr FieldAccess<Tlp> kNoWrite = {
    [](const Tlp& tlp) { return std::uint64_t{is_no_write(tlp)}; },
    [](Tlp& tlp, std::uint64_t value) {
      tlp.processing_hint = value != 0 ? 1U << kNoWriteBit : tlp.processing_hint;
    }};
// Length counts DWs of data or of what is asked for; elsewhere it is reserved. Code 0 is the
// highest number, as in Byte Count. [LNK-1.4] [LNK-2.14]
constexpr FieldAccess<Tlp> kLength = {
    field_access<&Tlp::length_dw>.get, [](Tlp& tlp, std::uint64_t value) {
      const bool counts = has_data(tlp.type) || fc_class(tlp.type) == FcClass::kNonPosted;
      tlp.length_dw = static_cast<std::uint16_t>(value == 0 && counts ? kMaxLengthDw : value);
    }};
constexpr FieldAccess<Tlp> kByteCount = {
    field_access<&Tlp::byte_count>.get, [](Tlp& tlp, std::uint64_t value) {
      tlp.byte_count = static_cast<std::uint16_t>(value == 0 ? kMaxByteCount : value);
    }};

/// One place, for all TLPs that have the field.
constexpr TlpPlaces at(unsigned dw, unsigned shift, unsigned width, Part part = nullptr) {
  return {{{part, static_cast<std::uint8_t>(dw), static_cast<std::uint8_t>(shift),
            static_cast<std::uint8_t>(width), 0}}};
}
constexpr TlpPlaces kNowhere = {};
constexpr TlpPlaces kRequester = {{{kNotCompletion, 1, 16, 16, 0}, {kCompletion, 2, 16, 16, 0}}};
constexpr TlpPlaces kAddressBits = {
    {{kWide, 2, 0, 32, 32}, {kWide, 3, 2, 30, 2}, {kNarrow, 2, 2, 30, 2}}};
// The low bits of the address, which are 0. [LNK-2.1] [LNK-11.14]
constexpr TlpPlaces kBelowAddress = {{{kWideMemory, 3, 0, 2, 0}, {kNarrowMemory, 2, 0, 2, 0}}};
// T9 and T8 stand apart. [LNK-1.1]
constexpr TlpPlaces kTag = {{{nullptr, 0, 23, 1, 9},
                             {nullptr, 0, 19, 1, 8},
                             {kNotCompletion, 1, 8, 8, 0},
                             {kCompletion, 2, 8, 8, 0}}};
constexpr TlpPlaces kFlitTag = {{{kPlainTag, 1, 0, kFlitModeTagBits, 0},
                                 {kMessage, 1, kMessageTagShift, kMessageTagBits, 0},
                                 {kSteeringTag, 1, 8, kFlitModeTagBits - 8, 8},
                                 {kSteeringTag, kOhcBDw, ohc_b::kSteeringTagShift, 8, 0}}};
constexpr TlpPlaces kFlitFirstBe = {{{kByteEnables, kOhcADw, 0, 4, 0},
                                     {kSteeringEnables, kOhcBDw, ohc_b::kSteeringTagShift, 4, 0}}};
constexpr TlpPlaces kFlitLastBe = {
    {{kByteEnables, kOhcADw, 4, 4, 0},
     {kSteeringEnables, kOhcBDw, ohc_b::kSteeringTagShift + 4, 4, 0}}};
// Bits [1:0] are in OHC-A5. [LNK-11.15] [LNK-11.17]
constexpr TlpPlaces kFlitLowerAddress = {{{nullptr, 1, 14, 1, 6},
                                          {nullptr, 2, 12, 4, 2},
                                          {nullptr, kOhcADw, kOhcA5LowerAddressShift, 2, 0}}};
constexpr TlpPlaces kFlitHandle = {
    {{kNotCompletion, 1, kFlitModeHandleBit, 1, 0}, {kCompletion, kOhcADw, kOhcA5HandleBit, 1, 0}}};
constexpr TlpPlaces kRegister = {{{nullptr, 2, 2, 10, 2}}};

// Rows of the table: the places are those of non-flit mode, then those of flit mode.
TlpField flag(const char* key, const FieldAccess<Tlp>& value, const TlpPlaces& non_flit,
              const TlpPlaces& flit, Part is_of = kAll) {
  return {key, Format::kFlag, is_of, value, 1, {non_flit, flit}};
}
TlpField number(const char* key, std::uint64_t most, const FieldAccess<Tlp>& value,
                const TlpPlaces& non_flit, const TlpPlaces& flit, Part is_of = kAll,
                Format format = Format::kNumber) {
  return {key, format, is_of, value, most, {non_flit, flit}};
}
TlpField bdf(const char* key, const FieldAccess<Tlp>& value, const TlpPlaces& both, Part is_of) {
  return {key, Format::kBdf, is_of, value, 0, {both, both}};
}
TlpField word(const char* key, const FieldAccess<Tlp>& value, const TlpPlaces& non_flit,
              const TlpPlaces& flit, Part is_of, std::vector<std::string> words) {
  return {key, Format::kWord, is_of, value, 0, {non_flit, flit}, std::move(words)};
}

constexpr std::uint32_t kPasidMask = (1U << kPasidBits) - 1U;

/// Calls take(bits) for the bits of a field that stand in the header of this TLP.
template <class Take>
void for_bits_of(const TlpField& field, const Tlp& tlp, TlpForm form, Take take) {
  for (const TlpBits& bits : field.places[static_cast<std::size_t>(form)]) {
    if (bits.width > 0 && (bits.is_of == nullptr ? field.is_of : bits.is_of)(tlp)) {
      take(bits);
    }
  }
}

}  // namespace

bool is_plain_request(const Tlp& tlp) {
  return !is_completion(tlp.type) && !is_message(tlp.type);
}

// [LNK-1.1] [LNK-2.1] [LNK-2.4] [LNK-2.5] [LNK-2.6]; flit mode: [LNK-11.13] to [LNK-11.18]
const std::vector<TlpField>& tlp_fields() {
  static const std::vector<TlpField> kFields = {
      bdf("requester_id", field_access<&Tlp::requester_id>, kRequester, kAll),
      number("tag", 1023, field_access<&Tlp::tag>, kTag, kFlitTag),
      number("tc", 7, field_access<&Tlp::tc>, at(0, 20, 3), at(0, 21, 3)),
      word("at", field_access<&Tlp::at>, at(0, 10, 2), kBelowAddress, kAll,
           {"untranslated", "translation_request", "translated", "reserved"}),
      flag("ido", field_access<&Tlp::id_based_ordering>, at(0, 18, 1), at(0, 12, 1)),
      flag("ro", field_access<&Tlp::relaxed_ordering>, at(0, 13, 1), at(0, 11, 1)),
      flag("ns", field_access<&Tlp::no_snoop>, at(0, 12, 1), at(0, 10, 1)),
      flag("th", field_access<&Tlp::has_processing_hint>, at(0, 16, 1), at(0, kOhcBBit, 1)),
      flag("td", field_access<&Tlp::has_ecrc>, at(0, 15, 1), at(0, trailer::kShift, 1)),
      flag("ep", field_access<&Tlp::is_poisoned>, at(0, 14, 1), at(1, 15, 1)),
      flag("id_is_handle", field_access<&Tlp::id_is_handle>, at(0, kHandleBit, 1), kFlitHandle),
      number("length_dw", kMaxLengthDw - 1, kLength, at(0, 0, 10), at(0, 0, 10)),
      number("first_be", 15, field_access<&Tlp::first_be>, at(1, 0, 4), kFlitFirstBe,
             is_plain_request),
      number("last_be", 15, field_access<&Tlp::last_be>, at(1, 4, 4), kFlitLastBe,
             is_plain_request),
      number("address", ~std::uint64_t{0}, field_access<&Tlp::address>, kAddressBits, kAddressBits,
             has_address, Format::kHex),
      number("ph", 3, field_access<&Tlp::processing_hint>, kBelowAddress,
             at(kOhcBDw, ohc_b::kHintShift, 2), kHint),
      flag("no_write", kNoWrite, kNowhere, at(kOhcADw, kOhcA1NoWrite, 1), is_translation_request),
      bdf("destination_id", field_access<&Tlp::completer_id>, at(2, 16, 16), kConfiguration),
      number("register_offset", 4092, field_access<&Tlp::register_offset>, kRegister, kRegister,
             kConfiguration),
      bdf("completer_id", field_access<&Tlp::completer_id>, at(1, 16, 16), kCompletion),
      word("status", field_access<&Tlp::status>, at(1, 13, 3), at(kOhcADw, 0, 3), kCompletion,
           {"SC", "UR", "RRS", "reserved_3", "CA", "reserved_5", "reserved_6", "reserved_7"}),
      flag("bcm", field_access<&Tlp::bcm>, at(1, 12, 1), kNowhere, kCompletion),
      number("byte_count", kMaxByteCount, kByteCount, at(1, 0, 12), at(2, 0, 12), kCompletion),
      number("lower_address", 127, field_access<&Tlp::lower_address>, at(2, 0, 7),
             kFlitLowerAddress, kCompletion),
      word("routing", field_access<&Tlp::routing>, at(0, 24, 3), at(0, 24, 3), kMessage,
           {"to_root_complex", "by_address", "by_id", "broadcast", "local", "gathered"}),
      number("message_code", 255, field_access<&Tlp::message_code>, at(1, 0, 8), at(1, 0, 8),
             kMessage),
      number("message_dw2", 0xffffffffU, field_access<&Tlp::message_dw2>, at(2, 0, 32),
             at(2, 0, 32), kMessage, Format::kHexDw),
      number("message_dw3", 0xffffffffU, field_access<&Tlp::message_dw3>, at(3, 0, 32),
             at(3, 0, 32), kMessage, Format::kHexDw),
  };
  return kFields;
}

const char* name_of(TlpType type) {
  static constexpr std::array<const char*, kTlpTypes> kNames = {
      "MRd",  "MRdLk", "MWr",    "IORd",     "IOWr", "CfgRd0", "CfgWr0", "CfgRd1", "CfgWr1", "Cpl",
      "CplD", "CplLk", "CplDLk", "FetchAdd", "Swap", "CAS",    "DMWr",   "Msg",    "MsgD"};
  return kNames[static_cast<std::size_t>(type)];
}

HeaderDws header_bits(const Tlp& tlp, TlpForm form) {
  HeaderDws header{};
  for (const TlpField& field : tlp_fields()) {
    for_bits_of(field, tlp, form, [&](const TlpBits& bits) {
      header[bits.dw] |= static_cast<std::uint32_t>(
          (field.value.get(tlp) >> bits.from & bits.mask()) << bits.shift);
    });
  }
  return header;
}

void take_header_dw(std::uint32_t dw, unsigned index, TlpForm form, Tlp& tlp) {
  for (const TlpField& field : tlp_fields()) {
    std::uint64_t elsewhere = 0, here = 0, seen = 0;
    for_bits_of(field, tlp, form, [&](const TlpBits& bits) {
      (bits.dw == index ? here : elsewhere) |= bits.mask() << bits.from;
      seen |= bits.dw == index ? (dw >> bits.shift & bits.mask()) << bits.from : 0;
    });
    if (here != 0) {
      field.value.set(tlp, (field.value.get(tlp) & elsewhere) | seen);
    }
  }
}

std::uint32_t encode_ohc_a(const Tlp& tlp) {
  std::uint32_t dw = header_bits(tlp, TlpForm::kFlit)[kOhcADw];
  if (is_memory_request(tlp.type) && has_no_byte_enables(tlp)) {
    dw |= tlp.length_dw > 1 ? 0xffU : 0xfU;  // all bytes
  }
  const OhcPasidPlaces* const places = pasid_in_ohc_a(tlp);
  if (places != nullptr && tlp.has_pasid) {
    dw |= bit_at(true, places->valid) | bit_at(tlp.privileged_mode_requested, places->privileged) |
          bit_at(tlp.execute_requested, places->execute) |
          (to_int(tlp.pasid) & kPasidMask) << places->shift;
  }
  return dw;
}

void decode_ohc_a(std::uint32_t dw, Tlp& tlp) {
  take_header_dw(dw, kOhcADw, TlpForm::kFlit, tlp);
  const OhcPasidPlaces* const places = pasid_in_ohc_a(tlp);
  tlp.has_pasid = places != nullptr && has_bit(dw, places->valid);
  if (tlp.has_pasid) {
    tlp.pasid = static_cast<Pasid>((dw >> places->shift) & kPasidMask);
    tlp.privileged_mode_requested = has_bit(dw, places->privileged);
    tlp.execute_requested = has_bit(dw, places->execute);
  }
}

}  // namespace flitwise
