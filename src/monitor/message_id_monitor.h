// SPDX-License-Identifier: Apache-2.0
/// Requests of CXL.cache and CXL.mem on one link and what answers them: each id is out once at
/// most, and an answer comes once, by a channel that its request asks for. Records are kept by what
/// is sent and delivered. [COH-1.3] [COH-2.5] to [COH-2.7] [COH-4.1] [COH-5.1] [COH-5.3]
/// [COH-6.2] [COH-6.4]
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "flitwise/cxl.h"
#include "flitwise/packet.h"
#include "monitor/violation_log.h"
#include "trace/packet_note.h"

namespace flitwise {

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

  /// What the messages of a channel are: requests, or answers of one kind, in one table.
  struct Channel {
    Table MessageIdMonitor::*table;
    std::uint8_t kind;  // H2D Rsp: by its opcode
    bool is_request;
  };
  static const std::array<Channel, kCxlChannels> kChannels;
  static const Channel& channel_of(const CxlMessage& message) {
    return kChannels[static_cast<std::size_t>(message.channel)];
  }
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

}  // namespace flitwise
