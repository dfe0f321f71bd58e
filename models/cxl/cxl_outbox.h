// SPDX-License-Identifier: Apache-2.0
/// The socket of an agent towards its link, and the messages that it has for it: a queue for each
/// channel, since no channel may hold up another [COH-1.6], but for a snoop that stays behind older
/// responses. [COH-1.5]
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "coherence/cxl_line.h"
#include "common/outbox.h"
#include "common/ranges.h"
#include "cxl/channels.h"
#include "flitwise/link_socket.h"
#include "flitwise/packet.h"
#include "flitwise/result.h"

namespace flitwise {

/// Answers a message in the place of its receiver, which never gets it; nothing: it is sent.
using CxlStandIn = std::function<std::optional<CxlMessage>(const CxlMessage&)>;

/// The message of an agent, with its line if it has one. counts: what it answers, or what made it
/// necessary, belongs to the measured part.
inline PacketRef cxl_packet(PacketPool& pool, const CxlOut& out, bool counts) {
  PacketRef packet = pool.make(PacketKind::kCxl);
  *packet->cxl = out.message;
  packet->counts = counts;
  if (out.message.has_data()) {
    const bool is_conflict = out.message.channel == CxlChannel::kM2sRwd &&
                             static_cast<cxl::M2sRwd>(out.message.opcode) ==
                                 cxl::M2sRwd::kBiConflict;  // a line that says nothing
    packet->payload_bytes =
        is_conflict ? 0
                    : static_cast<std::uint32_t>(__builtin_popcountll(out.message.byte_enables));
    packet->payload.assign(out.line.begin(), out.line.end());
  }
  return packet;
}

/// The message goes in the packet of the core that asked for it; what it asked for of the line,
/// which is not on the wire, stays.
inline void put_into(Packet& packet, const CxlMessage& message) {
  const std::uint64_t asked = packet.cxl->byte_enables;
  *packet.cxl = message;
  packet.cxl->byte_enables = asked;
}

/// The line that came with a message; zeros where none did.
inline CxlLine line_with(const Packet& packet) {
  CxlLine line{};
  std::copy_n(packet.payload.begin(), std::min(packet.payload.size(), line.size()), line.begin());
  return line;
}

class CxlOutbox : public LinkInitiator<CxlOutbox> {
 public:
  explicit CxlOutbox(const char* name) : LinkInitiator<CxlOutbox>(name) {
    register_nb_transport_bw(this, &CxlOutbox::link_has_room, 0);
  }

  bool empty() const {
    return all_of(queues_, [](const Outbox& queue) { return queue.empty(); });
  }

  /// As Outbox::send, to the link.
  void send(PacketRef packet, Time ready) {
    const CxlChannel channel = packet->cxl->channel;
    if (channel == CxlChannel::kH2dRsp) {
      last_response_ = std::max(last_response_, ready);
    } else if (channel == CxlChannel::kH2dReq) {
      ready = std::max(ready, last_response_);
    }
    const bool may_go = channel != CxlChannel::kH2dReq || of(CxlChannel::kH2dRsp).empty();
    of(channel).send({std::move(packet), ready, {}}, [&](const Outbox::Entry& entry) {
      return may_go && hand_over(*this, *entry.packet, entry.ready);
    });
  }
  void clear() {
    for (Outbox& queue : queues_) {
      queue.clear();
    }
    last_response_ = Time{};
  }

  /// Of each channel of the link.
  void set_queue_depth(unsigned depth) { queue_depth_ = depth; }
  void start_window(Time now) {
    for (Outbox& queue : queues_) {
      queue.waits().start_window(now);
    }
  }
  /// For room in the queues of the link, of all channels.
  WaitResult waits(const std::string& place, const char* direction) const {
    WaitBook all;
    for (const Outbox& queue : queues_) {
      all.add(queue.waits());
    }
    return all.result({place, "cxl_queues", ResourceRole::kSlots, direction, "",
                       "link.cxl.queue_depth", queue_depth_});
  }

 private:
  static constexpr std::size_t kDepth = 64;  // grows
  Outbox& of(CxlChannel channel) { return queues_[index_of(channel)]; }

  tlm::tlm_sync_enum link_has_room(int /*id*/, Packet& /*packet*/, tlm::tlm_phase& /*phase*/,
                                   sc_core::sc_time& /*delay*/) {
    const auto go = [this](const Outbox::Entry& entry) {
      return hand_over(*this, *entry.packet, entry.ready);
    };
    of(CxlChannel::kH2dRsp).drain(go);
    for (Outbox& queue : queues_) {
      if (&queue != &of(CxlChannel::kH2dReq) || of(CxlChannel::kH2dRsp).empty()) {
        queue.drain(go);
      }
    }
    return tlm::TLM_COMPLETED;
  }

  std::vector<Outbox> queues_ = std::vector<Outbox>(kCxlChannels, Outbox(kDepth));  // by CxlChannel
  Time last_response_{};
  unsigned queue_depth_ = 0;
};

}  // namespace flitwise
