// SPDX-License-Identifier: Apache-2.0
/// One root port: takes TLPs from its link, turns handles back into identities, lets requests into
/// host memory, and has them answered. Host software reaches the devices below through it.
#pragma once

#include <systemc>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/component.h"
#include "flitwise/link_socket.h"
#include "memory/memory_port.h"
#include "root_complex/host_handles.h"
#include "root_complex/port_output.h"
#include "root_complex/receive_buffers.h"
#include "root_complex/translation_stage.h"
#include "trace/latency_tracer.h"

namespace flitwise {

class RootPort : public ComponentModule,
                 public DownstreamPort,
                 private PortWire,
                 private MemoryClient,
                 private TranslationStage::Server {
 public:
  LinkTarget<RootPort> from_link{"from_link"};
  LinkInitiator<RootPort> to_link{"to_link"};

  RootPort(const sc_core::sc_module_name& name, const RootPortConfig& config, PacketPool& pool,
           MemoryPort& memory, HostHandles& handles, LatencyTracer& tracer);

  using DeviceBelow = DevicesBelow::Device;
  /// Until called, all that is below is one device. REQUIRES: not empty.
  void set_devices(std::vector<DeviceBelow> devices) { devices_.set(std::move(devices)); }
  /// Requests go through this agent while software has it translate. REQUIRES: before the start.
  void attach(TranslationService& agent) {
    TranslationStage::Server& server = *this;
    stage_ = std::make_unique<TranslationStage>(agent, server);
  }

  // DownstreamPort:
  void set_host(PortHost& host) override { record_.host = &host; }
  void send(PacketRef packet, Time delay) override;
  void set_buses(BusRange buses) override { devices_.set_buses(buses); }
  BusRange buses() const override { return devices_.buses(); }
  void set_bus_master(bool is_enabled) override { rules_.set_bus_master(is_enabled); }
  void set_ecrc(const EcrcControl& control) override {
    output_.set_ecrc(control.generates);
    checks_ecrc_ = control.checks;
  }
  /// The port's end of its link has replayed in vain: a correctable error. [LNK-7.14]
  void replay_num_rolled_over();
  /// `watch` sees accesses to memory from now on, beside those that do, and outlives the port.
  /// What waits to go down by it: see PortOutput.
  std::size_t posted_waiting() const { return output_.posted_waiting(); }
  void watch_posted(std::function<bool()> left) { output_.watch_posted(std::move(left)); }
  /// Hears of each interrupt, at the time at which a core takes it or ahead of it.
  using InterruptWatch = std::function<void(const Packet& packet, Time when)>;
  void watch_interrupts(InterruptWatch watch) { interrupt_watches_.push_back(std::move(watch)); }
  void watch_memory(MemoryWatch watch) { memory_watches_.push_back(std::move(watch)); }
  /// `observer` outlives the port.
  void observe(const Observer& observer) override { record_.observer = &observer; }

  bool is_quiet() const override {
    return in_memory_ == 0 && output_.is_empty() && buffers_.is_empty() &&
           !(stage_ && stage_->is_busy());
  }
  std::vector<CheckResult> checks() const override { return record_.checks(); }
  void start_window() override;
  std::vector<WaitResult> waits() const override;
  const RootPortCounters& counters() const { return record_.counters; }
  /// When all memory accesses so far are done; may lie ahead of now.
  Time last_end() const override { return memory_end_; }
  void add_progress(Progress& sum) const override { sum.completed += record_.counters.settled; }
  Counts errors() const override { return record_.errors; }
  std::string waiting() const override;

 private:
  tlm::tlm_sync_enum receive(int id, Packet& packet, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  tlm::tlm_sync_enum link_has_room(int id, Packet& packet, tlm::tlm_phase& phase,
                                   sc_core::sc_time& delay);
  // What becomes of a packet. Each returns true where its receive buffer stays in use.
  bool take(Packet& packet, Time now);
  bool take_request(Packet& packet, Time now);
  bool translate(Packet& packet, const DomainStanding& standing, Time delay);
  bool keep_place(Packet& packet, const DomainStanding& standing, Time delay);
  bool serve(const TranslationStage::Entry& entry) override;
  bool to_memory(Packet& packet, std::uint64_t address, Time delay);

  // Packets that end here.
  void take_unordered(Packet& packet, Time now);
  void take_message(const Packet& packet, Time now);
  void refuse(const Packet& packet, const DevicesBelow::Verdict& verdict, Time now);
  void interrupt(Packet& packet, Time delay);
  void refuse(const Packet& packet, const char* kind, Time delay) {
    output_.refuse(packet, CplStatus::kUR, kind, now() + delay);
  }
  void queue_answers(const Packet& request, Time latency);

  bool is_translating() const { return stage_ && stage_->is_enabled(); }
  TranslationReplies::Asked asked_by(const TranslationStage::Entry& entry) const;
  std::optional<std::uint64_t> next_after(const TranslationStage::Entry& entry,
                                          const WalkResult& result) override {
    return replies_.next_after(asked_by(entry), result);
  }
  void memory_done(const MemoryTransaction& transaction, Time when) override;
  void answer_change(const MemoryTransaction& transaction, Time when);
  void memory_took(const MemoryTransaction& transaction) override { release(*transaction.packet); }
  bool give(Packet& packet, Time ready) override { return hand_over(to_link, packet, ready); }
  void release(Packet& packet) override;

  const Time latency_;  // from the link to memory
  const unsigned rcb_;
  const TlpLimits limits_;
  MemoryPort& memory_;
  LatencyTracer& tracer_;
  PortRecord record_;
  PortOutput output_;
  ReceiveBuffers buffers_;
  DevicesBelow devices_;
  HostRules rules_;
  TranslationReplies replies_;
  std::unique_ptr<TranslationStage> stage_;
  std::vector<InterruptWatch> interrupt_watches_;
  std::vector<MemoryWatch> memory_watches_;
  bool checks_ecrc_ = false;
  Time memory_end_{};               // of all accesses so far
  std::size_t in_memory_ = 0;       // accesses that wait for the memory's answer
  std::vector<PacketRef> answers_;  // scratch
};

}  // namespace flitwise
