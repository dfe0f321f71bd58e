// SPDX-License-Identifier: Apache-2.0
/// A part of a machine, as the machine sees it: what is asked of all of them alike. The machine has
/// a list of them and knows no other type, but for what scripts, tests and users address.
/// docs/add_a_component.md shows how to write one.
#pragma once

#include <systemc>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "flitwise/observer.h"
#include "flitwise/result.h"
#include "flitwise/time.h"

namespace flitwise {

/// Counters that only grow: how a machine sees that a run gets on.
struct Progress {
  std::uint64_t delivered = 0;           ///< TLPs and messages that a link has handed to its ports
  std::uint64_t wasted = 0;              ///< TLPs, flits and DLLPs that it sent in vain, each once
  std::uint64_t again = 0, replays = 0;  ///< those of them that it sent again, and in how many goes
  std::uint64_t steps = 0;               ///< whatever else happens
  std::uint64_t completed = 0;           ///< requests, messages and handle orders that are over
  /// Work of software that goes on for as long as devices have work: counts once they have none.
  std::uint64_t tended = 0;
  std::uint64_t walk_steps = 0;  ///< of walks of tables that have not been made before
  std::uint64_t requests = 0, requests_over = 0;  ///< of engines: in the whole run, and so far
  Time memory_done{};  ///< memory has done all that it was given, or will have by then

  std::uint64_t activity() const { return delivered + wasted + steps; }
};

class Component {
 public:
  using Counts = std::map<std::string, std::uint64_t>;

  virtual ~Component() = default;
  virtual const char* name() const = 0;

  // ---- the end of a run
  /// Nothing is under way, save periodic DLLPs.
  virtual bool is_quiet() const = 0;
  /// No request or message is under way: what remains are Acks and credits.
  virtual bool is_idle() const { return is_quiet(); }
  /// An engine has given out all its work, and has all of it back.
  virtual bool is_exhausted() const { return true; }
  virtual bool is_done() const { return is_exhausted(); }
  /// No more work is to be given out: the run knows what it was to find out.
  virtual void end_work() {}
  /// When the last request so far is over, which may lie ahead: memory and engines may say so
  /// early.
  virtual Time last_end() const { return {}; }
  /// Until then it lets time pass by itself; in the past where it does not.
  virtual Time waits_until() const { return {}; }
  /// When an engine goes on by itself; never where only others make it go on.
  virtual Time next_own_work() const { return Time::never(); }
  /// Adds its own; `memory_done` is the latest of all.
  virtual void add_progress(Progress& /*sum*/) const {}
  /// No request was over for long, or one was again.
  virtual void begin_doubt() {}
  virtual void end_doubt() {}

  // ---- the report of a run that does not get on
  /// A line for each thing that waits, and for what; empty where nothing does.
  virtual std::string waiting() const { return {}; }
  /// Adds what may repeat without an end, by a sentence that names this component: its errors, and
  /// more where it has more.
  virtual void count_repeats(Counts& counts) const {
    for (const auto& [kind, count] : errors()) {
      counts[name() + (": " + kind)] += count;
    }
  }

  // ---- the measured part, and what is told of it
  virtual void start_window() {}
  /// The same, where the counted requests are about to start: a direction of a link begins with the
  /// first counted TLP.
  virtual void start_window_with_traffic() { start_window(); }
  /// Nothing that comes later is measured; or it is, after all.
  virtual void end_window() {}
  virtual void extend_window() {}
  /// A row for each bounded resource.
  virtual std::vector<WaitResult> waits() const { return {}; }
  /// Appends the rows of its other tables.
  virtual void report(RunResult& /*result*/) const {}
  /// By kind, since the start of the run: what was refused, dropped or reported.
  virtual Counts errors() const { return {}; }
  /// Invariants at the end of a run, and those that hold only while nothing is under way anywhere.
  virtual std::vector<CheckResult> checks() const { return {}; }
  virtual std::vector<CheckResult> checks_at_rest() const { return {}; }
  /// `observer` outlives it.
  virtual void observe(const Observer& /*observer*/) {}
};

/// One that is a module of SystemC as well: the usual case.
class ComponentModule : public sc_core::sc_module, public Component {
 public:
  const char* name() const final { return sc_core::sc_module::name(); }

 protected:
  explicit ComponentModule(const sc_core::sc_module_name& name) : sc_module(name) {}
};

/// One that nothing ever waits in: it counts, checks or compares others, or speaks for them.
class Bystander : public Component {
 public:
  const char* name() const final { return name_.c_str(); }
  bool is_quiet() const final { return true; }

 protected:
  explicit Bystander(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

}  // namespace flitwise
