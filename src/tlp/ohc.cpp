// SPDX-License-Identifier: Apache-2.0
// Fields of OHC-A.
#include "tlp/ohc.h"

#include "tlp/dw_bytes.h"
#include "tlp/tlp_fields.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kPasidMask = (1U << kPasidBits) - 1U;

}  // namespace

const OhcPasidPlaces* pasid_in_ohc_a(const Tlp& tlp) {
  if (is_completion(tlp.type) || is_io(tlp.type) || is_configuration(tlp.type)) {
    return nullptr;  // A5, A2, A3
  }
  return is_message(tlp.type) && tlp.routing == MsgRouting::kById ? &kPasidInOhcA4 : &kPasidInOhcA1;
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
  if (places != nullptr && has_bit(dw, places->valid)) {
    tlp.has_pasid = true;
    tlp.pasid = static_cast<Pasid>((dw >> places->shift) & kPasidMask);
    tlp.privileged_mode_requested = has_bit(dw, places->privileged);
    tlp.execute_requested = has_bit(dw, places->execute);
  }
}

void set_full_byte_enables(Tlp& tlp) {
  const bool has_any = is_memory_request(tlp.type);
  tlp.first_be = has_any ? 0xf : 0;
  tlp.last_be = has_any && tlp.length_dw > 1 ? 0xf : 0;
}

}  // namespace flitwise
