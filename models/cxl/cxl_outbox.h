// SPDX-License-Identifier: Apache-2.0
/// Messages of CXL.cache that an agent has for its link: a queue for each channel, since no channel
/// may hold up another [COH-1.6], but for a snoop that stays behind older responses. [COH-1.5]
#pragma once

#include <algorithm>
#include <array>

#include "coherence/cxl_line.h"
#include "common/outbox.h"
#include "cxl/channels.h"
#include "flitwise/packet.h"

namespace flitwise {

/// The message of an agent, with its line if it has one. counts: what it answers, or what made it
/// necessary, belongs to the measured part.
inline PacketRef cxl_packet(PacketPool& pool, const CxlOut& out, bool counts) {
  PacketRef packet = pool.make(PacketKind::kCxl);
  *packet->cxl = out.message;
  packet->counts = counts;
  if (out.message.has_data()) {
    packet->payload_bytes =
        static_cast<std::uint32_t>(__builtin_popcountll(out.message.byte_enables));
    packet->payload.assign(out.line.begin(), out.line.end());
  }
  return packet;
}

/// The line that came with a message; zeros where none did.
inline CxlLine line_with(const Packet& packet) {
  CxlLine line{};
  std::copy_n(packet.payload.begin(), std::min(packet.payload.size(), line.size()), line.begin());
  return line;
}

class CxlOutbox {
 public:
  bool empty() const {
    return std::all_of(queues_.begin(), queues_.end(),
                       [](const Outbox& queue) { return queue.empty(); });
  }

  /// As Outbox::send and Outbox::drain.
  template <class HandOver>
  void send(PacketRef packet, Time ready, HandOver&& hand_over) {
    const CxlChannel channel = packet->cxl->channel;
    if (channel == CxlChannel::kH2dRsp) {
      last_response_ = std::max(last_response_, ready);
    } else if (channel == CxlChannel::kH2dReq) {
      ready = std::max(ready, last_response_);
    }
    const bool may_go = channel != CxlChannel::kH2dReq || of(CxlChannel::kH2dRsp).empty();
    of(channel).send({std::move(packet), ready, {}},
                     [&](const Outbox::Entry& entry) { return may_go && hand_over(entry); });
  }
  template <class HandOver>
  void drain(HandOver&& hand_over) {
    of(CxlChannel::kH2dRsp).drain(hand_over);
    for (Outbox& queue : queues_) {
      if (&queue != &of(CxlChannel::kH2dReq) || of(CxlChannel::kH2dRsp).empty()) {
        queue.drain(hand_over);
      }
    }
  }
  void clear() {
    for (Outbox& queue : queues_) {
      queue = Outbox(kDepth);
    }
    last_response_ = Time{};
  }

 private:
  static constexpr std::size_t kDepth = 64;  // grows
  Outbox& of(CxlChannel channel) { return queues_[index_of(channel)]; }

  /// By CxlChannel: those of CXL.cache stand first.
  static constexpr std::size_t kChannels = index_of(CxlChannel::kH2dData) + 1;
  std::array<Outbox, kChannels> queues_{Outbox(kDepth), Outbox(kDepth), Outbox(kDepth),
                                        Outbox(kDepth), Outbox(kDepth), Outbox(kDepth)};
  Time last_response_{};
};

}  // namespace flitwise
