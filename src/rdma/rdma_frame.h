// SPDX-License-Identifier: Apache-2.0
/// Packets of a reliable connection as RoCEv2 frames, byte for byte. [ROCE-1]
#pragma once

#include <cstdint>
#include <optional>

#include "network/roce_frame.h"
#include "rdma/rdma_packet.h"

namespace flitwise {

/// What Ethernet adds to the bytes of a frame: preamble, FCS and the gap to the next one.
inline constexpr std::uint32_t kEthernetOverheadBytes = 8 + 4 + 12;
/// Of a frame without its FCS.
inline constexpr std::uint32_t kLeastFrameBytes = 60;

constexpr std::uint32_t wire_bytes_of(std::size_t frame_bytes) {
  const auto bytes = static_cast<std::uint32_t>(frame_bytes);
  return (bytes < kLeastFrameBytes ? kLeastFrameBytes : bytes) + kEthernetOverheadBytes;
}

/// Of the frame of a packet on the wire, without making it. [ROCE-1]
std::uint32_t wire_bytes_of(const RdmaPacket& packet);

/// Numbers of the network ports that a frame leaves and goes to (network/addresses.h).
struct FrameEnds {
  unsigned source = 0, destination = 1;
};
/// The frame of a packet with a payload of zeros, for the caller to fill at parts.payload and to
/// seal (seal_roce). Echo, bitmap and RETH are there where the packet has them. ECN is 0, whatever
/// is_marked says: that is for who sends it, and for switches. [CC-1]
RoceParts make_frame(const RdmaPacket& packet, FrameEnds ends, ByteVector& bytes);
/// None: no frame of a reliable connection, which its receiver drops. A wrong checksum of IP is for
/// the receiver (is_ip_intact), a wrong ICRC, TVer or pad for the checks of the queue pair. parts:
/// where its payload is. `extensions`: those that both ends have agreed on; each packet that may
/// have one has it.
std::optional<RdmaPacket> packet_of(const ByteVector& bytes, RoceParts& parts,
                                    const RoceExtensions& extensions = {});

/// Do its IP addresses say that it comes from there and goes there? REQUIRES: packet_of() has given
/// its parts. [RX-1]
bool has_ends(const ByteVector& bytes, const RoceParts& parts, FrameEnds ends);

}  // namespace flitwise
