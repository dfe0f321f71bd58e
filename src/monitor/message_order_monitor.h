// SPDX-License-Identifier: Apache-2.0
/// Messages of CXL.cache and CXL.mem on one link: each is sent and delivered once, in the order of
/// its channel, and no snoop comes ahead of a GO that was queued before it. [COH-1.4] [COH-1.5]
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "flitwise/cxl.h"
#include "flitwise/packet.h"
#include "monitor/violation_log.h"

namespace flitwise {

/// As the direction of its channel sees the log.
Reporter reporter_of(const Packet& message, ViolationLog& log);

/// Both directions: a channel belongs to one of them.
class MessageOrderMonitor {
 public:
  explicit MessageOrderMonitor(ViolationLog& log) : log_(log) {}

  /// The sender's queue has taken it: it lives until it is delivered.
  void queued(const Packet& packet) {
    Channel& channel = of(packet);
    channel.push(packet, packet.cxl->channel == CxlChannel::kH2dReq ? last_go_ : 0);
    if (packet.cxl->channel == CxlChannel::kH2dRsp && is_go(*packet.cxl)) {
      last_go_ = channel.tail;
    }
  }
  void sent(const Packet& packet, Time now) {
    Channel& channel = of(packet);
    if (channel.sent == channel.tail || channel.at(channel.sent).packet != &packet) {
      out_of_turn(channel, packet, channel.sent, channel.tail, kSending, now);
      return;
    }
    ++channel.sent;
  }
  void delivered(const Packet& packet, Time now) {
    Channel& channel = of(packet);
    if (channel.head == channel.sent || channel.at(channel.head).packet != &packet) {
      out_of_turn(channel, packet, channel.head, channel.sent, kDelivery, now);
      return;
    }
    const std::uint64_t behind = channel.at(channel.head).behind;
    ++channel.head;
    if (behind > responses().head) {
      overtook(packet, behind, now);
    }
  }
  void reset();

 private:
  struct Slot {
    const Packet* packet = nullptr;
    std::uint64_t behind = 0;  // of a snoop: so many responses come before it
  };
  /// A ring that grows. Counts run on without end: head <= sent <= tail.
  struct Channel {
    Slot& at(std::uint64_t index) { return slots[index & (slots.size() - 1)]; }
    void push(const Packet& packet, std::uint64_t behind) {
      if (tail - head == slots.size()) {
        grow();
      }
      at(tail++) = {&packet, behind};
    }
    void grow();
    std::uint64_t find(const Packet& packet, std::uint64_t from, std::uint64_t until);
    /// Takes the slot at `index` down to `to`; those between move up.
    void move_down(std::uint64_t index, std::uint64_t to);
    std::vector<Slot> slots = std::vector<Slot>(64);  // a power of two
    std::uint64_t head = 0, sent = 0, tail = 0;       // delivered, sent, queued
  };
  /// Responses that say what becomes of a line.
  static bool is_go(const CxlMessage& response) {
    const auto opcode = static_cast<cxl::H2dRsp>(response.opcode);
    return opcode != cxl::H2dRsp::kWritePull && opcode != cxl::H2dRsp::kExtCmp;
  }
  Channel& of(const Packet& packet) {
    return channels_[static_cast<std::size_t>(packet.cxl->channel)];
  }
  Channel& responses() { return channels_[static_cast<std::size_t>(CxlChannel::kH2dRsp)]; }
  /// What is said of one that is not the first of those that may come.
  struct Turn;
  static const Turn kSending, kDelivery;
  /// Takes one that stands behind `first` in the channel, before `end`.
  [[gnu::cold, gnu::noinline]] void out_of_turn(Channel& channel, const Packet& packet,
                                                std::uint64_t& first, std::uint64_t end,
                                                const Turn& turn, Time now);
  [[gnu::cold, gnu::noinline]] void overtook(const Packet& snoop, std::uint64_t behind, Time now);

  ViolationLog& log_;
  std::array<Channel, kCxlChannels> channels_;
  std::uint64_t last_go_ = 0;  // responses up to the last GO that was queued
};

}  // namespace flitwise
