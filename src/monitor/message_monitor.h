// SPDX-License-Identifier: Apache-2.0
/// All monitors of the messages of CXL.cache and CXL.mem on one link, for both directions: order,
/// ids and answers, credits (docs/monitors.md). [CXL-3.1]
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "flitwise/cxl.h"
#include "flitwise/flit.h"
#include "flitwise/packet.h"
#include "monitor/packet_ring.h"
#include "monitor/violation_log.h"
#include "trace/packet_note.h"

namespace flitwise {

/// As the direction of its channel sees the log.
Reporter reporter_of(const Packet& message, ViolationLog& log);

/// Each is sent and delivered once, in the order of its channel, and no snoop comes ahead of a GO
/// that was queued before it. [COH-1.4] [COH-1.5] Both directions: a channel belongs to one of
/// them.
class MessageOrderMonitor {
 public:
  explicit MessageOrderMonitor(ViolationLog& log) : log_(log) {}

  /// The sender's queue has taken it: it lives until it is delivered.
  void queued(const Packet& packet) {
    Channel& channel = of(packet);
    channel.push({&packet, packet.cxl->channel == CxlChannel::kH2dReq ? last_go_ : 0});
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
  struct Channel : GrowingRing<Slot> {  // head, tail: delivered, queued
    std::uint64_t sent = 0;
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

/// Credits of CXL.cache and CXL.mem, of one direction of a link: no more messages are sent than the
/// flits that have come the other way gave credits for. [CXL-3.1] [CXL-3.2]
class MessageCreditMonitor {
 public:
  explicit MessageCreditMonitor(Reporter reporter) : reporter_(reporter) {}

  /// A flit that counts has come to the sender.
  void told(const CxlFlitHeader& header) {
    for (std::size_t i = 0; i < header.credits.size(); ++i) {
      left_[i + (header.credits[i].is_mem ? kMemReq : kCacheReq)] += header.credits[i].count;
    }
  }
  void sent(const Packet& packet, Time now) {
    std::uint64_t& left = left_[kPools[static_cast<std::size_t>(packet.cxl->channel)]];
    if (left == 0) {
      report(packet, now);
      return;
    }
    --left;
  }
  void reset() { left_ = {}; }

 private:
  enum Pool : std::uint8_t { kCacheReq, kCacheRsp, kCacheData, kMemReq, kMemRsp, kMemData };
  /// By CxlChannel. [CXL-1.6]
  static constexpr std::array<Pool, kCxlChannels> kPools = {
      kCacheReq, kCacheRsp, kCacheData, kCacheReq, kCacheRsp, kCacheData,
      kMemReq,   kMemData,  kMemRsp,    kMemRsp,   kMemData,  kMemReq};
  [[gnu::cold, gnu::noinline]] void report(const Packet& packet, Time now) const;

  Reporter reporter_;
  std::array<std::uint64_t, 6> left_{};  // by Pool
};

/// Requests and what answers them: each id is out once at most, and an answer comes once, by a
/// channel that its request asks for. Records are kept by what is sent and delivered. [COH-1.3]
/// [COH-2.5] to [COH-2.7] [COH-4.1] [COH-5.1] [COH-5.3] [COH-6.2] [COH-6.4]
class MessageIdMonitor {
 public:
  /// `has_states`: the memory knows of states, so that a read with one has two answers. [COH-5.3]
  MessageIdMonitor(ViolationLog& log, bool has_states) : log_(log), has_states_(has_states) {}

  void sent(const Packet& packet, Time now);
  void delivered(const Packet& packet);
  void reset();

 private:
  /// A request, a snoop or a write pull.
  struct Request {
    MessageNote note;
    std::uint64_t asker = 0;     // of a pull: uid of the request that it belongs to
    std::uint16_t asker_id = 0;  // and its CQID
    std::uint8_t owed = 0;       // kinds of answers that have not been sent
    std::uint8_t flying = 0;     // that were sent and are not there yet
    std::uint8_t later = 0;      // owed when the data of its pull are there
    bool is_out = false, is_delivered = false;
    bool is_pull = false, has_state = false;
    bool has_early_data = false;  // of a snoop: they were sent before the response
    bool has_conflict = false;    // of a BISnp
  };
  using Table = std::vector<Request>;

  static Request& at(Table& table, std::uint16_t id) {
    if (id >= table.size()) {
      grow(table, id);
    }
    return table[id];
  }
  [[gnu::cold, gnu::noinline]] static void grow(Table& table, std::uint16_t id);

  /// What the messages of a channel are: requests, or answers, in one table.
  struct Channel {
    Table MessageIdMonitor::*table;
    std::uint8_t kind;  // of the answers, also those to requests; kNothing: by the opcode
    bool is_request;
  };
  static const std::array<Channel, kCxlChannels> kChannels;
  static const Channel& channel_of(const CxlMessage& message) {
    return kChannels[static_cast<std::size_t>(message.channel)];
  }
  std::uint8_t owed_to(const CxlMessage& request) const;
  static std::uint8_t kind_of(const CxlMessage& message);
  Table& table_of(const CxlMessage& message);
  Request* open(Table& table, const Packet& packet, std::uint16_t id, std::uint8_t owed, Time now);
  /// The request that this answers, where it is out and has arrived; else it is reported.
  Request* asked_by(Table& table, const Packet& packet, Time now);
  bool answer(Request& request, const Packet& packet, std::uint8_t kind, Time now);
  void answers(Request& asked, const Packet& packet, Time now);
  void pull(Request& request, const Packet& packet, Time now);
  void cache_responds(Request& snoop, const Packet& packet, Time now);
  void cache_sends_data(Request& asked, const Packet& packet, Time now);
  void cache_data_came(const Packet& packet);
  [[gnu::cold, gnu::noinline]] void report(const MonitoredRule& rule, const Packet& packet,
                                           const Request& against, Time now) const;

  ViolationLog& log_;
  bool has_states_;
  Table tags_;    // CXL.mem
  Table cqids_;   // requests of the cache
  Table uqids_;   // snoops and write pulls of the host
  Table bitags_;  // back-invalidate snoops of the memory
};

/// Ends by index as in LinkMonitor: 0 upstream, 1 downstream.
class MessageMonitor {
 public:
  /// `has_states`: of the memory below. [COH-5.3]
  MessageMonitor(ViolationLog& log, bool has_states)
      : order_(log),
        ids_(log, has_states),
        credits_{MessageCreditMonitor(Reporter(log, false)),
                 MessageCreditMonitor(Reporter(log, true))} {}

  /// The queues of an end have taken a message.
  void queued(const Packet& message) { order_.queued(message); }
  /// A flit goes for the first time. `is_numbered`: it is a 256-byte flit.
  void sent(std::size_t end, const Packet& flit, bool is_numbered, Time now) {
    if (!is_numbered && flit.flit->cxl.control == CxlFlitHeader::Control::kNone) {
      awaited_[end].push(&flit);
    }
    for (const PacketRef& message : flit.flit->starts) {
      order_.sent(*message, now);
      credits_[end].sent(*message, now);
      ids_.sent(*message, now);
    }
  }
  /// A 68-byte flit has come to an end undamaged: it counts if it is the next that has not come
  /// yet. Those that are sent again after damage come behind the one that was missing. [CXL-3.6]
  void arrived(std::size_t end, const Packet& flit) {
    const CxlFlitHeader& header = flit.flit->cxl;
    GrowingRing<const Packet*>& awaited = awaited_[1 - end];
    if (header.control == CxlFlitHeader::Control::kNone) {
      if (awaited.head == awaited.tail || awaited.first() != &flit) {
        return;
      }
      ++awaited.head;
    }
    credits_[end].told(header);
  }
  /// A 256-byte flit counts at an end. [CXL-6.2]
  void accepted(std::size_t end, const Flit& flit) { credits_[end].told(flit.cxl); }
  void delivered(const Packet& message, Time now) {
    order_.delivered(message, now);
    ids_.delivered(message);
  }
  /// The link has gone down: nothing is on its way, and nothing will be answered. [CXL-3.9]
  void reset() {
    order_.reset();
    ids_.reset();
    for (std::size_t end = 0; end < credits_.size(); ++end) {
      credits_[end].reset();
      awaited_[end] = {};
    }
  }

 private:
  MessageOrderMonitor order_;
  MessageIdMonitor ids_;
  std::array<MessageCreditMonitor, 2> credits_;        // of messages that an end sends
  std::array<GrowingRing<const Packet*>, 2> awaited_;  // 68-byte flits that an end has sent
};

}  // namespace flitwise
