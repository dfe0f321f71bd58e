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
#include "tlp/tlp_fields.h"

namespace flitwise {
namespace {

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

}  // namespace

std::array<std::uint32_t, 4> encode_header(const Tlp& tlp) {
  std::array<std::uint32_t, 4> header = header_bits(tlp, TlpForm::kNonFlit);
  header[0] |= std::uint32_t{fmt_of(tlp)} << 29 | std::uint32_t{type_code(tlp.type)} << 24;
  return header;
}

void encode(const Tlp& tlp, const std::uint8_t* payload, std::size_t payload_bytes,
            ByteVector& out) {
  FLITWISE_CHECK(payload_bytes <= data_bytes(tlp), "payload longer than Length");
  const std::size_t start = out.size();
  put_prefixes(tlp, out);
  const auto header = encode_header(tlp);
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
