// SPDX-License-Identifier: Apache-2.0
// Reads and makes RoCEv2 frames by the tables of headers and opcodes. [ROCE-1]
#include "network/roce_frame.h"

#include <fmt/format.h>

#include <algorithm>

#include "network/internet_sum.h"

namespace flitwise {
namespace {

using namespace roce_field;
using Id = RoceHeaderId;

constexpr std::uint16_t kIpv4Type = 0x0800, kIpv6Type = 0x86dd, kVlanTag = 0x8100;

struct ErrorText {
  const char* name;
  const char* sentence;  // seen, expected
};
constexpr ErrorText kTexts[] = {
    {"truncated", "{} bytes seen; expected at least {}"},
    {"ether_type", "type {:#06x} seen; expected 0x0800 (IPv4), 0x86dd (IPv6) or one tag 0x8100"},
    {"ip_version", "IP version {} seen; expected {}"},
    {"ip_options", "a header of {} words seen; expected {}, without options"},
    {"fragment", "MF and fragment offset {:#x} seen; expected {}, a whole packet"},
    {"not_udp", "protocol {} seen; expected {}, UDP"},
    {"ip_length", "length {} seen; expected at most {}, what the frame holds, and room for BTH"},
    {"udp_length", "length {} seen; expected {}, what the IP header leaves"},
    {"unknown_opcode", "opcode {:#04x} seen; expected one of RC, UC, UD, or 0x81 (CNP)"},
    {"too_short", "{} bytes in IP seen; expected {} at least, with this opcode and pad count"},
    {"ip_checksum", "{:#06x} seen; expected {:#06x}"},
    {"udp_checksum", "{:#06x} seen; expected {:#06x}, or 0 for none"},
    {"transport_version", "TVer {} seen; expected {}"},
    {"pad", "pad count {} seen; expected {}, up to a multiple of 4 bytes"},
    {"pad_bytes", "a byte {:#04x} of padding seen; expected {}"},
    {"payload", "{} bytes of payload seen; expected {} with this opcode"},
};

// Where it is: behind all others.
std::size_t append(RoceParts& parts, Id id) {
  const std::size_t at = parts.payload;
  parts.headers[parts.count++] = {id, static_cast<std::uint16_t>(at)};
  parts.payload += header_of(id).bytes;
  return at;
}

void append_all(RoceParts& parts, const RoceExtensions& extensions) {
  for_each_header(*parts.opcode, extensions, [&](Id id) { append(parts, id); });
}

/// A cursor that stops at the first flaw of the form.
class Reader {
 public:
  Reader(const std::uint8_t* bytes, std::size_t count, const RoceExtensions& extensions)
      : bytes_(bytes), count_(count), extensions_(extensions) {}

  RoceRead read() {
    if (read_ethernet() && read_ip() && read_transport()) {
      check_rules();
      read_.is_icrc_good =
          little_endian(bytes_ + parts_.icrc, kIcrcBytes) == icrc_of(bytes_, parts_);
    }
    return read_;
  }

 private:
  bool flawed(RoceError error, std::size_t offset, std::uint64_t seen, std::uint64_t expected) {
    read_.flaw = RoceFlaw{error, offset, seen, expected};
    return false;
  }
  // Is the field as it has to be?
  bool expect(RoceError error, std::size_t header, const RoceField& field, std::uint64_t expected) {
    const std::uint64_t seen = get(bytes_ + header, field);
    return seen == expected || flawed(error, header + field.bit / 8U, seen, expected);
  }
  bool has(std::size_t bytes) {
    return bytes <= count_ || flawed(RoceError::kTruncated, count_, count_, bytes);
  }
  bool take(Id id) {
    append(parts_, id);
    return has(parts_.payload);
  }

  bool read_ethernet() {
    if (!take(Id::kEthernet)) {
      return false;
    }
    std::uint64_t type = get(bytes_, kEtherType);
    if (type == kVlanTag) {
      const std::size_t vlan = parts_.payload;
      if (!take(Id::kVlan)) {
        return false;
      }
      type = get(bytes_ + vlan, kVlanType);
    }
    parts_.ip = parts_.payload;
    parts_.is_ipv6 = type == kIpv6Type;
    return type == kIpv4Type || type == kIpv6Type ||
           flawed(RoceError::kEtherType, parts_.ip - 2, type, kIpv4Type);
  }

  bool read_ip() {
    const bool is_ipv6 = parts_.is_ipv6;
    if (!take(is_ipv6 ? Id::kIpv6 : Id::kIpv4)) {
      return false;
    }
    const std::size_t ip = parts_.ip;
    parts_.udp = parts_.payload;
    if (!expect(RoceError::kIpVersion, ip, kVersion, is_ipv6 ? 6 : 4) ||
        !(is_ipv6 || expect(RoceError::kIpOptions, ip, kIhl, kIhl.usual)) ||
        !(is_ipv6 || expect(RoceError::kFragment, ip, kFragment, 0)) ||
        !expect(RoceError::kNotUdp, ip, is_ipv6 ? kNextHeader : kProtocol, kProtocol.usual)) {
      return false;
    }
    const RoceField& field = is_ipv6 ? kPayloadLength : kTotalLength;
    const std::size_t begin = is_ipv6 ? parts_.udp : ip;
    const std::uint64_t length = get(bytes_ + ip, field);
    end_ = begin + length;
    const std::size_t least = parts_.udp + header_of(Id::kUdp).bytes + header_of(Id::kBth).bytes;
    return has(least) &&
           ((end_ <= count_ && end_ >= least) ||
            flawed(RoceError::kIpLength, ip + field.bit / 8U, length, count_ - begin));
  }

  bool read_transport() {
    append(parts_, Id::kUdp);
    parts_.bth = append(parts_, Id::kBth);
    if (!expect(RoceError::kUdpLength, parts_.udp, kUdpLength, end_ - parts_.udp)) {
      return false;
    }
    const std::uint8_t* bth = bytes_ + parts_.bth;
    const auto code = static_cast<std::uint8_t>(get(bth, kOpcode));
    parts_.opcode = roce_opcode(code);
    if (parts_.opcode == nullptr) {
      return flawed(RoceError::kUnknownOpcode, parts_.bth, code, 0);
    }
    append_all(parts_, extensions_);
    parts_.pad = static_cast<std::size_t>(get(bth, kPad));
    const std::size_t least = parts_.payload + parts_.pad + kIcrcBytes;
    if (end_ < least) {
      return flawed(RoceError::kTooShort, end_, end_ - parts_.ip, least - parts_.ip);
    }
    parts_.icrc = end_ - kIcrcBytes;
    parts_.payload_bytes = end_ - least;
    return true;
  }

  bool is_sum_good(RoceError error, std::size_t header, const RoceField& field, std::uint16_t sum) {
    const std::uint64_t seen = get(bytes_ + header, field);
    // What the field lacks to the sum that all of it has to have.
    const std::uint64_t missing = seen + kFullSum - sum;
    return sum == kFullSum || flawed(error, header + field.bit / 8U, seen,
                                     missing > kFullSum ? missing - kFullSum : missing);
  }

  bool check_rules() {
    const RoceOpcode& opcode = *parts_.opcode;
    const std::size_t bytes = parts_.payload_bytes;
    const std::size_t pad = parts_.payload + bytes;
    const auto* const wrong = std::find_if(bytes_ + pad, bytes_ + parts_.icrc,
                                           [](std::uint8_t byte) { return byte != 0; });
    return (parts_.is_ipv6 || is_sum_good(RoceError::kIpChecksum, parts_.ip, kIpv4Checksum,
                                          ipv4_sum(bytes_, parts_))) &&
           (get(bytes_ + parts_.udp, kUdpChecksum) == 0 ||
            is_sum_good(RoceError::kUdpChecksum, parts_.udp, kUdpChecksum,
                        udp_sum(bytes_, parts_))) &&
           expect(RoceError::kTransportVersion, parts_.bth, kTransportVersion, 0) &&
           expect(RoceError::kPad, parts_.bth, kPad, -bytes & 3U) &&
           (wrong == bytes_ + parts_.icrc ||
            flawed(RoceError::kPadBytes, static_cast<std::size_t>(wrong - bytes_), *wrong, 0)) &&
           ((bytes >= opcode.least_payload && bytes <= opcode.most_payload) ||
            flawed(RoceError::kPayload, parts_.payload, bytes,
                   bytes < opcode.least_payload ? opcode.least_payload : opcode.most_payload));
  }

  const std::uint8_t* bytes_;
  std::size_t count_;
  const RoceExtensions& extensions_;
  std::size_t end_ = 0;  // of the IP packet
  RoceRead read_;
  RoceParts& parts_ = read_.parts;
};

}  // namespace

const char* name_of(RoceError error) {
  return kTexts[static_cast<std::size_t>(error)].name;
}

std::string RoceFlaw::sentence() const {
  return fmt::format(fmt::runtime(kTexts[static_cast<std::size_t>(error)].sentence), seen,
                     expected);
}

RoceRead read_roce(const std::uint8_t* bytes, std::size_t count, const RoceExtensions& extensions) {
  return Reader(bytes, count, extensions).read();
}

RoceParts make_roce(const RoceShape& shape, ByteVector& bytes) {
  RoceParts parts;
  parts.opcode = shape.opcode;
  parts.is_ipv6 = shape.is_ipv6;
  append(parts, Id::kEthernet);
  const std::size_t vlan = shape.has_vlan ? append(parts, Id::kVlan) : 0;
  parts.ip = append(parts, shape.is_ipv6 ? Id::kIpv6 : Id::kIpv4);
  parts.udp = append(parts, Id::kUdp);
  parts.bth = append(parts, Id::kBth);
  append_all(parts, shape.extensions);
  parts.payload_bytes = shape.payload_bytes;
  parts.pad = shape.pad.value_or(-shape.payload_bytes & 3U);
  parts.icrc = parts.payload + parts.payload_bytes + parts.pad;

  bytes.assign(parts.end(), 0);
  for (std::size_t i = 0; i < parts.count; ++i) {
    for (const RoceField& field : header_of(parts.headers[i].id).fields) {
      std::uint8_t* const header = &bytes[parts.headers[i].at];
      if (field.width <= 64) {
        put(header, field, field.usual);
      } else {
        header[(field.bit + field.width) / 8U - 1] = static_cast<std::uint8_t>(field.usual);
      }
    }
  }
  const std::uint16_t type = shape.is_ipv6 ? kIpv6Type : kIpv4Type;
  put(bytes.data(), kEtherType, shape.has_vlan ? kVlanTag : type);
  if (shape.has_vlan) {
    put(&bytes[vlan], kVlanType, type);
  }
  const std::size_t udp_length = parts.end() - parts.udp;
  put(&bytes[parts.ip], kVersion, shape.is_ipv6 ? 6 : 4);
  put(&bytes[parts.ip], shape.is_ipv6 ? kPayloadLength : kTotalLength,
      shape.is_ipv6 ? udp_length : parts.end() - parts.ip);
  put(&bytes[parts.udp], kUdpLength, udp_length);
  put(&bytes[parts.bth], kOpcode, shape.opcode->code);
  put(&bytes[parts.bth], kPad, parts.pad);
  return parts;
}

}  // namespace flitwise
