// SPDX-License-Identifier: Apache-2.0
// How far a machine is, whether it gets on, and what it says where it does not.
#include <fmt/format.h>

#include <algorithm>

#include "common/interrupt.h"
#include "flitwise/error.h"
#include "stats/progress_watch.h"
#include "system/machine.h"
#include "system/repeat_book.h"

namespace flitwise {
namespace {

constexpr Time kWaitSlice = Time::from_us(1000);  // where only a timer is waited for
constexpr Time kBootSlice = Time::from_ns(500);   // how often the end of the boot is looked for

}  // namespace

std::uint64_t Machine::activity() const {
  std::uint64_t sum = 0;
  for (const FabricLink& one : fabric_.links) {
    sum += one.link->delivered() + one.link->wasted();
  }
  for (const FabricDevice& device : fabric_.devices) {
    sum += device.engine ? device.engine->started() : 0;
    sum += device.host_engine ? device.host_engine->started() : 0;
  }
  for (const auto& host : hosts_) {
    sum += host->agent.progress() + (host->driver ? host->driver->progress() : 0);
  }
  return sum;
}

// Software goes on unmapping and ending contexts for as long as there is work, whether or not that
// work gets on: as long as there is some, what software does counts for nothing.
std::uint64_t Machine::completed() const {
  std::uint64_t sum = 0;
  for (const FabricDevice& device : fabric_.devices) {
    sum += device.settled();
  }
  for (const auto& port : fabric_.root_ports) {
    sum += port->counters().settled;
  }
  for (const Software& one : software_) {
    sum += one.driver ? one.driver->allocated() + one.driver->freed() + one.driver->refused() : 0;
  }
  for (const auto& host : hosts_) {
    if (all_work_is_given_out()) {
      sum += host->agent.orders_done() + (host->driver ? host->driver->settled() : 0);
    }
  }
  return sum;
}

std::uint64_t Machine::walk_progress() const {
  std::uint64_t sum = 0;
  for (const auto& host : hosts_) {
    sum += host->agent.walk_progress();
  }
  return sum;
}

Time Machine::memory_done() const {
  Time done{};
  for (const auto& host : hosts_) {
    done = std::max(done, host->memory.done());
  }
  return done;
}

// When some engine goes on by itself, if nothing waits for anything else.
std::optional<Time> Machine::next_own_work() const {
  if (!is_started_) {
    return std::nullopt;
  }
  Time next = Time::never();
  for (const FabricDevice& device : fabric_.devices) {
    const Time own = device.next_own_work();
    const bool waits = own != Time::never() && own > now();
    if (!is_idle(device) || (!waits && !device.is_done())) {
      return std::nullopt;
    }
    next = waits ? std::min(next, own) : next;
  }
  return next == Time::never() ? std::nullopt : std::optional<Time>(next);
}

Time Machine::rest_of_own_wait() const {
  const std::optional<Time> next = next_own_work();
  return next ? std::min(*next - now(), kWaitSlice) : Time{};
}

// Whoever waits with a timer has not stopped for good until it has given up. [IQU-07]
std::optional<Time> Machine::end_of_timers() const {
  Time end{};
  for (const auto& host : hosts_) {
    const Time of_agent = host->agent.next_timeout();
    end = std::max({end, of_agent == Time::never() ? Time{} : of_agent,
                    host->driver ? host->driver->waits_until() : Time{}});
  }
  return end > now() ? std::optional<Time>(end) : std::nullopt;
}

void Machine::fail(const std::string& why, const RepeatBook& repeats) const {
  throw DeadlockError(fmt::format("{}; what repeats:\n{}what waits:\n{}{}", why, repeats.text(),
                                  waiting(), text_of(monitors_.violations())));
}

// With replays that never end nothing else would tell.
void Machine::check_links(RepeatBook& repeats, const char* when) const {
  if (const std::string link = repeats.failed_link(); !link.empty()) {
    fail(fmt::format("{}no progress on {}: {} TLPs, flits and DLLPs were damaged or sent again, "
                     "and fewer than {} TLPs arrived",
                     when, link, RepeatBook::kMostWasted, RepeatBook::kFewestDelivered),
         repeats);
  }
}

// Host software has a finite program: each step of it is progress, and then the end of all that is
// still under way.
void Machine::run_software(const std::function<bool()>& is_over) {
  using Outlook = ProgressWatch::Outlook;
  constexpr const char* kWhen = "the machine does not come up: ";
  ProgressWatch watch(config.run.deadlock_after);
  RepeatBook repeats(fabric_, hosts_);
  const auto steps = [this] {
    std::uint64_t sum = 0;
    for (const auto& host : hosts_) {
      sum += host->bridge.steps();
    }
    return sum;
  };
  std::uint64_t mark = steps();
  watch.begin(now());
  while (!is_over() && !is_interrupted()) {
    sc_core::sc_start(to_sc_time(kBootSlice));
    if (!boot_failure_.empty()) {
      throw SimulationError(boot_failure_);
    }
    const std::uint64_t done = steps();
    const Outlook outlook = watch.look(now(), done, activity());
    check_links(repeats, kWhen);
    if (done != mark) {
      mark = done;
      repeats.forget();
    } else if (outlook == Outlook::kDoubtful) {
      repeats.begin();
    } else if (outlook != Outlook::kMoves) {
      fail(fmt::format("{}no progress for {} us of simulated time: host software took no step, and "
                       "something is still under way",
                       kWhen, config.run.deadlock_after.fs / 1'000'000'000),
           repeats);
    }
  }
  if (!is_over()) {
    note_end();
  }
}

// For a timer, or for memory: what comes of that has all its time.
void Machine::wait_until(Time end, ProgressWatch& watch) {
  const bool is_timed = end_of_timers().has_value();
  sc_core::sc_start(to_sc_time(std::min(end - now(), kWaitSlice)));
  if (is_timed ? !end_of_timers() : memory_done() <= now()) {
    watch.begin(now());
  }
}

void Machine::run_until_quiet() {
  using Outlook = ProgressWatch::Outlook;
  ProgressWatch watch(config.run.deadlock_after);
  RepeatBook repeats(fabric_, hosts_);
  std::uint64_t mark = completed();
  watch.begin(now());
  measurement_.extend();
  while (!is_quiet() && !is_interrupted()) {
    const bool is_own_wait = next_own_work().has_value();
    advance();
    if (is_own_wait) {
      watch.begin(now());
    }
    const std::uint64_t done = completed();
    const Outlook outlook = watch.look(now(), done + walk_progress(), activity(), memory_done());
    if (done != mark) {
      mark = done;
      repeats.forget();
      for (const auto& host : hosts_) {
        host->agent.end_doubt();
      }
      continue;
    }
    check_links(repeats, "");
    if (outlook == Outlook::kMoves) {
      continue;
    } else if (next_own_work()) {
      watch.begin(now());
    } else if (outlook == Outlook::kDoubtful) {
      repeats.begin();
      for (const auto& host : hosts_) {
        host->agent.begin_doubt();
      }
    } else if (const Time end = std::max(end_of_timers().value_or(Time{}), memory_done());
               outlook == Outlook::kSilent && end > now()) {
      wait_until(end, watch);
    } else {
      fail(fmt::format("no progress for {} us of simulated time: no request, message or handle "
                       "order was completed",
                       config.run.deadlock_after.fs / 1'000'000'000),
           repeats);
    }
  }
  note_end();
}

// What was cut short is not quiet, or never came into service.
void Machine::note_end() {
  is_cut_short_ = !is_serving_ || !is_quiet();
  has_measured_ = measurement_.is_open();
  if (is_cut_short_) {
    open_windows_left();
  }
}

// What was cut short in its warm-up has measured nothing: its window begins, and is empty.
void Machine::open_windows_left() {
  for (std::size_t i = 0; i < fabric_.devices.size(); ++i) {
    measurement_.open(i, false);
  }
}

}  // namespace flitwise
