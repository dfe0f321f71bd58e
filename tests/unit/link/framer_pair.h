// SPDX-License-Identifier: Apache-2.0
/// Two framers back to back over a channel that damages and loses what a test tells it to. No
/// kernel: time jumps from one thing to do to the next.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <type_traits>
#include <vector>

#include "link/cxl_queues.h"
#include "link/data_link_framer.h"
#include "link/flit_framer.h"
#include "link/lane_stream.h"
#include "unit/link/link_support.h"

namespace flitwise::test {

/// kDamagedBehindHalf: a flit whose first 128 bytes are good.
enum class Fate { kGood, kDamaged, kLost, kDamagedBehindHalf };

/// The coding of the wire that a framer is made for.
inline LineCoding coding_for(const LinkConfig& link) {
  if (link.is_in_flit_mode()) {
    return flit_coding(link.preset, link.skp);
  }
  return link.preset.cxl == CxlFlits::k68 ? flit68_coding(link.preset, link.skp)
                                          : line_coding(link.preset, link.skp);
}

template <class FramerType>
class FramerPairOf {
 public:
  /// What becomes of a unit that `side` sends; what `side` receives.
  std::function<Fate(int side, const WireUnit& unit)> fate = [](int, const WireUnit&) {
    return Fate::kGood;
  };
  std::function<void(int side, const PacketRef& packet)> delivered;
  std::function<void(int side, const WireUnit& unit, Placement at)> sent;

  explicit FramerPairOf(const LinkConfig& link) : link_(link) {
    for (std::size_t side = 0; side < ends_.size(); ++side) {
      ends_[side] = std::make_unique<End>(
          side == 0 ? CxlDirection::kUpstream : CxlDirection::kDownstream, link, pool_);
      ends_[side]->framer.start(Time{});
    }
  }

  PacketPool& pool() { return pool_; }
  Time now() const { return now_; }
  TransactionQueues& queues(int side) { return ends_[index(side)]->queues; }
  CxlQueues& messages(int side) { return ends_[index(side)]->messages; }
  FramerType& framer(int side) { return ends_[index(side)]->framer; }
  std::size_t retrains() const { return retrains_; }

  /// Everything that can happen up to `end`.
  void run_until(Time end) {
    for (const auto& one : ends_) {
      one->may_send = true;  // a test may have queued something
    }
    Time next = next_time();
    while (next <= end) {
      now_ = std::max(now_, next);
      for (int side = 0; side < 2; ++side) {
        arrive(side);
        transmit(side);
      }
      next = next_time();
    }
    now_ = end;
    for (int side = 0; side < 2; ++side) {
      transmit(side);
    }
  }
  bool is_quiet() const {
    return std::all_of(ends_.begin(), ends_.end(),
                       [](const auto& end) { return end->framer.is_quiet() && end->wire.empty(); });
  }
  /// Runs until nothing waits; false if that does not come to pass within `patience`.
  bool run_until_quiet(Time patience = Time::from_us(100'000)) {
    const Time end = now_ + patience;
    while (!is_quiet() && now_ < end) {
      run_until(now_ + Time::from_us(1));
    }
    return is_quiet();
  }

 private:
  struct Flying {
    WireUnit unit;
    Time arrival;
    bool is_damaged;
    bool is_half = false;
  };
  struct End {
    End(CxlDirection direction, const LinkConfig& link, PacketPool& pool)
        : queues(link.queue_depth, link.relaxed_passing),
          messages(direction, link.cxl.queue_depth),
          framer(make(link, queues, messages, pool)),
          lanes(coding_for(link)) {}
    static FramerType make(const LinkConfig& link, TransactionQueues& queues, CxlQueues& messages,
                           PacketPool& pool) {
      if constexpr (std::is_constructible_v<FramerType, const LinkConfig&, TransactionQueues&,
                                            CxlQueues&, PacketPool&>) {
        return FramerType(link, queues, messages, pool);
      } else {
        return FramerType(link, queues, pool);
      }
    }
    TransactionQueues queues;
    CxlQueues messages;
    FramerType framer;
    LaneStream lanes;
    std::deque<Flying> wire;
    bool may_send = true;
  };
  static std::size_t index(int side) { return static_cast<std::size_t>(side); }

  Time next_time() const {
    Time next = Time::never();
    for (const auto& end : ends_) {
      if (!end->wire.empty()) {
        next = std::min(next, end->wire.front().arrival);
      }
      const Time wanted = end->may_send ? now_ : end->framer.deadline();
      if (wanted != Time::never()) {
        next = std::min(next, std::max(wanted, end->lanes.free_at()));
      }
    }
    return next;
  }

  void arrive(int side) {
    End& to = *ends_[index(side)];
    End& from = *ends_[index(1 - side)];
    std::vector<PacketRef> packets;
    while (!from.wire.empty() && from.wire.front().arrival <= now_) {
      const Flying flying = from.wire.front();
      from.wire.pop_front();
      if (flying.is_half) {
        to.framer.receive_half(flying.unit, packets);
      } else {
        to.framer.receive(flying.unit, flying.is_damaged, now_, packets);
      }
      // With nothing queued, only the framer's own deadline says that there is something to send.
      to.may_send = to.may_send || !to.queues.empty() || !to.messages.empty();
    }
    for (const PacketRef& packet : packets) {
      if (delivered) {
        delivered(side, packet);
      } else {
        to.framer.freed(*packet, now_);
      }
    }
  }

  void transmit(int side) {
    End& from = *ends_[index(side)];
    if (!from.may_send && from.framer.deadline() > now_) {
      return;
    }
    while (from.lanes.free_at() <= now_) {
      WireUnit unit;
      const bool has_unit = from.framer.next(now_, unit);
      from.may_send = has_unit;
      if (from.framer.take_recovery_request()) {
        recover();
      }
      if (!has_unit) {
        break;
      }
      const Placement at = from.lanes.place(unit.size.total() / 8, now_);
      from.framer.sent(unit, at.last);
      if (sent) {
        sent(side, unit, at);
      }
      put_on_wire(from, unit, at, fate(side, unit));
    }
  }

  void put_on_wire(End& from, const WireUnit& unit, Placement at, Fate what) {
    const bool is_damaged = what == Fate::kDamaged || what == Fate::kDamagedBehindHalf;
    if (is_damaged) {
      from.framer.damaged(unit, now_);
    }
    if (what == Fate::kLost) {
      return;
    }
    const Time way = link_.timing.propagation + link_.timing.receive;
    if (unit.is_flit() && unit.packet->flit->ends_in_half > 0 && what != Fate::kDamaged) {
      from.wire.push_back({unit, Time{(at.first.fs + at.last.fs) / 2} + way, false, true});
    }
    from.wire.push_back({unit, at.last + way, is_damaged});
  }

  void recover() {
    ++retrains_;
    for (const auto& end : ends_) {
      end->lanes.settle(now_ + link_.timing.retrain);
      end->framer.recovered(now_ + link_.timing.retrain);
      end->may_send = true;
    }
  }

  const LinkConfig link_;
  PacketPool pool_;
  std::array<std::unique_ptr<End>, 2> ends_;
  Time now_{};
  std::size_t retrains_ = 0;
};

using FramerPair = FramerPairOf<NonFlitFramer>;
using FlitFramerPair = FramerPairOf<FlitFramer>;

}  // namespace flitwise::test
