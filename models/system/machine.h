// SPDX-License-Identifier: Apache-2.0
/// One machine: hosts, fabric and devices of one configuration, its start, its end and its results.
/// Nothing else knows the whole; parts are components to it, but for those that scripts address.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "flitwise/config.h"
#include "flitwise/observer.h"
#include "flitwise/result.h"
#include "flitwise/system.h"
#include "host/host_node.h"
#include "software/host_software.h"
#include "system/convergence.h"
#include "system/measurement.h"
#include "system/wire_traces.h"
#include "trace/latency_tracer.h"
#include "watch/attack_book.h"
#include "watch/isolation_watch.h"
#include "watch/monitors.h"

namespace flitwise {

// Longer than 150 lines: every user of a machine finds here what it may do to it.
class Machine {
 public:
  explicit Machine(const Config& whole, const Attachments& attached = {});

  /// Lets host software bring the machine up, in as much simulated time as that takes; nothing to
  /// do the second time. Where the user interrupts, the machine is cut short and stays as it is.
  /// REQUIRES: no other process of the kernel runs. Throws SimulationError, for the same reasons as
  /// run_until_quiet() too: each step of software is progress here.
  void bring_up();
  /// Host software begins to bring the machine up; nothing is measured yet. `epoch` of the handles:
  /// another one after each reset. [DHI D4]
  void boot(std::uint8_t epoch = 0);
  /// Software is ready and nothing is under way: start() may be called.
  bool is_booted() const;
  /// Instead of a boot: everything stands as software would leave it, at time 0 and without a TLP.
  /// There are no BARs then.
  void set_up_at_once();
  /// Instead of a boot by the project's own software: everything is as after a reset, and somebody
  /// else brings the machine up.
  void power_on();
  /// The machine is in service: faults may strike, and traces see what passes. start() implies it.
  void serve();
  bool is_serving() const { return is_serving_; }
  /// Lets the engines begin, after an untimed set-up where there was no boot; what is measured
  /// begins, for each device, with its first counted request.
  void start();
  /// Every engine has given out all its work and has it back, or none was started.
  bool is_exhausted() const {
    return !is_started_ || all_of(components().all(), &Component::is_done);
  }
  /// Nothing is under way anywhere, save periodic DLLPs, and memory has done all it was given.
  bool is_quiet() const { return is_exhausted() && rest_of_last_request() == Time{} && is_still(); }
  bool is_cut_short() const { return is_cut_short_; }
  bool has_measured() const { return has_measured_; }
  /// Runs until nothing is under way, or the user interrupts. Throws SimulationError where no
  /// request, message or handle order is over within run.deadlock_after though somebody waits for
  /// more than the time that an engine or a driver has set itself, and where a link sends again and
  /// again what never arrives (docs/statistics.md, "When a run ends by itself").
  void run_until_quiet();
  /// Runs until then, or the user interrupts, and throws likewise: nothing is measured that was
  /// not.
  void run_until(const std::function<bool()>& is_over);
  /// Lets time pass until `when`, or until then if that comes first; `is_over` is asked where the
  /// kernel has been paused, and between slices. Whether something gets on is the caller's affair.
  void run_to(Time when, const std::function<bool()>& is_over);
  /// More than run_until_quiet() has run belongs to the measured part as well.
  void extend_window() { measurement_.extend(); }
  std::string waiting() const;
  RunResult result() const;
  /// What software sees of every function, by host; none where nobody speaks PCIe.
  std::map<std::pair<unsigned, Bdf>, const ConfigSpace*> config_spaces();
  /// REQUIRES: called before anything runs.
  void observe(Observer observer);
  void report_progress(ProgressReport report) { report_ = std::move(report); }  ///< for System

  // ---- what scripts, tests and users address
  HostNode& host(unsigned number) { return *hosts_[number]; }
  /// Of the first host, as all that scripts reach by address or routing ID.
  MemoryPort& memory() { return hosts_[0]->memory; }
  HostBridge& bridge() { return hosts_[0]->bridge; }
  TranslationAgent& agent() { return hosts_[0]->agent; }
  /// REQUIRES: boot() was called and there is configuration space.
  const Boot& booted() const { return *hosts_[0]->boot; }
  Fabric& fabric() { return fabric_; }
  HostSoftware& software() { return software_; }
  /// Null where no device has the name.
  Endpoint* endpoint(const std::string& name);
  /// The root port above a device. REQUIRES: a device has the name.
  const RootPort& root_port(const std::string& device) { return *fabric_.find(device)->root_port; }
  std::vector<std::string> device_names() const;
  HandleDriver* driver(std::size_t device) { return software_.driver(device); }

  PacketPool pool;  // before all that holds packets
  const Config config;

 private:
  class Patience;

  const ComponentList& components() const { return fabric_.components; }
  bool is_watched() const;
  bool is_still() const;
  /// Nothing of the device is under way. What all devices share may be of others.
  bool is_idle(std::size_t device) const;
  bool all_work_is_given_out() const {
    return !is_started_ || all_of(components().all(), &Component::is_exhausted);
  }
  Progress progress() const;
  void tell(const Progress& sum);
  std::uint64_t completed(const Progress& sum) const;
  std::optional<Time> next_own_work() const;
  Time rest_of_own_wait() const;
  std::optional<Time> end_of_timers() const;
  /// Memory, engines and agents may have given an end that lies ahead.
  Time rest_of_last_request() const {
    return std::max(now(), latest(components().all(), &Component::last_end)) - now();
  }
  std::optional<Time> close_devices();
  bool may_serve_peers(std::size_t device) const;
  void let_pass(Time span);
  void run_slices(Time slice);
  void run_software(const std::function<bool()>& is_over);
  void note_end();
  void work_ended();
  void advance();

  const Attachments attached_;
  LatencyTracer tracer_;
  std::optional<Convergence> convergence_;  // none: the run ends with its requests
  WireTraces traces_;                       // all wires write into them
  Hosts hosts_;
  Fabric fabric_;
  HostSoftware software_;
  Monitors monitors_;
  std::vector<std::unique_ptr<IsolationWatch>> isolation_;  // by host
  AttackBook attacks_;
  Measurement measurement_;
  Observer observer_;
  ProgressReport report_;                         // may be empty
  std::uint64_t untold_ = 0, told_activity_ = 0;  // slices since the last report; activity then
  bool is_started_ = false;
  bool is_cut_short_ = false;  // interrupted before it was quiet
  bool has_measured_ = false;  // a window had begun by itself
  bool is_serving_ = false;
  bool is_in_slice_ = false;  // run_until_quiet() is inside the kernel
};

}  // namespace flitwise
