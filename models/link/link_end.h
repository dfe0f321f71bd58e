// SPDX-License-Identifier: Apache-2.0
/// One end of a link: what is queued there, its framer and the wire that it sends on, what is
/// counted there, and its measured window. When each of it happens, the link says.
// Longer than 150 lines: all that one end has, in one structure.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "flitwise/config.h"
#include "flitwise/flit.h"
#include "flitwise/result.h"
#include "link/bit_errors.h"
#include "link/cxl_queues.h"
#include "link/framer.h"
#include "link/lane_stream.h"
#include "link/transaction_queues.h"
#include "link/wire_faults.h"

namespace flitwise {

/// The two ends: upstream is the one nearer to the root complex. An end transmits in its own
/// direction: the downstream end sends "up".
enum class LinkSide : int { kUpstream = 0, kDownstream = 1 };

/// Units that a delayed one (WireFault::Action::kDelay) may hold up behind it: as any queue, what
/// piles up there has an end. Replays alone do not reach it: the fourth is followed by Recovery,
/// which empties the wire [LNK-10.2]. model: our choice.
inline constexpr std::size_t kMostHeldUnits = 16'384;

/// A number of TLPs, and what the MWr among them carry. Unit: TLPs, bytes.
struct LinkLoad {
  using Counters = LinkLoad;
  std::uint64_t tlps = 0, writes = 0, written_bytes = 0;
  void add(const Packet& packet) {
    ++tlps;
    if (packet.tlp.type == TlpType::kMWr) {
      ++writes;
      written_bytes += packet.payload_bytes;
    }
  }
  LinkLoad& operator+=(const LinkLoad& other) {
    tlps += other.tlps;
    writes += other.writes;
    written_bytes += other.written_bytes;
    return *this;
  }
};

/// What a sender may have to wait for before something can leave: headers and data of each
/// flow-control class, credits of CXL by CxlCredit, and room in the replay buffer.
inline constexpr std::size_t kFirstCxlLimit = 2 * kFcClasses,
                             kReplayBufferLimit = kFirstCxlLimit + kCxlCredits,
                             kLinkLimits = kReplayBufferLimit + 1;
using LinkWaits = std::array<StallCount, kLinkLimits>;

/// How bits stand on the wires of the link.
LineCoding coding_of(const LinkConfig& link);

struct LinkEnd {
  struct InFlight {
    WireUnit unit;
    Time arrival;
    bool is_damaged = false;
    bool is_lost = false;               // never arrives
    bool is_copy = false;               // of a unit beside it
    bool is_half = false;               // what can be used of the flit behind it [CXL-6.6]
    Time half_arrival = Time::never();  // of a flit: when that much of it arrives
  };
  /// What one end has put on its wire since the start of the run.
  struct Account {
    WireBits bits;
    std::uint64_t tlps = 0, payload_bytes = 0, damaged = 0, corrected = 0;
    std::uint64_t damaged_alone = 0;  ///< of the damaged: without payload, never sent again
    LinkLoad lost;
    Time first_symbol = Time::never(), last_symbol{};
  };
  /// All that is counted at one end, up to a time at which its wire is settled.
  struct Tally {
    Account account;
    std::uint64_t phy = 0, idle = 0, skps = 0;
    FramerStats framer;
    StallTimes stalls{};
    Time at{};
    LinkWaits waits{};
  };

  LinkEnd(LinkSide side, const LinkConfig& link, const MessageConfig& message,
          const DirectionFaults& faults, const Random& random, PacketPool& pool, bool has_cachemem);

  bool has_queued() const { return !queues.empty() || (messages && !messages->empty()); }
  /// When something that is queued arrives next after t.
  Time next_arrival(Time t) const {
    const Time of_tlps = queues.next_arrival(t);
    return messages ? std::min(of_tlps, messages->next_arrival(t)) : of_tlps;
  }
  /// When the first of what is queued arrived or arrives.
  Time first_arrival() const {
    const Time of_tlps = queues.first_arrival();
    return messages ? std::min(of_tlps, messages->next_arrival(Time{-1})) : of_tlps;
  }
  /// A delayed unit holds up no more than so many behind it; the sender waits until they are
  /// through.
  bool is_held_up(Time t) const { return held_up >= kMostHeldUnits && delayed_to > t; }
  /// Whether errors of the line damage the unit that goes out now.
  bool is_damaged(const WireUnit& unit);
  /// A unit of its wire is damaged: what it said may have to be said again.
  void note_damage(const WireUnit& unit);
  /// What a fault has delayed beyond this time, the end of Recovery, is lost. [LNK-10.2]
  void lose_delayed(Time end, bool is_flit68);
  /// Adds a unit that has its place on the wire to the account.
  void count_bits(const WireSize& size);
  void count(const WireUnit& unit, const Placement& placement);
  /// What begins in the first flit of a window before its first counted TLP belongs to the warm-up.
  void leave_out_warmup(const Flit& flit);

  void open_window(Time when);
  Tally tally_now() const;
  /// Of the measured window, so far or to its end.
  DirectionResult result() const;
  LinkWaits waits() const;

  TransactionQueues queues;
  std::unique_ptr<CxlQueues> messages;  // of CXL.cache and CXL.mem, on a CXL link
  std::unique_ptr<Framer> framer;
  LaneStream lanes;
  BitErrors errors;
  WireFaults wire_faults;
  Time delayed_to{};                       // nothing arrives earlier
  std::size_t held_up = 0;                 // units that are late for that reason
  boost::circular_buffer<InFlight> wire;   // from this end to the other, in order of arrival
  std::array<bool, kFcClasses> refused{};  // the port was sent away and waits for room
  bool refused_agent = false;              // the same for the agents of CXL.cache and CXL.mem
  Account account;
  LinkLoad taken;           // from the port at this end, while the link was up
  LinkLoad delivered_load;  // to it
  LinkLoad written_off;     // of what was taken: the other end will never have it
  std::function<void()> rolled_over;
  Tally window_begin;
  std::optional<Tally> window_end;
  bool opens_window = false;         // with the next counted TLP
  std::vector<PacketRef> delivered;  // scratch
  std::optional<BitErrors> held;     // while faults are held back

 private:
  Tally tally(const LaneStream& settled, Time when) const;
  LinkWaits waits_at(Time when) const;
};

}  // namespace flitwise
