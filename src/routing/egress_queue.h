// SPDX-License-Identifier: Apache-2.0
/// TLPs on their way through a switch that wait for one egress link: a queue per flow-control
/// class, and the ordering table between them. [LNK-9.1] to [LNK-9.7]
#pragma once

#include <boost/circular_buffer.hpp>

#include <array>
#include <cstdint>
#include <optional>

#include "flitwise/packet.h"
#include "flitwise/time.h"
#include "stats/wait_book.h"
#include "tlp/identity.h"

namespace flitwise {

/// A receive buffer that is in use until what came in it has left the switch.
struct HeldBuffer {
  PacketRef packet;           ///< null: no buffer is held
  std::uint16_t port = 0;     ///< whose buffer it is
  bool is_broadcast = false;  ///< shared by the copies of a broadcast
};

class EgressQueue {
 public:
  struct Entry {
    PacketRef packet;
    HeldBuffer held;
    Time ready{};  ///< through the switch
    std::uint64_t order = 0;
  };

  explicit EgressQueue(const IdentityForm& form);

  /// Behind all that came before. REQUIRES: entry.ready does not go back in time. entry.order is
  /// set here.
  void push(Entry entry);

  /// The class whose oldest TLP goes next: the oldest of all that is ready, whose class the link
  /// takes, and that passes nothing it must not. Posted TLPs and completions are not held up by
  /// non-posted ones. [LNK-9.2]
  std::optional<FcClass> choose(Time now, const std::array<bool, kFcClasses>& takes) const;
  const Entry& front(FcClass fc_class) const { return queue(fc_class).front(); }
  /// REQUIRES: the class is not empty.
  Entry take(FcClass fc_class);

  /// Of TLPs that are through the switch, for the link.
  WaitBook& waits() { return waits_; }
  const WaitBook& waits() const { return waits_; }

  /// When the next TLP that is not ready yet will be; never if there is none.
  Time next_ready(Time now) const;
  bool empty() const { return size() == 0; }
  std::size_t size() const { return queues_[0].size() + queues_[1].size() + queues_[2].size(); }
  std::size_t size(FcClass fc_class) const { return queue(fc_class).size(); }

 private:
  using Queue = boost::circular_buffer<Entry>;
  const Queue& queue(FcClass fc_class) const { return queues_[static_cast<std::size_t>(fc_class)]; }
  bool may_overtake_posted(const Entry& entry) const;

  IdentityForm form_;
  std::array<Queue, kFcClasses> queues_;
  std::uint64_t next_order_ = 0;
  WaitBook waits_;
};

}  // namespace flitwise
