// SPDX-License-Identifier: Apache-2.0
/// The headers of RoCEv2 frames and their fields, a row each: the name in JSON, the place of the
/// bits, and whether a switch may change them on the way. Encoder, decoder, ICRC and JSON go by
/// these rows. [ROCE-1] [ROCE-2]
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace flitwise {

enum class RoceHeaderId : std::uint8_t {
  kEthernet,
  kVlan,
  kIpv4,
  kIpv6,
  kUdp,
  kBth,
  kDeth,
  kReth,
  kFeth,
  kAeth,
  kAtomicEth,
  kAtomicAckEth,
  kImmDt,
  kIeth,
  kCnp,   ///< the reserved bytes of a CNP
  kEcho,  ///< of an ACK, where both ends have agreed on it [MO-1]
  kSack,  ///< likewise: which packets behind a missing one are there [RX-6]
};
inline constexpr std::size_t kRoceHeaders = 17;

struct RoceField {
  /// How people see it: 5, true, 0x5a, a word, an address. kDerived: what the other headers say,
  /// not in JSON.
  enum class Format : std::uint8_t {
    kNumber,
    kFlag,
    kHex,
    kOpcode,
    kMac,
    kIpv4,
    kIpv6,
    kBytes,
    kDerived
  };

  const char* key;
  std::uint16_t bit;  ///< from the highest bit of the first byte of the header
  std::uint8_t width;
  Format format = Format::kNumber;
  std::uint64_t usual = 0;  ///< where nothing else is said
  bool varies = false;      ///< counts as ones in the ICRC [ROCE-4]
  bool is_quiet = false;    ///< JSON has it only where it is not as usual

  constexpr std::uint64_t most() const { return ~std::uint64_t{0} >> (64U - width); }
  constexpr std::size_t end() const { return (bit + width + 7U) / 8; }     ///< behind its last byte
  constexpr std::size_t shift() const { return 8 * end() - bit - width; }  ///< bits behind it there
  bool is_address() const { return format >= Format::kMac && format <= Format::kBytes; }
};

struct RoceHeader {
  const char* key;  ///< its name in JSON
  std::uint8_t bytes;
  std::vector<RoceField> fields;  ///< all bits, in their order
};
const RoceHeader& header_of(RoceHeaderId id);

/// A number of a header that begins there. REQUIRES: not an address of 128 bits.
inline std::uint64_t get(const std::uint8_t* header, const RoceField& field) {
  std::uint64_t value = 0;
  for (std::size_t i = field.bit / 8U; i < field.end(); ++i) {
    value = value << 8 | header[i];
  }
  return value >> field.shift() & field.most();
}
/// Bits of the value beyond the field are cut.
inline void put(std::uint8_t* header, const RoceField& field, std::uint64_t value) {
  std::uint64_t mask = field.most() << field.shift();
  value = value << field.shift() & mask;
  for (std::size_t i = field.end(); i-- > field.bit / 8U; mask >>= 8, value >>= 8) {
    header[i] = static_cast<std::uint8_t>((header[i] & ~mask) | value);
  }
}

/// Fields that encoder and decoder name.
namespace roce_field {
using Format = RoceField::Format;
inline constexpr RoceField kEtherType{"type", 96, 16, Format::kDerived};
inline constexpr RoceField kVlanType{"type", 16, 16, Format::kDerived};
inline constexpr RoceField kVersion{"version", 0, 4};
inline constexpr RoceField kIhl{"ihl", 4, 4, Format::kDerived, 5};
inline constexpr RoceField kTotalLength{"length", 16, 16};
inline constexpr RoceField kFragment{"fragment", 50, 14, Format::kDerived};  // with MF
inline constexpr RoceField kProtocol{"protocol", 72, 8, Format::kDerived, 17};
inline constexpr RoceField kIpv4Checksum{"checksum", 80, 16, Format::kHex, 0, true};
inline constexpr RoceField kPayloadLength{"length", 32, 16};
inline constexpr RoceField kNextHeader{"next_header", 48, 8, Format::kDerived, 17};
inline constexpr RoceField kUdpLength{"length", 32, 16};
inline constexpr RoceField kUdpChecksum{"checksum", 48, 16, Format::kHex, 0, true};
inline constexpr RoceField kOpcode{"opcode", 0, 8, Format::kOpcode};
inline constexpr RoceField kPad{"pad", 10, 2};
inline constexpr RoceField kTransportVersion{"tver", 12, 4, Format::kNumber, 0, false, true};
}  // namespace roce_field

}  // namespace flitwise
