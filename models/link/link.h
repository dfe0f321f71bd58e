// SPDX-License-Identifier: Apache-2.0
/// One link between two ports: at each end transaction queues and a framer, between them a wire in
/// each direction. The only timed part of the link; its rules are in src/link.
// Longer than 150 lines: what is asked of a link is asked for both its ends.
#pragma once

#include <systemc>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/agenda.h"
#include "common/component.h"
#include "flitwise/config.h"
#include "flitwise/link_socket.h"
#include "link/link_end.h"
#include "trace/trace_sink.h"

namespace flitwise {

class LinkMonitor;

using LinkCredits = decltype(LinkConfig::credits);

class Link : public ComponentModule {
 public:
  /// From and to each end (protocol: flitwise/link_socket.h), indexed by LinkSide.
  struct Sockets {
    std::array<std::unique_ptr<LinkTarget<Link>>, 2> from;
    std::array<std::unique_ptr<LinkInitiator<Link>>, 2> to;
  };
  /// Packets of the ports, and messages of CXL.cache and CXL.mem; null where there are no agents.
  Sockets port, cache, mem;

  /// Agents at both ends.
  struct Agents {
    bool has_cache = false, has_mem = false;
  };
  /// advertised: by each end, indexed by LinkSide, instead of link.credits. REQUIRES: agents only
  /// on a CXL link.
  Link(const sc_core::sc_module_name& name, const LinkConfig& link, const MessageConfig& message,
       const FaultsConfig& faults, const Random& random, PacketPool& pool,
       const std::array<LinkCredits, 2>& advertised, Agents agents = {false, false});

  /// No transmission is damaged, and none counts for the ordinals of `faults`, until release.
  void hold_faults();
  void release_faults();
  /// Called when REPLAY_NUM of that end rolls over, which sends the link into Recovery. [LNK-7.14]
  void on_rollover(LinkSide side, std::function<void()> action) {
    end(side).rolled_over = std::move(action);
  }
  /// The link goes down: all that is queued, on a wire or not acknowledged is lost, and so is what
  /// the ports send until it comes up. [LNK-10.4] [LNK-10.5]
  void take_down();
  /// It trains and initialises flow control anew. REQUIRES: it is down, and the ports have freed
  /// all receive buffers. [LNK-10.7]
  void bring_up();
  /// Both ends may send TLPs.
  bool is_up() const { return ends_[0]->framer->is_active() && ends_[1]->framer->is_active(); }
  /// What an end was to send and lost because the link was down.
  const LinkLoad& losses(LinkSide sender) const { return end(sender).account.lost; }
  /// Strikes units that the sender puts on its wire from now on.
  void add_fault(LinkSide sender, const WireFault& fault) { end(sender).wire_faults.add(fault); }
  /// Appends the faults of that sender that have something left to strike.
  void missed_faults(LinkSide sender, std::vector<MissedFault>& list) const {
    end(sender).wire_faults.missed(list);
  }
  /// A DLLP that no rule asked for, behind what stands on the wire already.
  void send_dllp(LinkSide sender, const Dllp& dllp);
  void start_window() override { start_window(false); }
  void start_window_with_traffic() override { start_window(true); }
  /// The window ends now; what comes later is not measured, until it is extended again.
  void end_window() override;
  void extend_window() override;
  /// The measured window, so far or to its end. REQUIRES: nothing is on the wire after now.
  LinkResult result() const;
  /// What TLPs, messages and flits waited for at each end: credits, replay buffer, the wire.
  std::vector<WaitResult> waits() const override;
  void report(RunResult& all) const override { all.rows<LinkResult>().push_back(result()); }
  /// Stalls of what sends at the lower end, for want of tags and handles.
  void ask_sender(std::function<StallTimes()> stalls) { sender_stalls_ = std::move(stalls); }
  /// The SKP ordered sets of each direction come at some time or other of their period, drawn here.
  /// REQUIRES: nothing has run yet.
  void draw_skp_phases(Random random);

  /// No TLP is queued or on its way, be it to be sent again.
  bool is_idle() const override;
  void add_progress(Progress& sum) const override;
  void count_repeats(Counts& counts) const override;
  bool is_quiet() const override;  ///< all TLPs delivered and acknowledged, all credits told
  bool is_sending() const;         ///< a wire is busy: it falls idle without an event
  Time waits_until() const override;
  std::string waiting() const override;
  std::vector<CheckResult> checks() const override;
  /// Packets that have left one end and not yet reached the other; a quiet link has DLLPs only.
  std::size_t on_wire() const;
  /// By class, as the sender knows them now.
  std::array<HeaderCredits, kFcClasses> header_credits(LinkSide sender) const;
  void watch(TraceSink* sink) { sink_ = sink; }
  /// `monitor` outlives the link. REQUIRES: called before anything runs.
  void watch(LinkMonitor& monitor) { monitor_ = &monitor; }
  const LinkConfig& config() const { return config_; }
  /// Periodic UpdateFCs are no events until wake(), or what comes, places them all at once.
  void rest();
  void wake();

 private:
  /// What the link's process does at each end.
  static constexpr std::size_t kReceive = 0, kTransmit = 2;  // plus the side

  using End = LinkEnd;
  using InFlight = LinkEnd::InFlight;

  void open(Sockets& sockets, const std::string& prefix);
  tlm::tlm_sync_enum port_sends(int side, Packet&, tlm::tlm_phase&, sc_core::sc_time& delay);
  tlm::tlm_sync_enum port_frees(int side, Packet&, tlm::tlm_phase&, sc_core::sc_time& delay);
  void start_window(bool from_first_counted);
  /// From when on transmit() finds its wire free less than the look-ahead.
  Time next_slot(const End& end) const { return end.lanes.free_at() - lookahead_ + Time{1}; }
  void work();
  void transmit(std::size_t side);
  std::optional<Time> later_slot(const End& from, Time t) const;
  bool waits_for_slot(std::size_t side, Time t);
  void receive(std::size_t side);
  void put_on_wire(std::size_t side, InFlight&& flying, Time earliest);
  void record(std::size_t side, const InFlight& flying, const Placement& placement) const;
  Time half_arrival(const End& from, const Placement& placement) const;
  void strike(std::size_t side, InFlight& flying);
  void fly(std::size_t side, InFlight&& flying);
  void deliver(std::size_t side, const PacketRef& packet, Time t);
  void tell_room(std::size_t side);
  Time train(Time t);
  void recover(Time t);
  End& end(LinkSide side) { return *ends_[static_cast<std::size_t>(side)]; }
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
  std::function<StallTimes()> sender_stalls_;
  bool is_down_ = false, is_resting_ = false;  // software has taken it down; see rest()
};

}  // namespace flitwise
