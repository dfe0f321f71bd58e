// SPDX-License-Identifier: Apache-2.0
/// One link between two ports: at each end transaction queues and a framer, between them a wire in
/// each direction. The only timed part of the link; its rules are in src/link.
#pragma once

#include <systemc>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/agenda.h"
#include "flitwise/config.h"
#include "flitwise/flit.h"
#include "flitwise/link_socket.h"
#include "flitwise/result.h"
#include "link/bit_errors.h"
#include "link/cxl_queues.h"
#include "link/framer.h"
#include "link/lane_stream.h"
#include "link/transaction_queues.h"
#include "link/wire_faults.h"
#include "trace/trace_sink.h"

namespace flitwise {

class LinkMonitor;

/// The two ends: upstream is the one nearer to the root complex. An end transmits in its own
/// direction: the downstream end sends "up".
enum class LinkSide : int { kUpstream = 0, kDownstream = 1 };

/// Units that a delayed one (WireFault::Action::kDelay) may hold up behind it: as any queue, what
/// piles up there has an end. model: our choice.
inline constexpr std::size_t kMostHeldUnits = 16'384;

using LinkCredits = decltype(LinkConfig::credits);

class Link : public sc_core::sc_module {
 public:
  /// Packets from and to the port at each end (protocol: flitwise/link_socket.h), indexed by
  /// LinkSide.
  std::array<std::unique_ptr<LinkTarget<Link>>, 2> from_port;
  std::array<std::unique_ptr<LinkInitiator<Link>>, 2> to_port;

  /// Messages of CXL.cache and CXL.mem from and to the agents at each end, by the same protocol and
  /// indexed by LinkSide; null where there are no such agents.
  struct AgentSockets {
    std::array<std::unique_ptr<LinkTarget<Link>>, 2> from;
    std::array<std::unique_ptr<LinkInitiator<Link>>, 2> to;
  };
  AgentSockets cache, mem;

  Link(const sc_core::sc_module_name& name, const LinkConfig& link, const MessageConfig& message,
       const FaultsConfig& faults, const Random& random, PacketPool& pool)
      : Link(name, link, message, faults, random, pool, {link.credits, link.credits}) {}
  /// Agents at both ends.
  struct Agents {
    bool has_cache = false, has_mem = false;
  };
  /// With what each end advertises, indexed by LinkSide, instead of link.credits. REQUIRES: agents
  /// only on a CXL link.
  Link(const sc_core::sc_module_name& name, const LinkConfig& link, const MessageConfig& message,
       const FaultsConfig& faults, const Random& random, PacketPool& pool,
       const std::array<LinkCredits, 2>& advertised, Agents agents = {false, false});

  /// No transmission is damaged, and none counts for the ordinals of `faults`, until they are let
  /// loose again: a machine is brought up without faults.
  void hold_faults();
  void release_faults();
  /// Called when REPLAY_NUM of that end rolls over, which sends the link into Recovery. [LNK-7.14]
  void on_rollover(LinkSide side, std::function<void()> action);
  /// The link goes down: all that is queued, on a wire or not acknowledged is lost, and so is what
  /// the ports send until it comes up. [LNK-10.4] [LNK-10.5]
  void take_down();
  /// It trains and initialises flow control anew. REQUIRES: it is down, and the ports have freed
  /// all receive buffers. [LNK-10.7]
  void bring_up();
  /// Both ends may send TLPs.
  bool is_up() const { return ends_[0]->framer->is_active() && ends_[1]->framer->is_active(); }
  /// A number of TLPs, and what the MWr among them carry. Unit: TLPs, bytes.
  struct Load {
    std::uint64_t tlps = 0, writes = 0, written_bytes = 0;
    void add(const Packet& packet) {
      ++tlps;
      if (packet.tlp.type == TlpType::kMWr) {
        ++writes;
        written_bytes += packet.payload_bytes;
      }
    }
  };
  /// What an end was to send and lost because the link was down.
  const Load& losses(LinkSide sender) const { return end(sender).account.lost; }
  /// Strikes units that the sender puts on its wire from now on.
  void add_fault(LinkSide sender, const WireFault& fault);
  /// Appends the faults of that sender that have something left to strike.
  void missed_faults(LinkSide sender, std::vector<MissedFault>& list) const {
    end(sender).wire_faults.missed(list);
  }
  /// A DLLP that no rule asked for, behind what stands on the wire already.
  void send_dllp(LinkSide sender, const Dllp& dllp);
  /// Starts counting. from_first_counted: each direction's window opens with its first counted TLP;
  /// else now.
  void start_window(bool from_first_counted);
  /// The window ends now; what comes later is not measured, until it is extended again.
  void end_window();
  void extend_window();
  /// The measured window, so far or to its end. REQUIRES: nothing is on the wire after now.
  LinkResult result() const;
  /// What TLPs, messages and flits waited for at each end: credits, replay buffer, the wire.
  std::vector<WaitResult> waits() const;
  /// The SKP ordered sets of each direction come at some time or other of their period, drawn here.
  /// REQUIRES: nothing has run yet.
  void draw_skp_phases(Random random);

  /// TLPs handed to the ports so far.
  std::uint64_t delivered() const {
    return ends_[0]->delivered_load.tlps + ends_[1]->delivered_load.tlps;
  }
  /// What the framer of that end has counted since the start of the run.
  const FramerStats& framer_stats(LinkSide sender) const { return end(sender).framer->stats(); }
  /// TLPs, flits and DLLPs that were damaged on the wire or sent again, both ways.
  std::uint64_t wasted() const {
    std::uint64_t sum = 0;
    for (const std::unique_ptr<End>& one : ends_) {
      sum += one->account.damaged + one->framer->stats().replays;
    }
    return sum;
  }
  /// Some TLP is queued or on its way, be it to be sent again.
  bool carries_tlps() const;
  /// All TLPs delivered and acknowledged, all credits told.
  bool is_quiet() const;
  /// What waits at each end, for a deadlock report; empty where nothing does.
  std::string waiting() const;
  std::vector<CheckResult> checks() const;
  /// Packets that have left one end and not yet reached the other; a quiet link has DLLPs only.
  std::size_t on_wire() const;
  void watch(TraceSink* sink) { sink_ = sink; }
  /// `monitor` outlives the link. REQUIRES: called before anything runs.
  void watch(LinkMonitor& monitor) { monitor_ = &monitor; }
  const LinkConfig& config() const { return config_; }

 private:
  /// What the link's process does at each end.
  static constexpr std::size_t kReceive = 0, kTransmit = 2;  // plus the side

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
    Load lost;
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
  struct End {
    End(LinkSide side, const LinkConfig& link, const MessageConfig& message,
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
    Load taken;           // from the port at this end, while the link was up
    Load delivered_load;  // to it
    Load written_off;     // of what was taken: the other end will never have it
    std::function<void()> rolled_over;
    Tally window_begin;
    std::optional<Tally> window_end;
    bool opens_window = false;         // with the next counted TLP
    std::vector<PacketRef> delivered;  // scratch
    std::optional<BitErrors> held;     // while faults are held back
  };

  tlm::tlm_sync_enum port_sends(int side, Packet& packet, tlm::tlm_phase& phase,
                                sc_core::sc_time& delay);
  void open(AgentSockets& sockets, const char* protocol);
  tlm::tlm_sync_enum agent_sends(int side, Packet& packet, tlm::tlm_phase& phase,
                                 sc_core::sc_time& delay);
  tlm::tlm_sync_enum port_frees(int side, Packet& packet, tlm::tlm_phase& phase,
                                sc_core::sc_time& delay);
  Time next_slot(const End& end) const;
  static bool is_held_up(const End& from, Time t);
  void work();
  void transmit(std::size_t side);
  bool waits_for_slot(std::size_t side, Time t);
  void receive(std::size_t side);
  void put_on_wire(std::size_t side, InFlight&& flying, Time earliest);
  static bool begins_counted(const WireUnit& unit);
  static bool is_damaged(End& from, const WireUnit& unit);
  void record(std::size_t side, const InFlight& flying, const Placement& placement) const;
  Time half_arrival(const End& from, const Placement& placement) const;
  void strike(std::size_t side, InFlight& flying);
  void fly(std::size_t side, InFlight&& flying);
  static void leave_out_warmup(End& from, const Flit& flit);
  static void account_for(End& from, const WireUnit& unit, const Placement& placement);
  void take(std::size_t side, const InFlight& arrived, Time t);
  void deliver(std::size_t side, const PacketRef& packet, Time t);
  void tell_room(std::size_t side);
  Time train(Time t);
  void recover(Time t);
  void write_off(std::size_t side);
  static StallTimes stalls_of(const End& end, Time when);
  static LinkWaits waits_of(const End& end, Time when);
  std::uint64_t capacity_of(const End& from, std::size_t limit) const;
  void add_waits(LinkSide sender, std::vector<WaitResult>& rows) const;
  static Tally tally(const End& end, const LaneStream& settled, Time when);
  static Tally tally_now(const End& end);
  static void open_window(End& end, Time when);
  DirectionResult direction(const End& from) const;
  const End& end(LinkSide side) const { return *ends_[static_cast<std::size_t>(side)]; }

  const LinkConfig config_;
  const FaultsConfig faults_;
  const Time flight_;     // last symbol at one end to transaction layer at the other
  const Time lookahead_;  // a wire is filled so far ahead that none of its symbols stays free
  std::array<std::unique_ptr<End>, 2> ends_;
  Agenda<4> agenda_;
  TraceSink* sink_ = nullptr;
  LinkMonitor* monitor_ = nullptr;
  PacketPool& pool_;
  bool is_down_ = false;  // software has taken it down
};

}  // namespace flitwise
