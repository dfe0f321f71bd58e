// SPDX-License-Identifier: Apache-2.0
/// A device at its link: makes its parts and connects them. What each part does, and what they ask
/// of each other: device_seams.h and docs/architecture.md.
// Longer than 150 lines: all that a machine asks of a device.
#pragma once

#include <systemc>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/component.h"
#include "endpoint/device_registers.h"
#include "endpoint/dhi_agent.h"
#include "endpoint/function_shell.h"
#include "endpoint/request_path.h"
#include "endpoint/reset_control.h"
#include "endpoint/target_unit.h"
#include "endpoint/translated_path.h"
#include "flitwise/observer.h"

namespace flitwise {

class Endpoint final : public ComponentModule,
                       private DeviceTarget,
                       private DeviceEvents,
                       private SoftwareEffects,
                       private ResetScope {
 public:
  Endpoint(const sc_core::sc_module_name& name, const EndpointConfig& config, PacketPool& pool,
           LatencyTracer& tracer);

  FunctionShell& shell() { return shell_; }
  TargetUnit& target() { return target_; }
  DhiAgent& dhi() { return handles_; }
  const DhiAgent& dhi() const { return handles_; }
  /// To be called before the simulation starts, as the next two.
  void attach(Engine& engine);
  void attach_raw(RawEngine& engine) { shell_.attach_raw(engine); }
  /// Likewise; firmware that translates static structures. REQUIRES: the device has ATS.
  TranslationInterface& attach(StaticTranslations& firmware);
  /// For a cache whose lines the device translates; null: it has no ATC.
  LineAddresses* line_addresses() { return translations_.get(); }
  /// What a reset of all functions does beside that of their registers, at its end.
  void when_reset(std::function<void()> reset) { reset_more_.swap(reset); }
  /// Requests of a function that may not send fail, so that those of others do not wait for them.
  /// begun: told of the reset of a function, 0 of all, when it begins. Before the simulation
  /// starts.
  void keep_functions_apart(std::function<void(unsigned function)> begun) {
    functions_.keep_apart();
    reset_begun_.swap(begun);
  }
  void watch_translations(TranslatedPath::Watch watch);  ///< nothing where it has no ATC
  void observe(const Observer& observer) override { observer_ = &observer; }  ///< outlives it

  void set_base(Bdf base) { functions_.set_base(base); }  ///< software has numbered its bus
  Bdf base() const { return functions_.base(); }
  unsigned function_of(Bdf bdf) const { return functions_.index_of(bdf); }
  /// Bus Master Enable lets it send. [LNK-9.27]
  bool may_send(Bdf requester) const { return functions_.may_send(requester); }
  const DeviceIdentity& identity_of(DomainId domain) const {
    return functions_.identity_of(domain);
  }
  ContextId context_of(DomainId domain) const { return functions_.context_of(domain); }
  void set_bus_master(bool is_enabled);
  /// The drivers of all VFs set their Bus Master Enable, at once and without a TLP. [LNK-9.27]
  void enable_vfs();
  /// What software does to have all functions ask for translations, at once and without a TLP:
  /// PASID, then ATS if `enables_ats`, then page requests. Does nothing without the capabilities.
  void set_up_translation(bool enables_ats);

  /// The link has been reset: all functions go back to where they were at power-up, as soon as
  /// nothing of them is under way. [DHI D4]
  void hot_reset() { begin_reset(0, ResetKind::kConventional); }
  /// The link is about to go down: the device sends nothing more, what was asked of it is
  /// forgotten, and all functions are reset. [LNK-10.6]
  void link_going_down();
  /// It is down: what is out will have no answer. [LNK-10.6]
  void link_lost();
  bool is_in_reset() const { return functions_.in_reset() != 0; }
  std::uint64_t resets() const { return resets_.resets(); }
  /// The device's end of its link has replayed in vain: a correctable error. [LNK-7.14]
  void replay_num_rolled_over();
  void wake();  ///< an engine has work again
  /// A packet as if the device had made it, without any of its rules.
  void inject(PacketRef packet) { shell_.inject(std::move(packet)); }
  void size(Packet& packet) const { sizer_.size(packet); }  ///< what it takes on the wire

  /// The device refuses a packet, or gives up a request: counted by kind, and told.
  void refuse(const Packet& packet, const char* kind) override;

  bool is_quiet() const override;
  void start_window() override;
  StallTimes stalls() const;
  DhiResult dhi_result() const { return handles_.result(name(), now()); }
  std::vector<WaitResult> waits() const override;
  Counts errors() const override { return errors_; }  // unexpected completions, timeouts, ...
  Time waits_until() const override { return requests_.next_release(); }
  std::string waiting() const override;
  std::size_t outstanding() const { return requests_.outstanding(); }
  std::vector<CheckResult> checks() const override;
  const EndpointCounters& counters() const { return counters_; }
  Time last_end() const override { return requests_.last_completion(); }
  void add_progress(Progress& sum) const override { sum.completed += counters_.settled; }
  void count_repeats(Counts& counts) const override;
  void report(RunResult& result) const override;

 private:
  void receive(Packet& packet, Time now) override;
  void serve(Time now) override;
  void link_has_room(Time now) override;
  bool do_duties(Time now) override;
  Time next_duty(Time now) const override;
  void report(unsigned function, const char* kind, cfg::aer::Uncorrectable error,
              const Packet& packet, Time now) override;
  void timed_out(unsigned function, Time now) override;
  void count(const char* kind) override { ++errors_[kind]; }
  void took_message(const Packet& packet) override { tell("message", packet); }
  bool is_clear() const override { return requests_.is_clear() && !shell_.has_unsent(); }
  bool is_clear(unsigned function) const override;
  bool has_unsent(DomainId domain) const override;
  void forget(unsigned function, ResetKind kind) override;
  std::optional<DeviceIdentity> context_to_stop() const override;
  void context_stopped(std::optional<DomainId> domain, Time now) override;
  void numbered(std::uint8_t bus) override { set_base(Bdf::of(bus, 0, 0)); }
  void command_written(unsigned function) override;
  void controlled(const DeviceControl& control) override;
  void ecrc_controlled(const EcrcControl& control) override;
  void negotiated(const Negotiated& outcome, bool is_software_managed) override;
  void function_level_reset(unsigned function) override;
  bool is_in_reset(unsigned function) const override { return functions_.is_in_reset(function); }
  void translation_written(unsigned function) override;
  void interrupts_written() override { wake(); }

  void begin_reset(unsigned function, ResetKind kind);
  void execute(const HandleCommand& command);
  void tell(const char* what, const Packet& packet) const;
  void receive_message(Packet& packet, Time now);
  void drain_target(Time now);
  std::vector<AtsResult> ats_results() const;  // by function whose ATC was ever in use
  std::string awaited_by(unsigned function) const;

  const EndpointConfig config_;
  PacketSizer sizer_;
  RequestControl control_;
  EndpointCounters counters_;
  std::map<std::string, std::uint64_t> errors_;
  const Observer* observer_ = nullptr;
  std::function<void()> reset_more_;           // may be empty
  std::function<void(unsigned)> reset_begun_;  // likewise
  bool target_waits_ = false;  // the link has sent something of the target unit away
  DeviceFunctions functions_;
  DeviceContexts contexts_;
  FunctionShell shell_;
  const DeviceParts parts_;
  RequestPath requests_;
  DhiAgent handles_;
  TargetUnit target_;
  DeviceRegisters registers_;                     // in BAR 0
  std::unique_ptr<TranslatedPath> translations_;  // where the device has an ATC
  ResetControl resets_;
};

}  // namespace flitwise
