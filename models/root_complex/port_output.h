// SPDX-License-Identifier: Apache-2.0
/// What goes down by a root port: requests of the host, messages, and completions, which it makes.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "common/outbox.h"
#include "common/packet_sizer.h"
#include "flitwise/result.h"
#include "root_complex/port_record.h"
#include "tlp/splitter.h"

namespace flitwise {

class PortOutput {
 public:
  PortOutput(const RootPortConfig& config, PacketPool& pool, PortWire& link, PortRecord& record);

  /// From now on every TLP bears an ECRC, if software wants that. [LNK-12.6]
  void set_ecrc(bool is_generated) { sizer_.set_ecrc(is_generated); }

  /// To be called where what the packet takes on the link does not follow from how it leaves.
  void size(Packet& packet) const { sizer_.size(packet); }
  /// It may leave at `ready`, behind what was sent before of its class.
  void send(PacketRef packet, Time ready);
  /// The data of a read or an atomic, from memory at `when`. data: of whole DWs.
  void answer_read(const Packet& request, const std::uint8_t* data, Time when);
  /// One of several completions of a Translation Request. [TCP-01]
  void answer_translation(const Packet& request, const CompletionPiece& piece,
                          const std::uint8_t* translations, Time when);
  /// The request ends here: non-posted ones get a Cpl with the status at `when`, posted ones are
  /// dropped and counted. [LNK-9.19]
  void refuse(const Packet& packet, CplStatus status, const char* kind, Time when);
  /// [LNK-9.23] [LNK-12.12]
  void refuse_poisoned(const Packet& packet, Time when);

  /// The link has room again.
  void drain();
  /// model: answers that may wait to go down; beyond it requests keep their receive buffers, so
  /// that a flood of reads runs out of credits. More than all tags of a device can ask for at once.
  static constexpr std::size_t kMostAnswers = 16384;
  bool takes_answers() const { return completions_.size() < kMostAnswers; }
  bool is_empty() const { return posted_.empty() && nonposted_.empty() && completions_.empty(); }
  std::string waiting(const char* at) const;
  void start_window(Time now);
  std::vector<WaitResult> waits(const char* at) const;

 private:
  struct Queue {
    Outbox& outbox;
    const char* name;
    const char* content;
  };
  PacketRef make_completion(const Packet& request, std::size_t payload_bytes = 0) const;
  void put(Outbox& outbox, PacketRef packet, Time ready);
  void complete(PacketRef packet, Time when);
  void answer_refused(const Packet& packet, CplStatus status, Time when);

  const Time latency_;  // from memory to the link
  const std::uint32_t mps_, rcb_;
  const bool handle_is_requester_id_, real_payload_;
  const std::function<bool(CompletionPiece&)> completion_hook_;
  PacketPool& pool_;
  PortWire& link_;
  PortRecord& record_;
  PacketSizer sizer_;
  Outbox posted_, nonposted_, completions_;
  const std::array<Queue, 3> queues_;
};

}  // namespace flitwise
