// SPDX-License-Identifier: Apache-2.0
/// A device at its link: the shell of all its functions, with engines on it. It owns tags, handles,
/// the order of what goes out, and what comes back.
#pragma once

#include <systemc>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/due_queue.h"
#include "common/outbox.h"
#include "common/packet_sizer.h"
#include "common/wakeup.h"
#include "endpoint/ats_unit.h"
#include "endpoint/dhi_agent.h"
#include "endpoint/domain_numbers.h"
#include "endpoint/engine.h"
#include "endpoint/outstanding_requests.h"
#include "endpoint/raw_engine.h"
#include "endpoint/rule_breaker.h"
#include "endpoint/target_unit.h"
#include "flitwise/config.h"
#include "flitwise/link_socket.h"
#include "flitwise/observer.h"
#include "stats/stall_clock.h"
#include "tlp/identity.h"
#include "tlp/splitter.h"
#include "trace/latency_tracer.h"

namespace flitwise {

/// What the shell has sent and got back since the start of the run. Unit: bytes.
struct EndpointCounters {
  std::uint64_t posted_bytes = 0;  ///< of MWr, sent or waiting to be
  std::uint64_t asked_bytes = 0;   ///< of reads; a zero-length one asks for one byte
  std::uint64_t delivered_bytes = 0, failed_bytes = 0;
  std::uint64_t settled = 0;  ///< TLPs of engines: writes on their way, reads that are over
};

class Endpoint : public sc_core::sc_module {
 public:
  LinkTarget<Endpoint> from_link{"from_link"};
  LinkInitiator<Endpoint> to_link{"to_link"};

  Endpoint(const sc_core::sc_module_name& name, const Config& config, PacketPool& pool,
           LatencyTracer& tracer);

  /// Engines take turns. To be called before the simulation starts.
  void attach(Engine& engine) { engines_.push_back(&engine); }
  /// One engine that makes its TLPs itself; it comes after all others.
  void attach_raw(RawEngine& engine) { raw_ = &engine; }
  /// Told of each TLP with data that goes out by a translation of the device: whose it is, where it
  /// goes and the address that was translated.
  using TranslationWatch = std::function<void(const DeviceIdentity&, std::uint64_t, std::uint64_t)>;
  void watch_translations(TranslationWatch watch) { translation_watch_ = std::move(watch); }
  /// `observer` outlives the endpoint.
  void observe(const Observer& observer) { observer_ = &observer; }
  /// Software has given the device its bus number; function f answers to routing ID base + f.
  void set_base(Bdf base);
  /// A switch on the way may hold a request that has been given up.
  void set_below_switch(bool is_below) { is_below_switch_ = is_below; }
  Bdf base() const { return base_; }
  unsigned function_of(Bdf bdf) const {
    return static_cast<std::uint16_t>(bdf.value - base_.value);
  }
  /// Bus Master Enable of the PF; until it is set the device sends no requests.
  void set_bus_master(bool is_enabled);
  /// The drivers of all VFs set their Bus Master Enable, at once and without a TLP. [LNK-9.27]
  void enable_vfs();
  TargetUnit& target() { return target_; }
  /// What software does to have all functions ask for translations, at once and without a TLP:
  /// PASID, then ATS if `enables_ats`, then page requests. Does nothing without the capabilities.
  void set_up_translation(bool enables_ats);
  /// The contexts of domains 0 .. count-1 start before their first message. [DHI D13]
  void start_contexts(std::uint32_t count, bool counts);
  /// The link has been reset: all functions go back to where they were at power-up, as soon as
  /// nothing of them is under way. [DHI D4]
  void hot_reset();
  /// The link is about to go down: the device sends nothing more, what was asked of it is
  /// forgotten, and all functions are reset. [LNK-10.6]
  void link_going_down();
  /// It is down: what is out will have no answer. [LNK-10.6]
  void link_lost();
  /// From now on the device does nothing more for the context; what it has under way goes on.
  void stop_context(DomainId domain);
  /// Nothing of the context is under way in the device any more.
  bool is_context_idle(DomainId domain) const;
  /// Some function has not yet ended its reset.
  bool is_in_reset() const { return in_reset_ != 0; }
  /// Resets of a function or of all that have begun.
  std::uint64_t resets() const { return resets_; }
  DhiAgent& dhi() { return dhi_; }
  const DhiAgent& dhi() const { return dhi_; }
  /// Whom a domain is: function i mod F, PASID i div F.
  const DeviceIdentity& identity_of(DomainId domain) const { return identities_[to_int(domain)]; }

  /// The device's end of its link has replayed in vain: a correctable error. [LNK-7.14]
  void replay_num_rolled_over();
  /// An engine has work again.
  void wake();
  /// A packet as if the device had made it, without any of the shell's rules (hostile devices,
  /// scripts).
  void inject(PacketRef packet);

  bool is_quiet() const;
  void start_window();
  StallTimes stalls() const;
  DhiResult dhi_result() const;
  /// One for each function whose ATC was ever enabled or invalidated.
  std::vector<AtsResult> ats_results() const;
  std::vector<WaitResult> waits() const;
  /// Counted by kind: unexpected completions, timeouts, refused requests, ...
  const std::map<std::string, std::uint64_t>& errors() const { return errors_; }
  std::string waiting() const;
  std::size_t outstanding() const { return outstanding_.size(); }
  std::vector<CheckResult> checks() const;
  const EndpointCounters& counters() const { return counters_; }
  /// When the last read so far was over at its engine.
  Time last_completion() const { return last_completion_; }

 private:
  enum class FunctionState : std::uint8_t { kRunning, kInReset, kStopped };
  /// A transfer that is being cut into TLPs or waits for its data.
  struct Active {
    Transfer transfer;
    Engine* engine = nullptr;
    std::uint32_t tlps_out = 0;
    bool all_sent = false;
    TransferStatus status = TransferStatus::kDone;
    std::uint64_t contexts_ended = 0;  // when the engine gave it out
    WriteRequestRef write;             // of its TLPs, if it is a write of several
  };
  /// A process that has ended and whose Stop Marker is due. [PRI-06]
  struct EndedContext {
    DomainId domain{};
    std::uint64_t number = 0;  // contexts that have ended, with this one
    bool counts = true;
  };

  tlm::tlm_sync_enum receive(int id, Packet& packet, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum link_has_room(int id, Packet& packet, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);
  void work();
  void pump(Time now);
  void pump_raw(Time now);
  bool may_send(std::optional<Bdf> requester) const;
  std::string awaited_by(unsigned function) const;
  std::string held_back() const;
  bool begin_transfer(Time now);
  bool send_piece(Time now);
  PacketRef make_request(const Transfer& transfer, const DeviceIdentity& identity,
                         const DhiAgent::Answer& handle, Time now);
  const WriteRequestRef& write_of(Active& active);
  void fill_payload(Packet& packet, const Transfer& transfer);
  void queue_first(const Transfer& transfer, const DeviceIdentity& identity, Time now,
                   Time latency);
  void queue(PacketRef packet, Time ready, HandlePin posted_pin = {});
  bool waits_for_link(FcClass fc, Time now);
  void take_used_tag(Packet& packet);
  void open_read(Packet& packet, HandlePin pin, Time now);
  void after_piece(Time now);
  void end_transfer(std::uint32_t slot, Time now);
  void end_transfer_behind_pipeline(std::uint32_t slot, Time now);
  void end_transfers(Time now);
  bool hand_over(const Outbox::Entry& entry);
  void note_sent(const Outbox::Entry& entry);
  void complete(Packet& packet, Time now);
  unsigned function_behind(const Tlp& completion);
  void take_data(unsigned function, const Packet& packet, OutstandingRequest& request, Time t);
  void give_data(const Packet& packet, const OutstandingRequest& request, std::uint32_t bytes);
  void finish_request(unsigned function, std::uint16_t tag, OutstandingRequest& request,
                      TransferStatus status, Time now);
  void check_timeouts(Time now);
  void give_up_requests(Time due_by, const char* kind, Time now);
  void refuse(const Packet& packet, const char* kind);
  void report(unsigned function, const char* kind, cfg::aer::Uncorrectable error,
              const Packet& packet, Time now);
  void receive_request(Packet& packet, Time now);
  const char* receive_handle_message(const Packet& packet);
  void receive_message(Packet& packet, Time now);
  void serve_target(Time now);
  void drain_target(Time now);
  void written(unsigned function, std::uint64_t offset, const std::vector<std::uint8_t>& bytes);
  void execute(const HandleCommand& command);
  void do_duties(Time now);
  void drain_handles(Time now);
  void start_reset(unsigned function, ResetKind kind);
  void check_resets(Time now);
  bool is_clear(unsigned function) const;
  bool is_over(DomainId domain) const {
    return tracks_contexts_ && contexts_[to_int(domain)].is_over;
  }
  void drop_transfer(Engine& engine, const Transfer& transfer, Time now);
  void check_context_stop();
  void end_reset(unsigned function);
  void command_written(unsigned function);
  void stop_vfs();
  std::optional<DomainId> domain_of(const DeviceIdentity& identity) const;
  TargetUnit::Hooks target_hooks();
  std::uint32_t new_active();
  bool uses_handles(Op op) const;
  DhiAgent::Answer acquire_handle(const DeviceIdentity& identity, UseKind use,
                                  std::size_t free_tags, Time now);

  // Translations: endpoint_ats.cpp.
  enum class Step : std::uint8_t { kGo, kParked, kWait };
  AtsAccess access_of(const Transfer& transfer, const DeviceIdentity& identity) const;
  Tlp shape_of(const Transfer& transfer, const AtsAccess& access) const;
  Step route_piece(const Transfer& transfer, const DeviceIdentity& identity, Time now);
  bool may_go_now(const Transfer& transfer, const AtsAccess& access) const;
  void park(const Transfer& transfer, const AtsAccess& access, ParkedState state, Slot awaited = 0);
  bool resume_parked(Time now);
  void piece_gone();
  bool follow_route(Tlp& tlp, unsigned function);
  bool can_ask(const ParkedTransfer& parked, Time now);
  Step ask_for_translation(const Transfer& transfer, const DeviceIdentity& identity,
                           const AtsAccess& access, Time now);
  void send_translation_request(const Transfer& transfer, const DeviceIdentity& identity,
                                const AtsAccess& access, const DhiAgent::Answer& handle, Time now);
  Step ask_for_page(const Transfer& transfer, const DeviceIdentity& identity,
                    const AtsAccess& access, Time now);
  void complete_translation(unsigned function, const Packet& packet, OutstandingRequest& request,
                            Time now);
  void close_translation(unsigned function, std::uint16_t tag, const OutstandingRequest& request,
                         bool is_given_up);
  void let_handle_go(const OutstandingRequest& request, bool is_given_up);
  void fail_waiting_for(unsigned function, Slot request, TransferStatus status, Time now);
  void give_up_translation(unsigned function, std::uint16_t tag, OutstandingRequest& request,
                           Time now);
  void read_over(unsigned function, std::uint16_t tag, const OutstandingRequest& request,
                 TransferStatus status, Time now);
  void fail_parked(const std::function<bool(const ParkedTransfer&)>& which, TransferStatus status,
                   Time now);
  // Translations: endpoint_ats_messages.cpp.
  bool receive_ats_message(const Packet& packet, unsigned function,
                           const DeviceIdentity* behind_handle, Time now);
  void invalidate(const Packet& packet, unsigned function, const DeviceIdentity* behind_handle,
                  Time now);
  void take_prg_response(const Packet& packet, Time now);
  void send_invalidate_completions(unsigned function, Time now);
  void send_ats_message(const Tlp& tlp, Bdf function, bool counts, Time now);
  void end_context(const Transfer& transfer, Time now);
  bool may_still_ask(const EndedContext& context) const;
  bool waits_for_stop_marker(std::uint32_t slot) const;
  void send_stop_markers(Time now);
  void send_stop_marker(const EndedContext& context, Time now);
  void translation_written(unsigned function);
  TranslationSettings translation_settings(unsigned function);

  const Config config_;
  bool is_below_switch_ = false;
  const IdentityForm form_;
  PacketSizer sizer_;
  PacketPool& pool_;
  LatencyTracer& tracer_;
  std::vector<Engine*> engines_;
  std::size_t turn_ = 0;
  Bdf base_;
  const DomainNumbers domains_;
  std::vector<DeviceIdentity> identities_;  // by domain
  DhiAgent dhi_;
  OutstandingRequests outstanding_;
  Outbox outbox_;
  Wakeup wakeup_;
  DueQueue<std::uint32_t> ends_;  // transfers that are over at the link, and not yet at the engine
  Wakeup ends_wakeup_;            // an engine goes on at that very moment

  std::vector<Active> active_;
  std::vector<std::uint32_t> free_active_;
  std::uint32_t current_ = 0;
  bool has_current_ = false;
  // What software sets, and what is looked at for every packet.
  bool is_bus_master_ = false;
  bool has_duties_ = false;                 // handles drain, or functions are in reset
  std::array<bool, kFcClasses> is_full_{};  // the link's queue, until it says that there is room
  Time full_since_ = Time::never();         // the present TLP waits for that room
  bool target_waits_ = false;               // the link has sent an answer of the target unit away
  bool relaxed_ordering_, id_based_ordering_;
  bool checks_ecrc_ = false;
  unsigned not_running_ = 0;  // functions that may not send
  std::uint32_t mps_, mrrs_;
  RequestSplitter splitter_{0, 0, 128};
  RequestPiece piece_;
  bool has_piece_ = false;
  std::uint64_t pattern_ = 0;

  std::vector<PacketRef> first_;  // scratch: what goes out before the present TLP
  StallClock tag_stall_, handle_stall_;
  Time window_tags_{}, window_handle_{};
  std::map<std::string, std::uint64_t> errors_;
  EndpointCounters counters_;
  Time last_completion_{};
  RawEngine* raw_ = nullptr;
  RuleBreaker breaker_;
  const Observer* observer_ = nullptr;

  // Functions that software resets.
  std::vector<FunctionState> functions_;
  std::uint64_t resets_ = 0;
  unsigned in_reset_ = 0;             // functions in state kInReset
  bool is_draining_ = false;          // handles are given up by software's order or with a context
  bool has_dealloc_command_ = false;  // in the handle registers
  ResetKind reset_kind_ = ResetKind::kFunctionLevel;
  TargetUnit target_;

  // Contexts that software ends.
  struct Context {
    std::uint32_t transfers = 0;  // under way
    bool is_over = false;
  };
  const bool tracks_contexts_;
  std::vector<Context> contexts_;        // by domain
  std::optional<DomainId> is_stopping_;  // software waits for it

  // Translations, where the device has an ATC.
  std::unique_ptr<AtsUnit> ats_;
  AtsRoute route_;                    // of the present TLP
  AtsAccess routed_;                  // what it touches
  bool invalidation_counts_ = true;   // those under way belong to the measured part
  bool is_routed_ = false;            // its look-up is in the statistics
  std::optional<Slot> current_slot_;  // the present transfer has been parked, and keeps its place
  TranslationWatch translation_watch_;
  std::uint64_t contexts_ended_ = 0;
  std::vector<EndedContext> ended_contexts_;  // whose Stop Marker is due, in order
};

}  // namespace flitwise
