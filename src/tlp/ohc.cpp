// SPDX-License-Identifier: Apache-2.0
// Fields of OHC-A and OHC-B.
#include "tlp/ohc.h"

#include "tlp/dw_bytes.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kPasidMask = (1U << kPasidBits) - 1U;
constexpr std::uint32_t kByteEnablesMask = 0xff;
constexpr std::uint16_t kSteeringTagMask = 0xff;  // the extended ones, of 16 bits, are refused

std::uint32_t byte_enables(const Tlp& tlp) {
  return (tlp.last_be & 0xfU) << 4 | (tlp.first_be & 0xfU);
}
void set_byte_enables(std::uint32_t bits, Tlp& tlp) {
  tlp.first_be = bits & 0xfU;
  tlp.last_be = (bits >> 4) & 0xfU;
}

std::uint32_t encode_pasid(const Tlp& tlp, const OhcPasidPlaces& places) {
  if (!tlp.has_pasid) {
    return 0;
  }
  return bit_at(true, places.valid) | bit_at(tlp.privileged_mode_requested, places.privileged) |
         bit_at(tlp.execute_requested, places.execute) |
         (to_int(tlp.pasid) & kPasidMask) << places.shift;
}
void decode_pasid(std::uint32_t dw, const OhcPasidPlaces& places, Tlp& tlp) {
  tlp.has_pasid = has_bit(dw, places.valid);
  if (tlp.has_pasid) {
    tlp.pasid = static_cast<Pasid>((dw >> places.shift) & kPasidMask);
    tlp.privileged_mode_requested = has_bit(dw, places.privileged);
    tlp.execute_requested = has_bit(dw, places.execute);
  }
}

std::uint32_t encode_a1(const Tlp& tlp) {
  Tlp shown = tlp;
  if (has_no_byte_enables(tlp) || !is_memory_request(tlp.type)) {
    set_full_byte_enables(shown);
  }
  return bit_at(is_translation_request(tlp) && is_no_write(tlp), kOhcA1NoWrite) |
         encode_pasid(tlp, kPasidInOhcA1) | byte_enables(shown);
}
void decode_a1(std::uint32_t dw, Tlp& tlp) {
  decode_pasid(dw, kPasidInOhcA1, tlp);
  if (is_memory_request(tlp.type) && !has_no_byte_enables(tlp)) {
    set_byte_enables(dw, tlp);
  }
  if (is_translation_request(tlp)) {
    tlp.processing_hint =
        static_cast<std::uint8_t>(bit_at(has_bit(dw, kOhcA1NoWrite), kNoWriteBit));
  }
}

std::uint32_t encode_a5(const Tlp& tlp) {
  return (tlp.lower_address & 3U) << kOhcA5LowerAddressShift |
         (static_cast<std::uint32_t>(tlp.status) & 7U);
}
void decode_a5(std::uint32_t dw, Tlp& tlp) {
  tlp.lower_address =
      static_cast<std::uint8_t>((tlp.lower_address & ~3U) | ((dw >> kOhcA5LowerAddressShift) & 3U));
  tlp.status = static_cast<CplStatus>(dw & 7U);
}

// Where the hints of a TLP stand in its non-flit form. [LNK-2.15]
bool has_steering_tag_in_byte_enables(const Tlp& tlp) {
  return is_memory_request(tlp.type) && tlp.has_processing_hint && has_no_byte_enables(tlp);
}
bool has_steering_tag_in_tag(const Tlp& tlp) {
  return tlp.type == TlpType::kMWr && tlp.has_processing_hint;
}
bool has_processing_hint_field(const Tlp& tlp) {
  return is_memory_request(tlp.type) && !is_translation_request(tlp);
}

}  // namespace

OhcA ohc_a_kind(const Tlp& tlp) {
  if (is_completion(tlp.type)) {
    return OhcA::kA5;
  }
  if (is_io(tlp.type)) {
    return OhcA::kA2;
  }
  if (is_configuration(tlp.type)) {
    return OhcA::kA3;
  }
  return is_message(tlp.type) && tlp.routing == MsgRouting::kById ? OhcA::kA4 : OhcA::kA1;
}

std::uint32_t encode_ohc_a(const Tlp& tlp) {
  switch (ohc_a_kind(tlp)) {
    case OhcA::kA1:
      return encode_a1(tlp);
    case OhcA::kA2:
    case OhcA::kA3:
      return byte_enables(tlp);
    case OhcA::kA4:
      return encode_pasid(tlp, kPasidInOhcA4);
    case OhcA::kA5:
      return encode_a5(tlp);
  }
  return 0;
}

void decode_ohc_a(std::uint32_t dw, Tlp& tlp) {
  switch (ohc_a_kind(tlp)) {
    case OhcA::kA1:
      return decode_a1(dw, tlp);
    case OhcA::kA2:
    case OhcA::kA3:
      return set_byte_enables(dw & kByteEnablesMask, tlp);
    case OhcA::kA4:
      return decode_pasid(dw, kPasidInOhcA4, tlp);
    case OhcA::kA5:
      return decode_a5(dw, tlp);
  }
}

std::uint32_t encode_ohc_b(const Tlp& tlp) {
  const std::uint32_t steering_tag = has_steering_tag_in_byte_enables(tlp) ? byte_enables(tlp)
                                     : has_steering_tag_in_tag(tlp) ? tlp.tag & kSteeringTagMask
                                                                    : 0U;
  const std::uint32_t hint = has_processing_hint_field(tlp) ? tlp.processing_hint & 3U : 0U;
  return steering_tag << ohc_b::kSteeringTagShift | hint << ohc_b::kHintShift;
}

void decode_ohc_b(std::uint32_t dw, Tlp& tlp) {
  const std::uint32_t steering_tag = (dw >> ohc_b::kSteeringTagShift) & kSteeringTagMask;
  if (has_steering_tag_in_byte_enables(tlp)) {
    set_byte_enables(steering_tag, tlp);
  } else if (has_steering_tag_in_tag(tlp)) {
    tlp.tag =
        static_cast<std::uint16_t>((tlp.tag & ~std::uint32_t{kSteeringTagMask}) | steering_tag);
  }
  if (has_processing_hint_field(tlp)) {
    tlp.processing_hint = (dw >> ohc_b::kHintShift) & 3U;
  }
}

void set_full_byte_enables(Tlp& tlp) {
  const bool has_any = is_memory_request(tlp.type);
  tlp.first_be = has_any ? 0xf : 0;
  tlp.last_be = has_any && tlp.length_dw > 1 ? 0xf : 0;
}

std::uint16_t tag_in_header(const Tlp& tlp) {
  return has_steering_tag_in_tag(tlp) ? tlp.tag & static_cast<std::uint16_t>(~kSteeringTagMask)
                                      : tlp.tag;
}

}  // namespace flitwise
