// SPDX-License-Identifier: Apache-2.0
/// One root port: takes TLPs from its link, turns handles back into identities, lets requests into
/// host memory, and answers. Host software reaches the devices below through it.
#pragma once

#include <systemc>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ats/translation_gather.h"
#include "common/component.h"
#include "common/outbox.h"
#include "common/packet_sizer.h"
#include "common/wakeup.h"
#include "config_space/capabilities.h"
#include "flitwise/config.h"
#include "flitwise/link_socket.h"
#include "flitwise/observer.h"
#include "flitwise/result.h"
#include "root_complex/host_handles.h"
#include "root_complex/memory_port.h"
#include "root_complex/memory_watch.h"
#include "root_complex/translation_stage.h"
#include "tlp/tlp_check.h"
#include "trace/latency_tracer.h"

namespace flitwise {

/// What became of the TLPs from the link since the start of the run; each is in exactly one of the
/// first group or still waits for memory. Units: TLPs, bytes.
struct RootPortCounters {
  std::uint64_t writes = 0, reads = 0, interrupts = 0, messages = 0, handle_messages = 0,
                completions = 0, refused = 0;
  std::uint64_t received = 0;
  std::uint64_t settled = 0;  ///< requests of engines and scripts that were served or refused
  std::uint64_t nonposted = 0,
                answered = 0;  ///< requests that want an answer, and those that have it
  std::uint64_t written_bytes = 0, interrupt_bytes = 0, dropped_bytes = 0;  ///< of MWr
};

class RootPort : public ComponentModule, private MemoryClient {
 public:
  LinkTarget<RootPort> from_link{"from_link"};
  LinkInitiator<RootPort> to_link{"to_link"};

  /// What goes on to the host beside memory accesses.
  struct HostHooks {
    std::function<void(const Packet&, Time)> interrupt;      ///< a write to the interrupt window
    std::function<void(const Packet&, Time)> message;        ///< a message other than a DHI message
    std::function<bool(const PacketRef&, Time)> completion;  ///< for a request that the host sent
    /// The port has found something wrong with a packet from below. [LNK-12.11]
    std::function<void(cfg::aer::Uncorrectable, const Packet&)> error;
    std::function<void(cfg::aer::Correctable)> corrected;
  };

  RootPort(const sc_core::sc_module_name& name, const Config& config, PacketPool& pool,
           MemoryPort& memory, HostHandles& handles, LatencyTracer& tracer);

  /// A device below the port, and the host's end of its handles.
  struct DeviceBelow {
    BusRange buses;
    HostHandles* handles = nullptr;
    bool wants_alloc_ack = false;  ///< [DHI D8]
    unsigned stu = 0;              ///< smallest translation unit of its functions [CFG-05]
  };
  /// Until called, all that is below is one device. REQUIRES: not empty.
  void set_devices(std::vector<DeviceBelow> devices);

  void set_hooks(HostHooks hooks) { hooks_ = std::move(hooks); }
  /// Requests go through this agent while software has it translate. REQUIRES: before the start.
  void attach(TranslationAgent& agent);
  /// Buses below the port, as software has set them.
  void set_buses(BusRange buses) { buses_ = buses; }
  BusRange buses() const { return buses_; }
  /// Bus Master Enable of the port's own function: are requests from below let in? They are until
  /// called.
  void set_bus_master(bool is_enabled) { is_bus_master_ = is_enabled; }
  /// As software has set it at the port. [LNK-12.6]
  void set_ecrc(const EcrcControl& control) {
    sizer_.set_ecrc(control.generates);
    checks_ecrc_ = control.checks;
  }
  /// The port's end of its link has replayed in vain: a correctable error. [LNK-7.14]
  void replay_num_rolled_over();
  /// `watch` sees accesses to memory from now on, beside those that do, and outlives the port.
  void watch_memory(MemoryWatch& watch) { memory_watches_.push_back(&watch); }
  /// `observer` outlives the port.
  void observe(const Observer& observer) override { observer_ = &observer; }

  /// A request of the host to go down; its fields are complete, tag included.
  void send(PacketRef packet, Time delay);

  bool is_quiet() const override {
    return in_memory_ == 0 && posted_.empty() && nonposted_.empty() && completions_.empty() &&
           held_.empty() && unanswered_.empty() && !(stage_ && stage_->is_busy());
  }
  std::vector<CheckResult> checks() const override;
  void start_window() override;
  std::vector<WaitResult> waits() const override;
  const RootPortCounters& counters() const { return counters_; }
  /// When all memory accesses so far are done; may lie ahead of now.
  Time last_end() const override { return memory_end_; }
  Progress progress() const override { return Progress::of_completed(counters_.settled); }
  Counts errors() const override { return errors_; }
  std::string waiting() const override;

 private:
  tlm::tlm_sync_enum receive(int id, Packet& packet, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum link_has_room(int id, Packet& packet, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);
  void take(Packet& packet, Time now);
  void hold_behind_answers(Packet& packet);
  void release_answered();
  static bool waits_for_translations(const Tlp& tlp);
  void settle(const Packet& packet);
  void take_unordered(Packet& packet, Time now);
  void receive_message(Packet& packet, Time now);
  void use_message(const Packet& packet, Time now);
  void receive_request(Packet& packet, Time now);
  /// What the host knows of a request's domain beside who it is. [DHI D19] [DHI D20]
  struct Standing {
    bool is_trusted = false;
    std::uint16_t capabilities = 0;
    Time latency{};  // of the look-up
  };
  const char* refusal_of(const Packet& packet, const Standing& standing) const;
  const char* address_refusal_of(const Tlp& tlp, std::uint64_t address,
                                 const Standing& standing) const;
  const char* window_refusal_of(const Tlp& tlp, std::uint64_t address,
                                const Standing& standing) const;
  bool is_translating() const { return stage_ && stage_->is_enabled(); }
  DeviceIdentity domain_behind(const Packet& packet) const;
  void translate(Packet& packet, const Standing& standing, Time delay);
  unsigned stu_of(Bdf function) const { return device_of(function).stu; }
  void keep_place(Packet& packet, const Standing& standing, Time delay);
  void serve(const TranslationStage::Entry& entry);
  void serve_translated(const TranslationStage::Entry& entry);
  void serve_address(Packet& packet, std::uint64_t address, const Standing& standing, Time delay);
  void interrupt(Packet& packet, Time delay);
  bool needs_more(const TranslationStage::Entry& entry, const WalkResult& result,
                  std::uint64_t& next);
  void answer_translation(const TranslationStage::Entry& entry, Time delay);
  bool resolve(Packet& packet, Time now, Standing& standing);
  bool name_domain(Packet& packet, Time& delay);
  const char* identity_refusal_of(const Tlp& tlp, const DeviceIdentity& identity) const;
  void to_memory(Packet& packet, std::uint64_t address, Time delay);
  void memory_done(const MemoryTransaction& transaction, Time when) override;
  void memory_took(const MemoryTransaction& transaction) override;
  void hold_behind(Packet& packet, Time arrival);
  void release_buffers();
  void release(Packet& packet);
  void answer_read(const MemoryTransaction& transaction, Time when);
  void refuse(Packet& packet, CplStatus status, const char* kind, Time delay);
  void refuse_poisoned(Packet& packet);
  void answer_refused(const Packet& packet, CplStatus status, Time delay);
  void refuse_malformed(const Packet& packet, TlpViolation violation);
  void drop(const Packet& packet, const char* kind, const char* what);
  void drop(const Packet& packet, const char* kind, const char* what, const char* detail);
  void observe(const char* what, const char* detail, const Packet& packet) const;
  PacketRef make_completion(const Packet& request, std::size_t payload_bytes = 0) const;
  const DeviceBelow& device_of(Bdf requester) const;
  void queue_answers(const Packet& request, Time latency);
  void send(Outbox& outbox, PacketRef packet, Time ready);
  void report(cfg::aer::Uncorrectable error, const Packet& packet);

  const Config config_;
  const IdentityForm form_;
  const bool handle_is_requester_id_;
  const TlpLimits limits_;
  PacketSizer sizer_;
  PacketPool& pool_;
  MemoryPort& memory_;
  LatencyTracer& tracer_;
  HostHooks hooks_;
  BusRange buses_{0, 255};
  std::vector<DeviceBelow> devices_;
  bool is_bus_master_ = true;
  bool checks_ecrc_ = false;
  bool checks_grants_;         // of requests that name their domain in full
  const bool checks_windows_;  // memory that not everybody may touch
  Outbox posted_, nonposted_, completions_;
  Wakeup buffers_wakeup_;
  struct Held {
    PacketRef packet;
    Time until;
  };
  std::deque<Held> held_;      // receive buffers of requests that queue up before the memory
  bool holds_buffer_ = false;  // of the packet that is being received
  Time memory_done_at_{};      // of the access that was submitted last
  Time memory_end_{};          // of all of them
  std::size_t in_memory_ = 0;  // accesses that wait for the memory's answer
  std::uint64_t completions_to_drop_;
  bool breaks_completion_;            // the next one, on purpose
  std::vector<PacketRef> answers_;    // scratch
  std::deque<PacketRef> unanswered_;  // requests whose buffers wait for answers to leave
  std::unique_ptr<TranslationStage> stage_;
  struct Gather {
    std::uint64_t ticket;
    TranslationGather translations;
  };
  std::vector<Gather> gathers_;  // replies with more than one translation, as far as they are found
  const Packet* packet_received_ = nullptr;  // while it is being received
  const Observer* observer_ = nullptr;
  std::vector<MemoryWatch*> memory_watches_;
  RootPortCounters counters_;
  std::map<std::string, std::uint64_t> errors_;
};

}  // namespace flitwise
