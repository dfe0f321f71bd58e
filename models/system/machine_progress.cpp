// SPDX-License-Identifier: Apache-2.0
// How far a machine is, whether it gets on, and what it says where it does not.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/interrupt.h"
#include "flitwise/error.h"
#include "stats/progress_watch.h"
#include "system/machine.h"
#include "system/repeat_book.h"

namespace flitwise {
namespace {

constexpr Time kWaitSlice = Time::from_us(1000);  // where only a timer is waited for
constexpr Time kBootSlice = Time::from_ns(500);   // how often the end of the boot is looked for
constexpr unsigned kBootSlicesALook = 16;         // how often it is asked whether that gets on
constexpr Time kScriptSlice = Time::from_ns(20);  // how often an operation is asked for its end
constexpr Time kGuestSlice = Time::from_us(1);    // how often rest is looked for
// At most so many slices, or TLPs in them, lie between two reports of how far a run is.
constexpr std::uint64_t kSlicesAReport = 256, kTlpsAReport = 256;

}  // namespace

bool Machine::is_still() const {
  return all_of(components().all(), &Component::is_idle) &&
         all_of(components().all(), &Component::is_quiet);
}

bool Machine::is_idle(std::size_t device) const {
  return all_of(components().of(device), &Component::is_idle);
}

Progress Machine::progress() const {
  Progress sum;
  for (const Component* one : components().all()) {
    one->add_progress(sum);
  }
  return sum;
}

// A slice may be a single event, or a microsecond of a hundred devices. Whoever is told looks at a
// clock: seldom enough that this costs nothing, often enough for several times a second.
void Machine::tell(const Progress& sum) {
  if (report_ && (++untold_ >= kSlicesAReport || sum.activity() - told_activity_ >= kTlpsAReport)) {
    untold_ = 0;
    told_activity_ = sum.activity();
    report_(is_started_ ? RunProgress{sum.requests_over, sum.requests, now()}
                        : RunProgress{0, 0, now()});
  }
}

// Software goes on unmapping and ending contexts for as long as there is work, whether or not that
// work gets on: as long as there is some, what software does counts for nothing.
std::uint64_t Machine::completed(const Progress& sum) const {
  return sum.completed + (all_work_is_given_out() ? sum.tended : 0);
}

// When some engine goes on by itself, if nothing waits for anything else.
std::optional<Time> Machine::next_own_work() const {
  if (!is_started_) {
    return std::nullopt;
  }
  Time next = Time::never();
  for (std::size_t i = 0; i < components().devices(); ++i) {
    Time own = Time::never();
    for (const Component* one : components().of(i)) {
      own = std::min(own, one->next_own_work());
    }
    const bool waits = own != Time::never() && own > now();
    if (!is_idle(i) || (!waits && !all_of(components().of(i), &Component::is_done))) {
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
  const Time end = latest(components().all(), &Component::waits_until);
  return end > now() ? std::optional<Time>(end) : std::nullopt;
}

// Host software brings the machine up before anything else happens to it; once.
void Machine::bring_up() {
  if (is_serving() || is_cut_short_) {
    return;
  }
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  boot();
  run_software([this] { return is_booted(); });
  if (!is_booted()) {
    return;
  }
  serve();
  for (const auto& host : hosts_) {
    if (host->driver) {
      software_.start_driver(*host);
      run_software([&host] { return host->driver->is_ready(); });
    }
  }
}

void Machine::power_on() {
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  serve();
}

void Machine::boot(std::uint8_t epoch) {
  if (!software_.boot(epoch)) {
    set_up_at_once();
  }
}

bool Machine::is_booted() const {
  return software_.is_set_up() || (software_.is_booted() && is_still());
}

void Machine::set_up_at_once() {
  software_.set_up_at_once();
  serve();
}

/// How long a machine is waited for: looked at behind each slice of time in which it ran.
class Machine::Patience {
 public:
  Patience(Machine& machine, std::uint64_t mark, const char* when = "")
      : machine_(machine),
        watch_(machine.config.run.deadlock_after),
        repeats_(machine.components()),
        mark_(mark),
        when_(when) {
    begin();
  }

  void begin() {
    watch_.begin(now());
    long_wait_ = {};
  }
  /// Requests, messages and handle orders count.
  void look();
  /// Steps of software count.
  void look_at(std::uint64_t steps);

 private:
  bool is_completed(std::uint64_t done, const Progress& sum);
  void check_time(const Progress& sum) const;
  void set_doubt(bool is_doubtful);
  void wait(ProgressWatch::Outlook outlook, Time end);
  void wait_until(Time end);
  [[noreturn]] void fail(const std::string& what) const;

  Machine& machine_;
  ProgressWatch watch_;
  RepeatBook repeats_;
  std::uint64_t mark_;  // completed so far
  const char* when_;
  Time long_wait_{};  // the end of the longest wait that takes more than half of the patience
  bool is_doubtful_ = false;
};

// With replays that never end nothing else would tell.
bool Machine::Patience::is_completed(std::uint64_t done, const Progress& sum) {
  const bool is_more = done != mark_;
  mark_ = done;
  if (is_more) {
    repeats_.forget(sum);
  }
  repeats_.look(sum);
  if (const std::string link = repeats_.failed_link(sum); !link.empty()) {
    fail("no progress on " + link);
  }
  return is_more;
}

// Nothing can be reckoned with behind the range of Time.
void Machine::Patience::check_time(const Progress& sum) const {
  if (std::max(now(), sum.memory_done) > kLongestRun) {
    throw SimulationError(fmt::format(
        "{}the run takes more than {} s of simulated time, of which {:.0f} s are over with {} of "
        "{} requests; expected fewer requests, or shorter times; what waits:\n{}",
        when_, kLongestRun.fs / 1'000'000'000'000'000, now().ns() / 1e9, sum.requests_over,
        sum.requests, machine_.waiting()));
  }
}

void Machine::Patience::set_doubt(bool is_doubtful) {
  if (is_doubtful != is_doubtful_) {
    is_doubtful_ = is_doubtful;
    for (Component* const one : machine_.components().all()) {
      is_doubtful ? one->begin_doubt() : one->end_doubt();
    }
  }
}

void Machine::Patience::fail(const std::string& what) const {
  const Progress sum = machine_.progress();
  const bool is_over = sum.requests > 0 && sum.requests_over == sum.requests;
  throw DeadlockError(fmt::format("{}{}{}; what repeats:\n{}what waits:\n{}{}", when_, what,
                                  is_over ? "; all requests are over" : "", repeats_.text(),
                                  machine_.waiting(), text_of(machine_.monitors_.violations())));
}

// For a timer, or for memory: what comes of that has all its time.
void Machine::Patience::wait_until(Time end) {
  const bool is_timed = machine_.end_of_timers().has_value();
  const std::uint64_t activity = machine_.progress().activity();
  do {
    machine_.let_pass(std::min(end - now(), kWaitSlice));
  } while (end > now() && machine_.progress().activity() == activity && !is_interrupted());
  if (is_timed ? !machine_.end_of_timers() : machine_.progress().memory_done <= now()) {
    begin();
  }
}

void Machine::Patience::look() {
  using Outlook = ProgressWatch::Outlook;
  const Progress sum = machine_.progress();
  machine_.tell(sum);
  check_time(sum);
  const std::uint64_t done = machine_.completed(sum);
  const Outlook outlook =
      watch_.look(now(), done + sum.walk_steps, sum.activity(), sum.memory_done);
  if (is_completed(done, sum)) {
    set_doubt(false);
    long_wait_ = {};
  } else if (outlook == Outlook::kMoves) {
    return;
  } else if (machine_.next_own_work()) {
    begin();
  } else {
    wait(outlook, std::max(machine_.end_of_timers().value_or(Time{}), sum.memory_done));
  }
}

// Somebody lets time pass until `end`, by itself, whatever else goes on. Short waits that come
// again and again excuse nothing where things happen and nothing is completed.
void Machine::Patience::wait(ProgressWatch::Outlook outlook, Time end) {
  using Outlook = ProgressWatch::Outlook;
  const Time patience = machine_.config.run.deadlock_after;
  if (end - now() > Time{patience.fs / 2}) {
    long_wait_ = std::max(long_wait_, end);
  }
  if (outlook == Outlook::kDoubtful) {
    repeats_.begin();
    set_doubt(true);
  } else if (outlook == Outlook::kSilent && end > now()) {
    wait_until(end);
  } else if (long_wait_ != Time{}) {
    if (long_wait_ <= now()) {
      begin();
    }
  } else {
    fail(
        fmt::format("no progress for {} us of simulated time: no request, message or handle order "
                    "was completed",
                    patience.fs / 1'000'000'000));
  }
}

void Machine::Patience::look_at(std::uint64_t steps) {
  using Outlook = ProgressWatch::Outlook;
  const Progress sum = machine_.progress();
  machine_.tell(sum);
  check_time(sum);
  const Outlook outlook = watch_.look(now(), steps, sum.activity());
  if (is_completed(steps, sum) || outlook == Outlook::kMoves) {
    return;
  } else if (outlook == Outlook::kDoubtful) {
    repeats_.begin();
  } else {
    fail(
        fmt::format("no progress for {} us of simulated time: host software took no step, and "
                    "something is still under way",
                    machine_.config.run.deadlock_after.fs / 1'000'000'000));
  }
}

// Host software has a finite program: each step of it is progress, and then the end of all that is
// still under way.
void Machine::run_software(const std::function<bool()>& is_over) {
  Patience patience(*this, software_.steps(), "the machine does not come up: ");
  for (unsigned slices = 1; !is_over() && !is_interrupted(); ++slices) {
    run_slices(kBootSlice);
    if (!software_.failure().empty()) {
      throw SimulationError(software_.failure());
    }
    if (slices % kBootSlicesALook == 0) {
      patience.look_at(software_.steps());
    }
  }
  if (!is_over()) {
    note_end();
  }
}

void Machine::run_until(const std::function<bool()>& is_over) {
  Patience patience(*this, completed(progress()));
  while (!is_over() && !is_interrupted()) {
    sc_core::sc_start(to_sc_time(kScriptSlice));
    patience.look();
  }
}

// A machine at rest costs nothing until somebody does something to it.
void Machine::run_to(Time when, const std::function<bool()>& is_over) {
  while (now() < when && !is_over() && !is_interrupted()) {
    is_still() ? let_pass(std::min(when - now(), kWaitSlice))
               : sc_core::sc_start(to_sc_time(std::min(when - now(), kGuestSlice)));
  }
}

void Machine::run_until_quiet() {
  Patience patience(*this, completed(progress()));
  if (!is_quiet()) {
    measurement_.extend();
  }
  while (!is_quiet() && !is_interrupted()) {
    const bool is_own_wait = next_own_work().has_value();
    advance();
    if (is_own_wait) {
      patience.begin();
    }
    patience.look();
  }
  if (is_started_ && is_quiet() && !measurement_.is_closed()) {
    measurement_.close();  // the last request was over before this
  }
  note_end();
}

// What was cut short is not quiet, or never came into service. Where that was in its warm-up it has
// measured nothing: its window begins, and is empty.
void Machine::note_end() {
  is_cut_short_ = !is_serving_ || !is_quiet();
  has_measured_ = measurement_.is_open();
  for (std::size_t i = 0; is_cut_short_ && i < fabric_.devices.size(); ++i) {
    measurement_.open(i, false);
  }
}

}  // namespace flitwise
