// SPDX-License-Identifier: Apache-2.0
// Encoder and decoder of TLPs, and packets from their bytes.
#include "tlp/tlp_codec.h"

#include <algorithm>

#include "common/byte_vector.h"
#include "flitwise/error.h"
#include "tlp/crc.h"
#include "tlp/header_layout.h"
#include "tlp/prefix.h"
#include "tlp/splitter.h"
#include "tlp/tlp_fields.h"
#include "tlp/wire_size.h"

namespace flitwise {
namespace {

constexpr unsigned kLastRouting = static_cast<unsigned>(MsgRouting::kGathered);

void put_prefixes(const Tlp& tlp, ByteVector& out) {
  const unsigned before_pasid =
      std::clamp<unsigned>(tlp.prefixes_before_pasid, local_prefixes(tlp), tlp.other_prefix_count);
  for (unsigned i = 0; i <= tlp.other_prefix_count; ++i) {
    if (tlp.has_pasid && i == before_pasid) {
      put_dw(out, pasid_prefix(tlp.pasid, tlp.privileged_mode_requested, tlp.execute_requested));
    }
    if (i < tlp.other_prefix_count) {
      put_dw(out, tlp.other_prefixes[i]);
    }
  }
}

// Without prefixes; the last DW is 0 where the header has three.
HeaderDws encode_header(const Tlp& tlp) {
  HeaderDws header = header_bits(tlp, TlpForm::kNonFlit);
  header[0] |= std::uint32_t{fmt_of(tlp)} << 29 | std::uint32_t{type_code(tlp.type)} << 24;
  return header;
}

/// Reads one TLP front to back and stops at the first error.
class Decoder {
 public:
  Decoder(const std::uint8_t* bytes, std::size_t count) : bytes_(bytes), count_(count) {}

  DecodeResult run() {
    if (read_prefixes() && read_first_dw() && read_header() && read_extent() && check_ecrc()) {
      if (const auto violation = check_format(result_.tlp)) {
        fail(*violation, offset_of(*violation));
      }
    }
    return result_;
  }

 private:
  bool fail(TlpViolation violation, std::size_t offset) {
    result_.error = violation;
    result_.error_offset = offset;
    return false;
  }

  std::uint32_t dw_at(std::size_t offset) const { return flitwise::dw_at(bytes_ + offset); }
  bool has_dw_at(std::size_t offset) const { return count_ >= offset + 4; }

  // [LNK-3.1] [LNK-3.2]
  bool read_prefixes() {
    while (has_dw_at(at_) && dw_at(at_) >> 29 == 4U) {
      if (!read_prefix(dw_at(at_))) {
        return false;
      }
      at_ += 4;
    }
    header_at_ = at_;
    return has_dw_at(at_) || fail(TlpViolation::kTruncated, count_);
  }

  bool read_prefix(std::uint32_t dw) {
    Tlp& tlp = result_.tlp;
    if (!is_known_prefix(dw)) {
      return fail(TlpViolation::kUnknownPrefix, at_);
    }
    if (!is_end_end_prefix(dw)) {
      if (end_end_prefixes_ > 0) {
        return fail(TlpViolation::kPrefixOrder, at_);
      }
      local_prefix_bytes_ += 4;
    } else if (++end_end_prefixes_ > kMaxPrefixes) {
      return fail(TlpViolation::kTooManyPrefixes, at_);
    }
    if (prefix_type(dw) == prefix::kPasid) {
      return read_pasid(dw);
    }
    if (tlp.other_prefix_count == tlp.other_prefixes.size()) {
      return fail(TlpViolation::kTooManyPrefixes, at_);
    }
    tlp.other_prefixes[tlp.other_prefix_count++] = dw;
    return true;
  }

  // [LNK-3.4]
  bool read_pasid(std::uint32_t dw) {
    Tlp& tlp = result_.tlp;
    if (tlp.has_pasid) {
      return fail(TlpViolation::kRepeatedPasid, at_);
    }
    tlp.has_pasid = true;
    tlp.pasid = static_cast<Pasid>(dw & 0xfffffU);
    tlp.privileged_mode_requested = ((dw >> 21) & 1U) != 0;
    tlp.execute_requested = ((dw >> 20) & 1U) != 0;
    tlp.prefixes_before_pasid = tlp.other_prefix_count;
    return true;
  }

  bool read_first_dw() {
    Tlp& tlp = result_.tlp;
    const std::uint32_t dw = dw_at(at_);
    const std::optional<TlpType> kind =
        dw >> 29 < 4U ? find_type(dw >> 29, (dw >> 24) & 0x1fU) : std::optional<TlpType>{};
    if (!kind) {
      return fail(TlpViolation::kUnknownType, at_);
    }
    tlp.type = *kind;
    tlp.is_4dw = ((dw >> 29) & 1U) != 0;
    take_header_dw(dw, 0, TlpForm::kNonFlit, tlp);
    return true;
  }

  bool read_header() {
    at_ += header_bytes(result_.tlp);
    if (count_ < at_) {
      return fail(TlpViolation::kTruncated, count_);
    }
    for (unsigned i = 1; header_at_ + 4 * i < at_; ++i) {
      take_header_dw(dw_at(header_at_ + 4 * i), i, TlpForm::kNonFlit, result_.tlp);
    }
    return true;
  }

  // [LNK-1.4] [LNK-1.6]
  bool read_extent() {
    result_.payload_offset = at_;
    result_.payload_bytes = data_bytes(result_.tlp);
    const std::size_t end = at_ + result_.payload_bytes + (result_.tlp.has_ecrc ? 4U : 0U);
    if (count_ < end) {
      return fail(TlpViolation::kLengthMismatch, count_);
    }
    return count_ == end || fail(TlpViolation::kTrailingBytes, end);
  }

  // [LNK-5.20]
  bool check_ecrc() {
    if (!result_.tlp.has_ecrc) {
      return true;
    }
    const std::size_t place = count_ - 4;
    const std::uint32_t expected = ecrc(bytes_, place, header_at_, local_prefix_bytes_);
    const std::uint32_t seen = __builtin_bswap32(dw_at(place));
    return seen == expected || fail(TlpViolation::kEcrcMismatch, place);
  }

  // Byte of the header in which the field stands that broke a rule.
  std::size_t offset_of(TlpViolation violation) const {
    switch (violation) {
      case TlpViolation::kReservedAddressType:
      case TlpViolation::kBadLength:
      case TlpViolation::kCrosses4KiB: return header_at_ + 2;
      case TlpViolation::kBadByteEnables: return header_at_ + 7;
      case TlpViolation::kUnalignedAtomic: return result_.payload_offset - 1;
      case TlpViolation::kPasidNotPermitted: return header_at_ - 4;
      default: return header_at_;
    }
  }

  const std::uint8_t* bytes_;
  std::size_t count_;
  std::size_t at_ = 0;
  std::size_t header_at_ = 0;
  std::size_t local_prefix_bytes_ = 0;
  unsigned end_end_prefixes_ = 0;
  DecodeResult result_;
};

}  // namespace

std::optional<TlpType> find_type(unsigned fmt, unsigned type) {
  const bool is_wide = (fmt & 1U) != 0;
  for (int i = 0; i < kTlpTypes; ++i) {
    const auto candidate = static_cast<TlpType>(i);
    const unsigned routing = is_message(candidate) ? type & 7U : 0U;
    if (routing <= kLastRouting && type == type_code(candidate) + routing &&
        ((fmt & 2U) != 0) == has_data(candidate) &&
        (is_message(candidate) ? is_wide : !is_wide || is_memory_request(candidate))) {
      return candidate;
    }
  }
  return std::nullopt;
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
  out.insert(out.end(), data_bytes(tlp) - payload_bytes + (tlp.has_ecrc ? 4 : 0), 0);
  write_ecrc(tlp, out.data() + start);
}

void write_ecrc(const Tlp& tlp, std::uint8_t* bytes) {
  if (tlp.has_ecrc) {
    const std::size_t place = tlp_bytes(tlp) - 4U;
    put_ecrc(ecrc(bytes, place, prefix_bytes(tlp), 4U * local_prefixes(tlp)), bytes + place);
  }
}

DecodeResult decode_tlp(const std::uint8_t* bytes, std::size_t count) {
  return Decoder(bytes, count).run();
}

// ---- packets from bytes that anybody may have made

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
    const HeaderDws dws = encode_header(packet.tlp);
    return {dws[0], dws[1], dws[2], dws[3]};
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
