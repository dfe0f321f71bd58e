// SPDX-License-Identifier: Apache-2.0
/// What a hostile RDMA adapter puts on the wire behind its own frames. [HP-7]
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "network/frame.h"
#include "rdma/forged_packets.h"
#include "rdma/hca_config.h"
#include "rdma/hca_parts.h"
#include "rdma/rdma_frame.h"

namespace flitwise {

class HcaForger {
 public:
  explicit HcaForger(const HcaConfig& config)
      : has_sessions_(config.sessions.has_value()),
        ends_{config.adapter, config.peers.front().adapter},
        packets_(config.rdma.hostile_frames, target_of(config.peers.front(), config),
                 Random(config.seed).split("forged frames")),
        random_(Random(config.seed).split("forged sessions")) {}

  /// Calls send(frame) for each that follows this one.
  template <class Send>
  void follow(const HcaBuilt& sent, FramePool& pool, Send send) {
    RoceParts parts;
    const std::optional<RdmaPacket> own = has_sessions_ ? std::optional<RdmaPacket>(*sent.packet)
                                                        : packet_of(sent.frame->bytes, parts);
    for (unsigned left = own ? packets_.draw() : 0; left > 0; --left) {
      const FrameRef frame =
          has_sessions_ ? make_of_session(sent, pool) : make(packets_.next(*own), pool);
      ++frames_;
      send(*frame);
    }
  }
  std::uint64_t frames() const { return frames_; }

 private:
  /// All queue pairs of its first peer, and all memory that those have. Those that the peer has
  /// with others are not for it. [RX-1]
  static ForgedPackets::Target target_of(const HcaPeer& peer, const HcaConfig& config) {
    return {kFirstQueuePair,
            peer.pairs,
            peer.pairs * kPairRegions,
            peer.buffer_base,
            peer.pairs * config.geometry.buffer,
            config.rdma.mtu};
  }
  FrameRef make(const RdmaPacket& packet, FramePool& pool) const {
    constexpr std::uint8_t kForgedByte = 0xee;
    FrameRef frame = pool.make(0);
    const RoceParts parts = make_frame(packet, ends_, frame->bytes);
    std::fill_n(frame->bytes.begin() + static_cast<std::ptrdiff_t>(parts.payload),
                packet.payload_bytes, kForgedByte);
    frame->wire_bytes = wire_bytes_of(frame->bytes.size());
    seal_roce(frame->bytes.data(), parts);
    return frame;
  }

  FrameRef make_of_session(const HcaBuilt& sent, FramePool& pool);
  void forge_echo(RdmaPacket& packet);

  bool has_sessions_;
  FrameEnds ends_;
  ForgedPackets packets_;
  Random random_;
  std::uint64_t frames_ = 0;
};

}  // namespace flitwise
