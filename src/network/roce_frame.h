// SPDX-License-Identifier: Apache-2.0
/// RoCEv2 frames, from the Ethernet header to the ICRC, without FCS: where their parts are, how one
/// is made, and what is wrong with bytes that came. [ROCE-1]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/byte_vector.h"
#include "network/roce_headers.h"
#include "network/roce_opcodes.h"

namespace flitwise {

inline constexpr std::size_t kIcrcBytes = 4;

/// What stands where; offsets count from the first byte of the frame.
struct RoceParts {
  struct Header {
    RoceHeaderId id;
    std::uint16_t at;
  };
  std::array<Header, 8> headers{};
  std::size_t count = 0;  ///< of headers
  std::size_t ip = 0, udp = 0, bth = 0;
  std::size_t payload = 0, payload_bytes = 0;
  std::size_t pad = 0;   ///< behind the payload [ROCE-6]
  std::size_t icrc = 0;  ///< its offset
  const RoceOpcode* opcode = nullptr;
  bool is_ipv6 = false;

  std::size_t end() const { return icrc + kIcrcBytes; }
};

/// What can be wrong with a frame. Those from kIpChecksum on break a rule, and its parts are known
/// all the same.
enum class RoceError : std::uint8_t {
  kTruncated,
  kEtherType,
  kIpVersion,
  kIpOptions,
  kFragment,
  kNotUdp,
  kIpLength,
  kUdpLength,
  kUnknownOpcode,
  kTooShort,
  kIpChecksum,
  kUdpChecksum,
  kTransportVersion,
  kPad,
  kPadBytes,
  kPayload,
};
const char* name_of(RoceError error);  ///< "truncated", "ether_type", ...

struct RoceFlaw {
  RoceError error;
  std::size_t offset;  ///< of the byte that shows it; the size where bytes are missing
  std::uint64_t seen = 0, expected = 0;

  bool breaks_rule_only() const { return error >= RoceError::kIpChecksum; }
  std::string sentence() const;  ///< "... seen; expected ..."
};

struct RoceRead {
  RoceParts parts;  ///< where there is no flaw or one that breaks a rule only
  std::optional<RoceFlaw> flaw;
  bool is_icrc_good = false;
};
/// Any bytes in; never reads beyond them. Bytes behind the ICRC are padding of Ethernet. A wrong
/// ICRC is no flaw of the form: the receiver drops the frame. [ROCE-5]
RoceRead read_roce(const std::uint8_t* bytes, std::size_t count,
                   const RoceExtensions& extensions = {});

struct RoceShape {
  const RoceOpcode* opcode;
  bool is_ipv6 = false;
  bool has_vlan = false;
  std::size_t payload_bytes = 0;     ///< lengths have 16 bits
  std::optional<std::size_t> pad{};  ///< 0 to 3; absent: up to the next multiple of 4
  RoceExtensions extensions{};
};
/// The places of a frame that is to be made, and its bytes, with the usual value in each field, all
/// lengths and a payload of zeros.
RoceParts make_roce(const RoceShape& shape, ByteVector& bytes);

/// [ROCE-4]
std::uint32_t icrc_of(const std::uint8_t* frame, const RoceParts& parts);
/// Writes ICRC, the checksum of UDP (IPv6; with IPv4 it is 0) and that of IPv4, when all else is
/// there. [ROCE-4] [ROCE-7]
void seal_roce(std::uint8_t* frame, const RoceParts& parts);

}  // namespace flitwise
