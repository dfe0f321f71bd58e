// SPDX-License-Identifier: Apache-2.0
/// Messages of CXL.cache and CXL.mem that wait at one link end: a queue per channel, and the
/// credits that gate what leaves. Channels have no order among each other, but for a snoop that
/// stays behind older responses. [CXL-3.1] [COH-1.5]
#pragma once

#include <boost/circular_buffer.hpp>

#include <array>
#include <cstdint>
#include <string>

#include "common/ranges.h"
#include "cxl/flit_layout.h"
#include "flitwise/packet.h"
#include "link/cxl_credits.h"
#include "stats/wait_book.h"

namespace flitwise {

inline bool has_any(const CxlWaiting& waiting) {
  return any_of(waiting.count, [](std::uint16_t count) { return count > 0; });
}

class CxlQueues {
 public:
  /// What is sent in that direction; `depth` messages of each channel.
  CxlQueues(CxlDirection direction, unsigned depth);

  CxlDirection direction() const { return direction_; }
  bool has_room(CxlChannel channel) const { return !queues_[index_of(channel)].entries.full(); }
  bool empty() const { return size_ == 0; }
  /// Queues a message that can go from `arrival` on, not before those pushed earlier. REQUIRES:
  /// has_room(its channel), and the channel is of this direction.
  void push(PacketRef packet, Time arrival);
  /// When something that is queued arrives after `now`; never where nothing does.
  Time next_arrival(Time now) const;

  /// Messages that may go now: they are there, and there are credits for all of them together.
  CxlWaiting waiting(Time now);
  /// The oldest message of a channel goes: its credits are spent. REQUIRES: it was waiting.
  PacketRef take(CxlChannel channel);
  /// Counts the time during which messages wait for credits. To be called when messages were taken
  /// and when credits came.
  void note_stalls(Time now);
  /// Up to now, by CxlCredit.
  std::array<StallCount, kCxlCredits> waits(Time now) const;
  CxlCreditGate& gate() { return gate_; }
  const CxlCreditGate& gate() const { return gate_; }
  void reset();
  /// From now on, once: a message goes ahead of an older one of its channel. [COH-1.4]
  void break_order() { breaks_order_ = true; }
  /// What waits for credits, for deadlock reports; empty where nothing does.
  std::string starved() const;

 private:
  struct Entry {
    PacketRef packet;
    Time arrival{};
    std::uint64_t number = 0;  // in the order of all channels
  };
  struct Queue {
    boost::circular_buffer<Entry> entries;
    std::size_t arrived = 0;  // of them, from the front
    std::size_t partial = 0;  // lines that are enabled in part
  };
  /// By CxlCredit: since when a message of the class has been waiting for a credit; never: none is.
  std::array<Time, kCxlCredits> blocked_since(Time now) const;
  std::size_t ahead_of_responses(const Queue& snoops, std::size_t count) const;

  CxlDirection direction_;
  std::array<CxlChannel, kCxlChannels / 2> channels_{};  // of this direction
  std::array<Queue, kCxlChannels> queues_;
  std::size_t size_ = 0;
  std::uint64_t pushed_ = 0;
  std::size_t turn_ = 0;  // whose credits are looked at first
  CxlCreditGate gate_;
  std::array<StallClock, kCxlCredits> stalls_;  // by CxlCredit
  bool is_stalled_ = false;                     // one of them runs
  Time noted_{};                                // when the stalls were looked at last
  bool breaks_order_ = false;
};

}  // namespace flitwise
