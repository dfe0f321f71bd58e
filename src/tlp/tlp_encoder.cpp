// SPDX-License-Identifier: Apache-2.0
// Encoder of TLPs.
#include "tlp/tlp_encoder.h"

#include <algorithm>
#include <array>

#include "common/byte_vector.h"
#include "flitwise/error.h"
#include "tlp/crc.h"
#include "tlp/dw_bytes.h"
#include "tlp/header_layout.h"
#include "tlp/prefix.h"

namespace flitwise {
namespace {

using Header = std::array<std::uint32_t, 4>;

void put_prefixes(const Tlp& tlp, ByteVector& out) {
  const unsigned before_pasid = std::max<unsigned>(local_prefixes(tlp), tlp.prefixes_before_pasid);
  bool pasid_is_due = tlp.has_pasid;
  for (unsigned i = 0; i < tlp.other_prefix_count; ++i) {
    if (pasid_is_due && i == before_pasid) {
      put_dw(out, pasid_prefix(tlp.pasid, tlp.privileged_mode_requested, tlp.execute_requested));
      pasid_is_due = false;
    }
    put_dw(out, tlp.other_prefixes[i]);
  }
  if (pasid_is_due) {
    put_dw(out, pasid_prefix(tlp.pasid, tlp.privileged_mode_requested, tlp.execute_requested));
  }
}

std::uint32_t first_dw(const Tlp& tlp) {
  const std::uint32_t type =
      type_code(tlp.type) |
      (is_message(tlp.type) ? static_cast<std::uint32_t>(tlp.routing) & 7U : 0U);
  return std::uint32_t{fmt_of(tlp)} << 29 | type << 24 | bit_at((tlp.tag & 0x200U) != 0, 23) |
         (tlp.tc & 7U) << 20 | bit_at((tlp.tag & 0x100U) != 0, 19) |
         bit_at(tlp.id_based_ordering, 18) | bit_at(tlp.id_is_handle, kHandleBit) |
         bit_at(tlp.has_processing_hint, 16) | bit_at(tlp.has_ecrc, 15) |
         bit_at(tlp.is_poisoned, 14) | bit_at(tlp.relaxed_ordering, 13) | bit_at(tlp.no_snoop, 12) |
         static_cast<std::uint32_t>(tlp.at) << 10 | (tlp.length_dw & 0x3ffU);
}

std::uint32_t requester_and_tag(const Tlp& tlp, std::uint32_t low_byte) {
  return std::uint32_t{tlp.requester_id.value} << 16 | (tlp.tag & 0xffU) << 8 | low_byte;
}

Header completion_header(const Tlp& tlp) {
  Header dw{};
  dw[1] = std::uint32_t{tlp.completer_id.value} << 16 |
          (static_cast<std::uint32_t>(tlp.status) & 7U) << 13 | bit_at(tlp.bcm, 12) |
          (tlp.byte_count & 0xfffU);
  dw[2] = requester_and_tag(tlp, tlp.lower_address & 0x7fU);
  return dw;
}

Header message_header(const Tlp& tlp) {
  Header dw{};
  dw[1] = requester_and_tag(tlp, tlp.message_code);
  dw[2] = tlp.message_dw2;
  dw[3] = tlp.message_dw3;
  return dw;
}

Header request_header(const Tlp& tlp) {
  Header dw{};
  dw[1] = requester_and_tag(tlp, (tlp.last_be & 0xfU) << 4 | (tlp.first_be & 0xfU));
  if (is_configuration(tlp.type)) {
    dw[2] = std::uint32_t{tlp.completer_id.value} << 16 | (tlp.register_offset & 0xffcU);
    return dw;
  }
  const bool wide = header_bytes(tlp) == 16;
  const std::uint32_t hint = is_memory_request(tlp.type) ? tlp.processing_hint & 3U : 0U;
  dw[2] = wide ? static_cast<std::uint32_t>(tlp.address >> 32) : 0U;
  dw[wide ? 3 : 2] = (static_cast<std::uint32_t>(tlp.address) & ~3U) | hint;
  return dw;
}

}  // namespace

std::array<std::uint32_t, 4> encode_header(const Tlp& tlp) {
  Header dw = is_completion(tlp.type) ? completion_header(tlp)
              : is_message(tlp.type)  ? message_header(tlp)
                                      : request_header(tlp);
  dw[0] = first_dw(tlp);
  return dw;
}

void encode(const Tlp& tlp, const std::uint8_t* payload, std::size_t payload_bytes,
            ByteVector& out) {
  FLITWISE_CHECK(payload_bytes <= data_bytes(tlp), "payload longer than Length");
  const std::size_t start = out.size();
  put_prefixes(tlp, out);
  const Header header = encode_header(tlp);
  for (unsigned i = 0; i < header_bytes(tlp) / 4U; ++i) {
    put_dw(out, header[i]);
  }
  out.insert(out.end(), payload, payload + payload_bytes);
  out.insert(out.end(), data_bytes(tlp) - payload_bytes, 0);
  out.insert(out.end(), tlp.has_ecrc ? 4 : 0, 0);
  write_ecrc(tlp, out.data() + start);
}

void write_ecrc(const Tlp& tlp, std::uint8_t* bytes) {
  if (!tlp.has_ecrc) {
    return;
  }
  const std::size_t place = tlp_bytes(tlp) - 4U;
  put_ecrc(ecrc(bytes, place, prefix_bytes(tlp), 4U * local_prefixes(tlp)), bytes + place);
}

}  // namespace flitwise
