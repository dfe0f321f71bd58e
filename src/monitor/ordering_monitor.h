// SPDX-License-Identifier: Apache-2.0
/// Watches that what leaves one end of a link overtakes nothing that it may not: the order on the
/// wire against the order in which the TLPs came to the transaction queues. [LNK-9.1] to [LNK-9.7]
#pragma once

#include "monitor/packet_ring.h"
#include "monitor/violation_log.h"

namespace flitwise {

class OrderingMonitor {
 public:
  explicit OrderingMonitor(Reporter reporter) : reporter_(reporter) {}

  /// The queues have taken a packet; they hold it until it is sent.
  void queued(FcClass fc, const Packet& packet) {
    pending_.push(packet, static_cast<std::size_t>(fc));
  }
  /// Is a TLP that goes on the wire for the first time the oldest of all? Then there is no more to
  /// ask.
  bool fits(const Packet& packet, TlpKind kind) const {
    return pending_.starts_with(packet, kind.fc);
  }
  /// It goes. REQUIRES: fits().
  void sent() { pending_.pop(); }
  /// One goes that overtakes others.
  void sent_out_of_turn(const Packet& packet, Time now);

 private:
  const Packet* wrongly_passed(const Packet& later, std::size_t index) const;

  PacketRing pending_;
  Reporter reporter_;
};

}  // namespace flitwise
