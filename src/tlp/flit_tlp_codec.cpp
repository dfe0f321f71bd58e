// SPDX-License-Identifier: Apache-2.0
// Encoder and decoder of TLPs in flit mode.
#include "tlp/flit_tlp_codec.h"

#include <algorithm>

#include "common/byte_vector.h"
#include "flitwise/error.h"
#include "tlp/crc.h"
#include "tlp/header_layout.h"
#include "tlp/ohc.h"
#include "tlp/tlp_fields.h"

namespace flitwise {
namespace {

// ---- the front

struct ErrorText {
  const char* name;
  const char* sentence;
};
constexpr ErrorText kErrorTexts[kFlitTlpErrors] = {
    {"truncated", "the bytes end inside prefixes, header or OHC"},
    {"nop_tlp", "a NOP TLP; expected one that says something"},
    {"unknown_type", "no TLP of flit mode has this Type"},
    {"uio_not_modelled", "unordered I/O is not modelled"},
    {"ohc_c_not_modelled", "OHC-C (IDE) is not modelled"},
    {"trailer_not_modelled", "trailers other than ECRC are not modelled"},
    {"missing_ohc_a", "an I/O or configuration request without OHC-A"},
    {"unknown_prefix", "a DW of OHC-E is no vendor End-End prefix; others are not modelled"},
    {"too_many_prefixes",
     "too many prefixes; expected at most five, local ones and OHC-E together"},
    {"length_mismatch", "fewer bytes than the first DW announces"},
    {"trailing_bytes", "more bytes than the first DW announces"},
    {"ecrc_mismatch", "ECRC does not fit the bytes"},
    {"rule_broken", "its fields break a rule"},
};

constexpr unsigned kRoutings = static_cast<unsigned>(MsgRouting::kGathered) + 1U;

bool fail(FlitTlpFront& front, FlitTlpError error, std::size_t offset) {
  front.error = error;
  front.error_offset = offset;
  return false;
}

bool read_local_prefix(std::uint32_t dw, FlitTlpFront& front) {
  Tlp& tlp = front.tlp;
  if (tlp.other_prefix_count == tlp.other_prefixes.size()) {
    return fail(front, FlitTlpError::kTooManyPrefixes, front.header_at);
  }
  tlp.other_prefixes[tlp.other_prefix_count++] = dw;
  front.header_at += 4;
  return true;
}

bool read_type(std::uint8_t code, FlitTlpFront& front) {
  for (int i = 0; i < kTlpTypes && code != FlitTypeCodes::kNone; ++i) {
    const auto type = static_cast<TlpType>(i);
    const FlitTypeCodes codes = flit_type_codes(type);
    const bool is_wide =
        code >= codes.wide && code < codes.wide + (is_message(type) ? kRoutings : 1U);
    if (is_wide || code == codes.narrow) {
      front.tlp.type = type;
      front.tlp.is_4dw = is_wide;
      front.tlp.routing = static_cast<MsgRouting>(is_wide ? code - codes.wide : 0);
      return true;
    }
  }
  const bool is_uio = code == flit_type::kUioMRd || code == flit_type::kUioMWr;
  return fail(front,
              is_uio                    ? FlitTlpError::kUioNotModelled
              : code == flit_type::kNop ? FlitTlpError::kNop
                                        : FlitTlpError::kUnknownType,
              front.header_at);
}

// [LNK-11.13]
bool read_first_dw(std::uint32_t dw, FlitTlpFront& front) {
  Tlp& tlp = front.tlp;
  if (!read_type(static_cast<std::uint8_t>(dw >> 24), front)) {
    return false;
  }
  if (has_bit(dw, kOhcCBit)) {
    return fail(front, FlitTlpError::kOhcCNotModelled, front.header_at + 1);
  }
  front.has_ohc_a = has_bit(dw, kOhcABit);
  if (!front.has_ohc_a && (is_io(tlp.type) || is_configuration(tlp.type))) {
    return fail(front, FlitTlpError::kMissingOhcA, front.header_at + 1);
  }
  front.ohc_e_dws = kOhcEDws[(dw >> kOhcEShift) & 3U];
  const unsigned trailer = (dw >> trailer::kShift) & 7U;
  if (trailer != trailer::kNone && trailer != trailer::kEcrc) {
    return fail(front, FlitTlpError::kTrailerNotModelled, front.header_at + 2);
  }
  take_header_dw(dw, 0, TlpForm::kFlit, tlp);
  return true;
}

}  // namespace

FlitTlpFront read_flit_tlp_front(const std::uint8_t* bytes, std::size_t count) {
  FlitTlpFront front;
  while (count >= front.header_at + 4) {
    const std::uint32_t dw = dw_at(bytes + front.header_at);
    if (!is_flit_mode_local_prefix(bytes[front.header_at])) {
      front.is_complete = read_first_dw(dw, front);
      break;
    }
    if (!read_local_prefix(dw, front)) {
      break;
    }
  }
  return front;
}

const char* name_of(FlitTlpError error) {
  return kErrorTexts[static_cast<std::size_t>(error)].name;
}

const char* sentence_of(FlitTlpError error) {
  return kErrorTexts[static_cast<std::size_t>(error)].sentence;
}

// ---- the whole TLP

namespace {

using Gap = std::optional<FlitModeGap>;

/// Type[0] and EP count as 1, as in non-flit mode. unverified [LNK-11.19]
constexpr EcrcVariantBits kFlitModeVariantBits = {0x01, 0, 0, 0, 0, 0, 0x80, 0};

Gap find_prefix_gap(const Tlp& tlp) {
  const unsigned locals = local_prefixes(tlp);
  for (unsigned i = 0; i < tlp.other_prefix_count; ++i) {
    const std::uint32_t dw = tlp.other_prefixes[i];
    if (i < locals ? !is_flit_mode_local_prefix(prefix_type(dw)) : !is_in_ohc_e(dw)) {
      return FlitModeGap{"prefixes",
                         "flit mode has no MR-IOV prefix, and those of TPH and IDE are not modelled"
                         " there; expected 8d, 8e or 8f local ones, 9e or 9f End-End ones"};
    }
  }
  if (tlp.other_prefix_count - locals > kOhcEDws.back()) {
    return FlitModeGap{"prefixes", "more than four End-End prefixes; OHC-E has four DWs at most"};
  }
  if (tlp.has_pasid && tlp.prefixes_before_pasid > locals) {
    return FlitModeGap{"prefixes_before_pasid",
                       "OHC-A stands before OHC-E; expected no End-End prefix before the PASID"};
  }
  return std::nullopt;
}

Gap find_tag_gap(const Tlp& tlp) {
  if (is_message(tlp.type) && tlp.tag >> kMessageTagBits != 0) {
    return FlitModeGap{"tag", "the tag of a message has six bits in flit mode; expected 0 to 63"};
  }
  if (tlp.tag >> kFlitModeTagBits != 0) {
    return FlitModeGap{"tag", "a tag has 14 bits in flit mode; expected 0 to 16383"};
  }
  return std::nullopt;
}

Gap find_memory_gap(const Tlp& tlp) {
  if (tlp.has_processing_hint) {
    return std::nullopt;
  }
  if (tlp.processing_hint != 0 && !is_translation_request(tlp)) {
    return FlitModeGap{"ph", "without th there is no OHC-B; expected 0"};
  }
  if (has_no_byte_enables(tlp) && !has_full_byte_enables(tlp)) {
    return FlitModeGap{"first_be", "atomics have no byte enables in flit mode; expected all set"};
  }
  return std::nullopt;
}

// With OHC-A and OHC-B. [LNK-11.13]
void put_header(const Tlp& tlp, bool with_ohc_a, ByteVector& out) {
  HeaderDws header = header_bits(tlp, TlpForm::kFlit);
  const FlitTypeCodes codes = flit_type_codes(tlp.type);
  const std::uint32_t type = header_bytes(tlp) == 16 ? codes.wide : codes.narrow;
  const auto* const ohc_e = std::find(kOhcEDws.begin(), kOhcEDws.end(), ohc_e_dws(tlp));
  header[0] |= type << 24 | static_cast<std::uint32_t>(ohc_e - kOhcEDws.begin()) << kOhcEShift |
               bit_at(with_ohc_a, kOhcABit);
  for (unsigned i = 0; i < header_bytes(tlp) / 4U; ++i) {
    put_dw(out, header[i]);
  }
  if (with_ohc_a) {
    put_dw(out, encode_ohc_a(tlp));
  }
  if (has_ohc_b(tlp)) {
    put_dw(out, header[kOhcBDw]);
  }
}

/// Of a TLP whose header stands behind header_at bytes of local prefixes; count: without the
/// trailer. [LNK-11.19]
std::uint32_t ecrc_of(const std::uint8_t* tlp, std::size_t count, std::size_t header_at) {
  return ecrc(tlp, count, header_at, header_at, kFlitModeVariantBits);
}

/// Reads one TLP front to back and stops at the first error.
class FlitDecoder {
 public:
  FlitDecoder(const std::uint8_t* bytes, std::size_t count)
      : bytes_(bytes), count_(count), read_{read_flit_tlp_front(bytes, count), false, {}} {}

  FlitTlpDecodeResult run() {
    if (has_front()) {
      read_header();
      read_ohc_a_and_b();
      if (read_ohc_e() && check_extent() && check_ecrc()) {
        read_.violation = check_format(tlp_);
        if (read_.violation) {
          fail(read_, FlitTlpError::kRuleBroken, offset_of(*read_.violation));
        }
      }
    }
    return read_;
  }

 private:
  bool has_front() {
    if (read_.error) {
      return false;
    }
    return (read_.is_complete && count_ >= read_.payload_at()) ||
           fail(read_, FlitTlpError::kTruncated, count_);
  }

  // [LNK-11.14] [LNK-11.15]
  void read_header() {
    for (unsigned i = 1; i < header_bytes(tlp_) / 4; ++i) {
      take_header_dw(dw_at(bytes_ + read_.header_at + std::size_t{4} * i), i, TlpForm::kFlit, tlp_);
    }
  }

  // [LNK-11.16] [LNK-11.17] [LNK-11.18]
  void read_ohc_a_and_b() {
    set_full_byte_enables(tlp_);
    if (read_.has_ohc_a) {
      decode_ohc_a(dw_at(bytes_ + read_.ohc_at()), tlp_);
    }
    if (tlp_.has_processing_hint) {
      take_header_dw(dw_at(bytes_ + read_.ohc_e_at() - 4), kOhcBDw, TlpForm::kFlit, tlp_);
    }
    tlp_.prefixes_before_pasid = tlp_.has_pasid ? tlp_.other_prefix_count : std::uint8_t{0};
    read_.has_spare_ohc_a = read_.has_ohc_a && !has_ohc_a(tlp_);
  }

  // The last of four DWs may be empty. [LNK-11.18]
  bool read_ohc_e() {
    for (unsigned i = 0; i < read_.ohc_e_dws; ++i) {
      const std::size_t place = read_.ohc_e_at() + std::size_t{4} * i;
      const std::uint32_t dw = dw_at(bytes_ + place);
      if (i == 3 && dw == 0) {
        break;
      }
      if (!is_in_ohc_e(dw)) {
        return fail(read_, FlitTlpError::kUnknownPrefix, place);
      }
      if (tlp_.other_prefix_count == tlp_.other_prefixes.size()) {
        return fail(read_, FlitTlpError::kTooManyPrefixes, place);
      }
      tlp_.other_prefixes[tlp_.other_prefix_count++] = dw;
    }
    return true;
  }

  bool check_extent() {
    if (count_ < read_.bytes()) {
      return fail(read_, FlitTlpError::kLengthMismatch, count_);
    }
    return count_ == read_.bytes() || fail(read_, FlitTlpError::kTrailingBytes, read_.bytes());
  }

  // [LNK-11.19]
  bool check_ecrc() {
    if (!tlp_.has_ecrc) {
      return true;
    }
    const std::size_t place = read_.trailer_at();
    const std::uint32_t seen = __builtin_bswap32(dw_at(bytes_ + place));
    return seen == ecrc_of(bytes_, place, read_.header_at) ||
           fail(read_, FlitTlpError::kEcrcMismatch, place);
  }

  // Byte of the field that broke a rule.
  std::size_t offset_of(TlpViolation violation) const {
    switch (violation) {
      case TlpViolation::kBadLength:
      case TlpViolation::kCrosses4KiB: return read_.header_at + 2;
      case TlpViolation::kReservedAddressType:
      case TlpViolation::kUnalignedAtomic: return read_.ohc_at() - 1;
      case TlpViolation::kBadByteEnables:
        return read_.has_ohc_a ? read_.ohc_at() + 3 : read_.header_at + 1;
      case TlpViolation::kPasidNotPermitted: return read_.ohc_at();
      default: return read_.header_at;
    }
  }

  const std::uint8_t* bytes_;
  std::size_t count_;
  FlitTlpDecodeResult read_;
  Tlp& tlp_ = read_.tlp;
};

}  // namespace

std::optional<FlitModeGap> find_flit_mode_gap(const Tlp& tlp) {
  if (tlp.at != AddressType::kUntranslated && !is_memory_request(tlp.type)) {
    return FlitModeGap{"at", "only memory requests have AT in flit mode; expected untranslated"};
  }
  if (tlp.bcm) {
    return FlitModeGap{"bcm", "flit mode has no BCM; expected false"};
  }
  if (tlp.has_pasid && pasid_in_ohc_a(tlp) == nullptr) {
    return FlitModeGap{"pasid", "the OHC-A of this type has no PASID"};
  }
  if (const Gap gap = find_tag_gap(tlp)) {
    return gap;
  }
  const Gap gap = is_memory_request(tlp.type) ? find_memory_gap(tlp) : std::nullopt;
  return gap ? gap : find_prefix_gap(tlp);
}

void encode_flit_mode(const Tlp& tlp, bool has_spare_ohc_a, const std::uint8_t* payload,
                      std::size_t payload_bytes, ByteVector& out) {
  FLITWISE_CHECK(payload_bytes <= data_bytes(tlp), "payload longer than Length");
  FLITWISE_CHECK(!find_flit_mode_gap(tlp), "a field that flit mode has not");
  const std::size_t start = out.size();
  const unsigned locals = local_prefixes(tlp);
  for (unsigned i = 0; i < locals; ++i) {
    put_dw(out, tlp.other_prefixes[i]);
  }
  put_header(tlp, has_spare_ohc_a || has_ohc_a(tlp), out);
  for (unsigned i = 0; i < ohc_e_dws(tlp); ++i) {  // three fill four with a 0
    put_dw(out, locals + i < tlp.other_prefix_count ? tlp.other_prefixes[locals + i] : 0U);
  }
  out.insert(out.end(), payload, payload + payload_bytes);
  out.insert(out.end(), data_bytes(tlp) - payload_bytes + (tlp.has_ecrc ? 4U : 0U), 0);
  write_flit_mode_ecrc(tlp, out.data() + start, out.size() - start);
}

void write_flit_mode_ecrc(const Tlp& tlp, std::uint8_t* bytes, std::size_t count) {
  if (tlp.has_ecrc) {
    const std::size_t place = count - 4;
    put_ecrc(ecrc_of(bytes, place, std::size_t{4} * local_prefixes(tlp)), bytes + place);
  }
}

FlitTlpDecodeResult decode_flit_mode(const std::uint8_t* bytes, std::size_t count) {
  return FlitDecoder(bytes, count).run();
}

}  // namespace flitwise
