// SPDX-License-Identifier: Apache-2.0
// Packets from raw bytes.
#include "tlp/raw_packet.h"

#include <algorithm>

#include "tlp/header_layout.h"
#include "tlp/splitter.h"
#include "tlp/tlp_check.h"
#include "tlp/tlp_codec.h"
#include "tlp/wire_size.h"

namespace flitwise {
namespace {

constexpr std::size_t kSmallestTlpBytes = 12;

// What flow control knows of a packet whose bytes make no TLP.
Tlp charged_as(const DecodeResult& decoded, std::size_t count) {
  Tlp tlp;
  tlp.type = TlpType::kMsg;
  if (*decoded.error > TlpViolation::kUnknownType) {  // its Fmt and Type were read
    tlp.type = decoded.tlp.type;
    tlp.requester_id = decoded.tlp.requester_id;
    tlp.tag = decoded.tlp.tag;
    const std::size_t behind_header = count - std::min(count, decoded.payload_offset);
    tlp.length_dw =
        static_cast<std::uint16_t>(std::min<std::size_t>((behind_header + 3) / 4, kMaxLengthDw));
  }
  return tlp;
}

constexpr std::size_t kHeaderBytes = 16;
constexpr std::uint8_t kFourDws = 0x20, kPrefix = 0x80;  // of the first byte: Fmt [0] and [2]

// The header as it came, behind its prefixes; bytes that are not there are left out.
void keep_header(Packet& packet, const std::uint8_t* bytes, std::size_t count) {
  std::size_t start = 0;
  while (start + 4 < count && (bytes[start] & kPrefix) != 0) {
    start += 4;
  }
  const std::size_t length =
      start < count && (bytes[start] & kFourDws) == 0 ? kHeaderBytes - 4 : kHeaderBytes;
  packet.payload.assign(bytes + start, bytes + std::min(count, start + length));
}

}  // namespace

std::array<std::uint32_t, 4> received_header(const Packet& packet) {
  if (!packet.malformed) {
    return encode_header(packet.tlp);
  }
  std::array<std::uint32_t, 4> header{};
  for (std::size_t at = 0; at < std::min(packet.payload.size(), kHeaderBytes); ++at) {
    header[at / 4] |= std::uint32_t{packet.payload[at]} << (24 - 8 * (at % 4));
  }
  return header;
}

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
    keep_header(packet, bytes, count);
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
