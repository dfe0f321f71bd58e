// SPDX-License-Identifier: Apache-2.0
// Packets from raw bytes.
#include "tlp/raw_packet.h"

#include <algorithm>

#include "tlp/splitter.h"
#include "tlp/tlp_check.h"
#include "tlp/tlp_decoder.h"
#include "tlp/wire_size.h"

namespace flitwise {
namespace {

constexpr std::size_t kSmallestTlpBytes = 12;
constexpr unsigned kMostLengthDw = 1024;

bool names_a_kind(TlpViolation violation) {
  switch (violation) {
    case TlpViolation::kTruncated:
    case TlpViolation::kUnknownPrefix:
    case TlpViolation::kPrefixOrder:
    case TlpViolation::kTooManyPrefixes:
    case TlpViolation::kRepeatedPasid:
    case TlpViolation::kUnknownType:
      return false;
    default:
      return true;
  }
}

// What flow control knows of a packet whose bytes make no TLP.
Tlp charged_as(const DecodeResult& decoded, std::size_t count) {
  Tlp tlp;
  tlp.type = TlpType::kMsg;
  if (names_a_kind(*decoded.error)) {
    tlp.type = decoded.tlp.type;
    tlp.requester_id = decoded.tlp.requester_id;
    tlp.tag = decoded.tlp.tag;
    const std::size_t behind_header = count - std::min(count, decoded.payload_offset);
    tlp.length_dw =
        static_cast<std::uint16_t>(std::min<std::size_t>((behind_header + 3) / 4, kMostLengthDw));
  }
  return tlp;
}

}  // namespace

void write_raw(Packet& packet, const std::uint8_t* bytes, std::size_t count) {
  const DecodeResult decoded = decode_tlp(bytes, count);
  std::optional<TlpViolation> flaw = decoded.error;
  if (flaw == TlpViolation::kEcrcMismatch) {  // The receiver's to judge, behind all others.
    packet.has_bad_ecrc = true;
    flaw = check_format(decoded.tlp);
  }
  if (flaw && is_malformed(*flaw)) {
    packet.malformed = flaw;
    packet.tlp = charged_as(decoded, count);
    const std::size_t on_wire = (std::max(count, kSmallestTlpBytes) + 3) / 4 * 4;
    packet.size.header = static_cast<std::uint32_t>(on_wire) * 8U;
    packet.size.framing = kTlpFramingBits;
    packet.size.crc = kLcrcBits;
    return;
  }
  packet.tlp = decoded.tlp;
  packet.payload.assign(bytes + decoded.payload_offset,
                        bytes + decoded.payload_offset + decoded.payload_bytes);
  packet.payload_bytes = decoded.tlp.type == TlpType::kMWr ? enabled_bytes(decoded.tlp)
                         : is_protocol_data(packet)
                             ? 0
                             : static_cast<std::uint32_t>(decoded.payload_bytes);
  packet.size = wire_size_of(packet);
}

}  // namespace flitwise
