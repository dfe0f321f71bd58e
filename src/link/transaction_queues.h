// SPDX-License-Identifier: Apache-2.0
/// The transaction layer of one link end, the same on every carrier: a queue per flow-control
/// class, the ordering table between them, and the credits that gate what leaves.
#pragma once

#include <boost/circular_buffer.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "flitwise/result.h"
#include "link/flow_control.h"
#include "link/ordering.h"
#include "link/posted_index.h"
#include "link/shared_credits.h"
#include "stats/wait_book.h"

namespace flitwise {

/// Packets of a class (FcClass) on their way through the port's pipeline, ahead of the queue
/// proper; enough to cover a device's pipeline and a host's read latency at the highest rate.
/// model: the text knows no such bound.
inline constexpr std::size_t kPipelineSlots[] = {96, 96, 1024};
/// TLPs of a class that one end of a link with queues of this depth has room for; of all classes.
constexpr std::size_t queue_room(unsigned depth, FcClass fc_class) {
  return depth + kPipelineSlots[static_cast<std::size_t>(fc_class)];
}
constexpr std::size_t queue_room(unsigned depth) {
  return queue_room(depth, FcClass::kPosted) + queue_room(depth, FcClass::kNonPosted) +
         queue_room(depth, FcClass::kCompletion);
}

class TransactionQueues {
 public:
  /// `depth` TLPs per class, and beside them kPipelineSlots on their way to the queue; relaxed: RO
  /// and IDO TLPs overtake where the table permits it.
  TransactionQueues(unsigned depth, RelaxedPassing relaxed);

  bool has_room(FcClass fc_class) const { return !queue(fc_class).full(); }
  bool empty() const { return queues_[0].empty() && queues_[1].empty() && queues_[2].empty(); }
  /// More than one class waits.
  bool is_mixed() const {
    return static_cast<int>(queues_[0].empty()) + queues_[1].empty() + queues_[2].empty() < 2;
  }
  std::size_t size(FcClass fc_class) const { return queue(fc_class).size(); }

  /// Queues a packet behind all that came before; it can go from `arrival` on (a pipeline ahead of
  /// the queues). REQUIRES: has_room(its class).
  void push(PacketRef packet, Time arrival = Time{});
  /// When something that is queued arrives next; never where all of it has.
  Time next_arrival(Time now) const;
  /// When the first of what is queued arrived or arrives; never where nothing is queued.
  Time first_arrival() const { return next_arrival(Time{-1}); }

  /// The place of the TLP that goes next: the oldest that has its credits and that nothing ahead of
  /// it holds back.
  struct Position {
    FcClass fc_class;
    std::size_t index;
  };
  std::optional<Position> choose(Time now = Time::never()) const;
  const Packet& peek(Position position) const {
    return *queue(position.fc_class)[position.index].packet;
  }
  /// Takes it out and consumes its credits. REQUIRES: position from choose(), nothing pushed or
  /// taken since.
  PacketRef take(Position position);

  /// Counts the time during which a class waits for credits. To be called whenever choose() was
  /// asked.
  void note_stalls(Time now);
  /// Stall times up to now.
  StallTimes stalls(Time now) const;
  /// Headers and data of each class, in the order of FcClass: both, where the TLP lacks both.
  std::array<StallCount, 2 * kFcClasses> waits(Time now) const;

  /// The link has gone down: what is queued is dropped, and the credits are those of a link that
  /// has not come up yet. [LNK-10.4] [LNK-10.7]
  void reset(Time now);

  /// One TLP is to overtake a posted request that it may not pass, on purpose (docs/monitors.md).
  void break_ordering() { breaks_ordering_ = true; }

  CreditGates& gates(FcClass fc_class) { return gates_[index_of(fc_class)]; }
  const CreditGates& gates(FcClass fc_class) const { return gates_[index_of(fc_class)]; }
  /// From now on a TLP takes shared credits where they suffice. REQUIRES: flit mode. [LNK-11.23]
  void share_credits(bool is_merged) { shared_ = std::make_unique<SharedGates>(is_merged); }
  bool shares_credits() const { return shared_ != nullptr; }
  /// REQUIRES: shares_credits().
  SharedGates& shared_gates() { return *shared_; }
  const SharedGates& shared_gates() const { return *shared_; }
  /// Head of a class that waits for credits, for deadlock reports; null where none does.
  const Packet* starved(FcClass fc_class, Time now = Time::never()) const;

 private:
  struct Entry {
    PacketRef packet;
    std::uint64_t order = 0;
    Credits need;
    Time arrival{};
    mutable std::uint32_t token = kNobody;  // in posted_index_
  };
  struct Gate : CreditGates {
    StallClock blocked, blocked_by_header, blocked_by_data;
  };
  using Queue = boost::circular_buffer<Entry>;

  static std::size_t index_of(FcClass fc_class) { return static_cast<std::size_t>(fc_class); }
  const Queue& queue(FcClass fc_class) const { return queues_[index_of(fc_class)]; }
  bool has_credits(FcClass fc, const Entry& entry) const {
    return gates_[index_of(fc)].allow(entry.need) || (shared_ && shared_->allow(fc, entry.need));
  }
  std::optional<FcClass> only_class() const;
  static Passing passing_of(const Entry& later, const Entry& earlier);
  bool may_overtake_posted(const Entry& entry) const;
  const PostedIndex& posted_index() const;
  void note_overtaking(Position position, const Entry& entry);
  std::optional<std::size_t> sendable(FcClass fc_class, Time now) const;
  std::optional<Position> forbidden_overtaking(Time now) const;

  std::array<Queue, kFcClasses> queues_;
  std::array<Gate, kFcClasses> gates_;
  mutable PostedIndex posted_index_;     // of all that are queued, or empty: nobody has asked
  std::unique_ptr<SharedGates> shared_;  // null: no shared credits
  std::uint64_t next_order_ = 0;
  unsigned overtakings_ = 0;  // of the oldest posted request, while the mode permits them
  RelaxedPassing relaxed_;
  bool breaks_ordering_ = false;
};

}  // namespace flitwise
