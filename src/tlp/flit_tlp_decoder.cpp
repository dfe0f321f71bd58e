// SPDX-License-Identifier: Apache-2.0
// Decoder of TLPs in flit mode.
#include "tlp/flit_tlp_decoder.h"

#include "tlp/dw_bytes.h"
#include "tlp/flit_tlp_encoder.h"
#include "tlp/flit_tlp_layout.h"
#include "tlp/ohc_fields.h"
#include "tlp/tlp_fields.h"

namespace flitwise {
namespace {

/// Reads one TLP front to back and stops at the first error.
class FlitDecoder {
 public:
  FlitDecoder(const std::uint8_t* bytes, std::size_t count)
      : bytes_(bytes), count_(count), front_(read_flit_tlp_front(bytes, count)) {
    result_.tlp = front_.tlp;
  }

  FlitTlpDecodeResult run() {
    if (accept_front()) {
      read_header();
      read_ohc_a_and_b();
      if (read_ohc_e() && check_extent() && check_ecrc()) {
        check_rules();
      }
    }
    return result_;
  }

 private:
  bool fail(FlitTlpError error, std::size_t offset) {
    result_.error = error;
    result_.error_offset = offset;
    return false;
  }

  bool accept_front() {
    if (front_.error) {
      return fail(*front_.error, front_.error_offset);
    }
    if (!front_.is_complete || count_ < front_.payload_at()) {
      return fail(FlitTlpError::kTruncated, count_);
    }
    result_.payload_offset = front_.payload_at();
    return true;
  }

  // [LNK-11.14] [LNK-11.15]
  void read_header() {
    for (unsigned i = 1; i < header_bytes(result_.tlp) / 4; ++i) {
      take_header_dw(dw_at(bytes_ + front_.header_at + std::size_t{4} * i), i, TlpForm::kFlit,
                     result_.tlp);
    }
  }

  // [LNK-11.16] [LNK-11.17] [LNK-11.18]
  void read_ohc_a_and_b() {
    Tlp& tlp = result_.tlp;
    set_full_byte_enables(tlp);
    if (front_.has_ohc_a) {
      decode_ohc_a(dw_at(bytes_ + front_.ohc_at()), tlp);
    }
    if (tlp.has_processing_hint) {
      decode_ohc_b(dw_at(bytes_ + front_.ohc_e_at() - 4), tlp);
    }
    tlp.prefixes_before_pasid = tlp.has_pasid ? tlp.other_prefix_count : std::uint8_t{0};
    result_.has_spare_ohc_a = front_.has_ohc_a && !has_ohc_a(tlp);
  }

  // The last of four DWs may be empty. [LNK-11.18]
  bool read_ohc_e() {
    Tlp& tlp = result_.tlp;
    for (unsigned i = 0; i < front_.ohc_e_dws; ++i) {
      const std::size_t place = front_.ohc_e_at() + std::size_t{4} * i;
      const std::uint32_t dw = dw_at(bytes_ + place);
      if (i == 3 && dw == 0) {
        break;
      }
      if (!is_in_ohc_e(dw)) {
        return fail(FlitTlpError::kUnknownPrefix, place);
      }
      if (tlp.other_prefix_count == tlp.other_prefixes.size()) {
        return fail(FlitTlpError::kTooManyPrefixes, place);
      }
      tlp.other_prefixes[tlp.other_prefix_count++] = dw;
    }
    return true;
  }

  bool check_extent() {
    if (count_ < front_.bytes()) {
      return fail(FlitTlpError::kLengthMismatch, count_);
    }
    return count_ == front_.bytes() || fail(FlitTlpError::kTrailingBytes, front_.bytes());
  }

  // [LNK-11.19]
  bool check_ecrc() {
    if (!result_.tlp.has_ecrc) {
      return true;
    }
    const std::size_t place = front_.trailer_at();
    const std::uint32_t seen = __builtin_bswap32(dw_at(bytes_ + place));
    return seen == flit_mode_ecrc(bytes_, place, front_.header_at) ||
           fail(FlitTlpError::kEcrcMismatch, place);
  }

  void check_rules() {
    result_.violation = check_format(result_.tlp);
    if (result_.violation) {
      fail(FlitTlpError::kRuleBroken, offset_of(*result_.violation));
    }
  }

  // Byte of the field that broke a rule.
  std::size_t offset_of(TlpViolation violation) const {
    switch (violation) {
      case TlpViolation::kBadLength:
      case TlpViolation::kCrosses4KiB:
        return front_.header_at + 2;
      case TlpViolation::kReservedAddressType:
      case TlpViolation::kUnalignedAtomic:
        return front_.ohc_at() - 1;
      case TlpViolation::kBadByteEnables:
        return front_.has_ohc_a ? front_.ohc_at() + 3 : front_.header_at + 1;
      case TlpViolation::kPasidNotPermitted:
        return front_.ohc_at();
      default:
        return front_.header_at;
    }
  }

  const std::uint8_t* bytes_;
  std::size_t count_;
  const FlitTlpFront front_;
  FlitTlpDecodeResult result_;
};

}  // namespace

FlitTlpDecodeResult decode_flit_mode(const std::uint8_t* bytes, std::size_t count) {
  return FlitDecoder(bytes, count).run();
}

}  // namespace flitwise
