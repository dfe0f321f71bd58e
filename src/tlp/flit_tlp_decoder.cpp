// SPDX-License-Identifier: Apache-2.0
// Decoder of TLPs in flit mode.
#include "tlp/flit_tlp_decoder.h"

#include "tlp/dw_bytes.h"
#include "tlp/flit_tlp_encoder.h"
#include "tlp/flit_tlp_layout.h"
#include "tlp/header_layout.h"
#include "tlp/ohc_fields.h"

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

  std::uint32_t header_dw(unsigned index) const {
    return dw_at(bytes_ + front_.header_at + std::size_t{4} * index);
  }

  void read_header() {
    const std::uint32_t dw1 = header_dw(1);
    const Bdf id{static_cast<std::uint16_t>(dw1 >> 16)};
    Tlp& tlp = result_.tlp;
    tlp.is_poisoned = has_bit(dw1, 15);
    tlp.tag = dw1 & ((1U << kFlitModeTagBits) - 1U);
    if (is_completion(tlp.type)) {
      tlp.completer_id = id;
      read_completion(has_bit(dw1, 14));
      return;
    }
    tlp.requester_id = id;
    tlp.id_is_handle = has_bit(dw1, kFlitModeHandleBit);
    if (is_message(tlp.type)) {
      tlp.message_code = dw1 & 0xffU;
      tlp.tag = (dw1 >> kMessageTagShift) & ((1U << kMessageTagBits) - 1U);
      tlp.message_dw2 = header_dw(2);
      tlp.message_dw3 = header_dw(3);
    } else if (is_configuration(tlp.type)) {
      tlp.completer_id = Bdf{static_cast<std::uint16_t>(header_dw(2) >> 16)};
      tlp.register_offset = header_dw(2) & 0xffcU;
    } else {
      read_address();
    }
  }

  // [LNK-11.15]
  void read_completion(bool lower_address_6) {
    Tlp& tlp = result_.tlp;
    const std::uint32_t dw2 = header_dw(2);
    tlp.requester_id = Bdf{static_cast<std::uint16_t>(dw2 >> 16)};
    tlp.lower_address =
        static_cast<std::uint8_t>(bit_at(lower_address_6, 6) | ((dw2 >> 12) & 0xfU) << 2);
    tlp.byte_count = dw2 & 0xfffU;
    if (tlp.byte_count == 0) {
      tlp.byte_count = kMaxByteCount;
    }
  }

  // [LNK-11.14]
  void read_address() {
    Tlp& tlp = result_.tlp;
    const std::uint32_t low = header_dw(tlp.is_4dw ? 3 : 2);
    tlp.address = (tlp.is_4dw ? std::uint64_t{header_dw(2)} << 32 : 0U) | (low & ~3U);
    if (is_memory_request(tlp.type)) {
      tlp.at = static_cast<AddressType>(low & 3U);
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
