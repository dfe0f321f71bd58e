// SPDX-License-Identifier: Apache-2.0
/// Watches that what leaves one end of a link overtakes nothing that it may not: the order on the
/// wire against the order in which the TLPs came to the transaction queues. [LNK-9.1] to [LNK-9.7]
#pragma once

#include <array>
#include <cstdint>

#include "link/posted_index.h"
#include "monitor/packet_ring.h"
#include "monitor/violation_log.h"

namespace flitwise {

class OrderingMonitor {
 public:
  explicit OrderingMonitor(Reporter reporter) : reporter_(reporter) {}

  /// The queues have taken a packet; they hold it until it is sent.
  void queued(FcClass fc, const Packet& packet) {
    const bool is_indexed = fc == FcClass::kPosted && !posted_by_owner_.empty();
    const std::uint32_t token = is_indexed ? index(packet, queued_) : kNobody;
    of(fc).push({&packet, queued_++, token});
  }
  /// Is a TLP that goes on the wire for the first time the oldest of all? Then there is no more to
  /// ask. False as well for the first one behind some that went out of turn.
  bool fits(const Packet& packet, TlpKind kind) const {
    const Slot& first = waiting_[kind.fc].first();
    return first.packet == &packet && first.order == oldest_;
  }
  /// It goes. REQUIRES: fits().
  void sent(TlpKind kind) {
    take(waiting_[kind.fc]);
    ++oldest_;
  }
  /// One goes that does not fit.
  void sent_out_of_turn(const Packet& packet, Time now);

 private:
  struct Slot {
    const Packet* packet = nullptr;
    std::uint64_t order = ~std::uint64_t{0};
    std::uint32_t token = kNobody;  // in posted_by_owner_
  };
  using Ring = GrowingRing<Slot>;

  Ring& of(FcClass fc) { return waiting_[static_cast<std::size_t>(fc)]; }
  void take(Ring& ring) {
    if (const std::uint32_t token = ring.first().token; token != kNobody) {
      posted_by_owner_.remove(token);
    }
    ring.at(ring.head++) = {};
  }
  [[gnu::noinline]] std::uint32_t index(const Packet& posted, std::uint64_t order);
  bool may_be_wrong(const Packet& later, std::uint64_t order);
  const Packet* wrongly_passed(const Slot& later);

  std::array<Ring, kFcClasses> waiting_;
  PostedGroups posted_by_owner_;  // of all that wait, or empty: nobody has asked
  std::uint64_t queued_ = 0;
  std::uint64_t oldest_ = 0;  // all of a lower order have gone
  Reporter reporter_;
};

}  // namespace flitwise
