// SPDX-License-Identifier: Apache-2.0
/// Bits of one packet on the wire, by cause, in non-flit and in flit mode. Runs once per packet.
#pragma once

#include "flitwise/packet.h"
#include "tlp/ohc.h"
#include "tlp/prefix.h"

namespace flitwise {

inline constexpr std::uint32_t kTlpFramingBits = 32;  ///< STP, sequence, END; or the STP token
inline constexpr std::uint32_t kLcrcBits = 32;
inline constexpr std::uint32_t kDllpBits = 64;  ///< framing, content and CRC together [LNK-5.6]

/// Bits that are in the TLP only to name its domain: the PASID prefix, or the prefix with a handle.
inline std::uint32_t identity_bits(const Tlp& tlp) {
  std::uint32_t bits = tlp.has_pasid ? 32U : 0U;
  if (tlp.id_is_handle) {
    for (unsigned i = 0; i < tlp.other_prefix_count; ++i) {
      bits += is_handle_prefix(tlp.other_prefixes[i]) ? 32U : 0U;
    }
  }
  return bits;
}

/// Completes the size of a TLP of so many bits, of which identity, framing and crc are known. What
/// travels for the handle table's sake is identity as a whole. [DHI D8]
inline WireSize completed_size(WireSize size, std::uint32_t bits, const Tlp& tlp,
                               std::uint32_t payload_bytes, HandlePurpose purpose) {
  if (purpose != HandlePurpose::kNone) {
    size = {};
    size.identity = bits;
    return size;
  }
  const std::uint32_t data_bits = data_bytes(tlp) * 8U;
  size.payload = payload_bytes * 8U;
  size.padding = data_bits - size.payload;
  size.header = bits - data_bits - size.identity - size.framing - size.crc;
  return size;
}

/// Size of a TLP whose payload has payload_bytes enabled bytes; its parts add up to
/// (8 + tlp_bytes) x 8. REQUIRES: payload_bytes <= data_bytes(tlp). [LNK-5.3]
inline WireSize wire_size_of(const Tlp& tlp, std::uint32_t payload_bytes,
                             HandlePurpose purpose = HandlePurpose::kNone) {
  WireSize size;
  size.identity = identity_bits(tlp);
  size.framing = kTlpFramingBits;
  size.crc = kLcrcBits + (tlp.has_ecrc ? 32U : 0U);
  const std::uint32_t bits = tlp_bytes(tlp) * 8U + kTlpFramingBits + kLcrcBits;
  return completed_size(size, bits, tlp, payload_bytes, purpose);
}

/// Size of a TLP in flit mode, where framing, sequence number and CRC are the flit's. What it has
/// for its domain alone is identity: OHC-A, unless byte enables need it anyhow. [LNK-11.2]
/// [LNK-11.10]
inline WireSize flit_mode_size_of(const Tlp& tlp, std::uint32_t payload_bytes,
                                  HandlePurpose purpose = HandlePurpose::kNone) {
  WireSize size;
  size.identity = tlp.has_pasid && !needs_ohc_a_anyhow(tlp) ? 32U : 0U;
  size.crc = tlp.has_ecrc ? 32U : 0U;
  return completed_size(size, flit_mode_tlp_bytes(tlp) * 8U, tlp, payload_bytes, purpose);
}

/// Is its data the protocol's own? That of a Translation Completion, which the packet says, and of
/// messages but for those of vendors.
inline bool is_protocol_data(const Packet& packet) {
  const std::uint8_t code = packet.tlp.message_code;
  return packet.has_protocol_data || (packet.tlp.type == TlpType::kMsgD &&
                                      code != msg::kVendorType0 && code != msg::kVendorType1);
}
/// Such data counts as header.
inline WireSize with_protocol_data(WireSize size, const Packet& packet) {
  if (packet.purpose == HandlePurpose::kNone && is_protocol_data(packet)) {
    size.header += size.payload + size.padding;
    size.payload = size.padding = 0;
  }
  return size;
}

/// Size of a TLP in non-flit mode.
inline WireSize wire_size_of(const Packet& packet) {
  return with_protocol_data(wire_size_of(packet.tlp, packet.payload_bytes, packet.purpose), packet);
}

/// What a TLP takes of flits. One that does not decode goes as the bytes that it has, always whole
/// DWs; its own size is that of non-flit mode, with framing and LCRC.
inline WireSize size_in_flits(const Packet& packet) {
  if (!packet.malformed) {
    return with_protocol_data(flit_mode_size_of(packet.tlp, packet.payload_bytes, packet.purpose),
                              packet);
  }
  WireSize size = packet.size;
  size.framing = 0;
  size.crc -= size.crc < kLcrcBits ? size.crc : kLcrcBits;
  return size;
}

/// Size of any DLLP. [LNK-5.6]
inline WireSize wire_size_of(const Dllp&) {
  WireSize size;
  size.dllp = kDllpBits;
  return size;
}

}  // namespace flitwise
