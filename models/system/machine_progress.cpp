// SPDX-License-Identifier: Apache-2.0
// How far a machine is, whether it gets on, and what it says where it does not.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/interrupt.h"
#include "flitwise/error.h"
#include "link/replay_timer.h"
#include "stats/progress_watch.h"
#include "system/machine.h"

namespace flitwise {
namespace {

constexpr Time kWaitSlice = Time::from_us(1000);  // where only a timer is waited for
constexpr Time kBootSlice = Time::from_ns(500);   // how often the end of the boot is looked for
// At most so many slices, or TLPs in them, lie between two reports of how far a run is.
constexpr std::uint64_t kSlicesAReport = 256, kTlpsAReport = 256;

}  // namespace

/// What a machine does again and again while nothing is completed: for the report of a run that
/// does not get on, and to end one whose link sends for ever what never arrives.
class RepeatBook {
 public:
  explicit RepeatBook(const ComponentList& components) : components_(components) {}

  /// model: a link has failed on which so many TLPs, flits and DLLPs were sent in vain, in so many
  /// tries or more, and more than kMostTries for each TLP or message that it delivered,
  /// however much simulated time that took. A replay is one try, however many TLPs it sends again:
  /// the first that is damaged takes all behind it along.
  static constexpr std::uint64_t kMostWasted = 100'000, kFewestTries = 500;

  /// Repetitions are counted from here on, unless they are since the last completion.
  void begin() {
    if (!has_begun_) {
      has_begun_ = true;
      before_ = counts();
    }
  }
  /// Something was completed: repetitions are counted anew once something repeats, or begin() is
  /// called. What a link has wasted is not: a request may be over because it has given up.
  void forget(const Progress& sum) {
    has_begun_ = false;
    wasted_ = sum.wasted;
  }
  /// So much is sent in vain without a completion that it may have to be told of.
  void look(const Progress& sum) {
    if (sum.wasted - wasted_ > kFewWasted) {
      begin();
    }
  }
  /// A line for each repetition that was counted, the most frequent ones first.
  std::string text() const {
    constexpr std::size_t kMostLines = 8;
    std::vector<std::pair<std::uint64_t, std::string>> repeated;
    for (const auto& [what, again] : grown(counts(), before_)) {
      repeated.emplace_back(again, what);
    }
    std::stable_sort(repeated.begin(), repeated.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    repeated.resize(std::min(repeated.size(), kMostLines));
    std::string text;
    for (const auto& [count, what] : repeated) {
      text += fmt::format("{}: {} times\n", what, count);
    }
    return text.empty() ? "nothing\n" : text;
  }
  /// Which link has sent too much in vain, and what; empty where none has.
  std::string failed_link() {
    for (std::size_t i = 0; i < components_.all().size(); ++i) {
      Progress at_present;
      components_.all()[i]->add_progress(at_present);
      if (i == since_.size()) {
        since_.push_back(at_present);
      }
      Progress& since = since_[i];
      const std::uint64_t wasted = at_present.wasted - since.wasted;
      const std::uint64_t tries = wasted <= kMostWasted ? 0 : tries_between(since, at_present);
      if (tries <= kFewestTries) {
        continue;
      }
      const std::uint64_t delivered = at_present.delivered - since.delivered;
      if (delivered * kMostTries < tries) {
        return fmt::format(
            "{}: {} TLPs arrived while the last {} TLPs, flits and DLLPs were damaged or sent "
            "again, in some {} tries",
            components_.all()[i]->name(), delivered, wasted, tries);
      }
      since = at_present;
    }
    return "";
  }

 private:
  static constexpr std::uint64_t kFewWasted = kMostWasted / 1'000;

  // What was wasted, in units of a mean replay.
  static std::uint64_t tries_between(const Progress& since, const Progress& until) {
    const std::uint64_t replays = std::max<std::uint64_t>(until.replays - since.replays, 1);
    const std::uint64_t mean = std::max<std::uint64_t>((until.again - since.again) / replays, 1);
    return (until.wasted - since.wasted) / mean;
  }
  Component::Counts counts() const {
    Component::Counts all;
    for (const Component* one : components_.all()) {
      one->count_repeats(all);
    }
    return all;
  }

  const ComponentList& components_;
  Component::Counts before_ = counts();  // repetitions up to where they are counted from
  std::uint64_t wasted_ = 0;             // in all, at the last completion
  bool has_begun_ = false;               // since the last completion
  std::vector<Progress> since_;          // by component: from where on each is looked at
};

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

void Machine::set_doubt(bool is_doubtful) {
  for (Component* const one : components().all()) {
    is_doubtful ? one->begin_doubt() : one->end_doubt();
  }
}

void Machine::fail(const std::string& why, const RepeatBook& repeats) const {
  throw DeadlockError(fmt::format("{}; what repeats:\n{}what waits:\n{}{}", why, repeats.text(),
                                  waiting(), text_of(monitors_.violations())));
}

// With replays that never end nothing else would tell.
void Machine::check_links(RepeatBook& repeats, const char* when) const {
  if (const std::string link = repeats.failed_link(); !link.empty()) {
    fail(fmt::format("{}no progress on {}", when, link), repeats);
  }
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

// Host software has a finite program: each step of it is progress, and then the end of all that is
// still under way.
void Machine::run_software(const std::function<bool()>& is_over) {
  using Outlook = ProgressWatch::Outlook;
  constexpr const char* kWhen = "the machine does not come up: ";
  ProgressWatch watch(config.run.deadlock_after);
  RepeatBook repeats(components());
  std::uint64_t mark = software_.steps();
  watch.begin(now());
  while (!is_over() && !is_interrupted()) {
    sc_core::sc_start(to_sc_time(kBootSlice));
    if (!software_.failure().empty()) {
      throw SimulationError(software_.failure());
    }
    const std::uint64_t done = software_.steps();
    const Progress sum = progress();
    const Outlook outlook = watch.look(now(), done, sum.activity());
    tell(sum);
    if (done != mark) {
      repeats.forget(sum);
    }
    repeats.look(sum);
    check_links(repeats, kWhen);
    if (done != mark) {
      mark = done;
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
  let_pass(std::min(end - now(), kWaitSlice));
  if (is_timed ? !end_of_timers() : progress().memory_done <= now()) {
    watch.begin(now());
  }
}

void Machine::run_until_quiet() {
  using Outlook = ProgressWatch::Outlook;
  ProgressWatch watch(config.run.deadlock_after);
  RepeatBook repeats(components());
  std::uint64_t mark = completed(progress());
  watch.begin(now());
  if (!is_quiet()) {
    measurement_.extend();
  }
  while (!is_quiet() && !is_interrupted()) {
    const bool is_own_wait = next_own_work().has_value();
    advance();
    if (is_own_wait) {
      watch.begin(now());
    }
    const Progress sum = progress();
    tell(sum);
    const std::uint64_t done = completed(sum);
    const Outlook outlook =
        watch.look(now(), done + sum.walk_steps, sum.activity(), sum.memory_done);
    if (done != mark) {
      mark = done;
      repeats.forget(sum);
      set_doubt(false);
      continue;
    }
    repeats.look(sum);
    check_links(repeats, "");
    if (outlook == Outlook::kMoves) {
      continue;
    } else if (next_own_work()) {
      watch.begin(now());
    } else if (outlook == Outlook::kDoubtful) {
      repeats.begin();
      set_doubt(true);
    } else if (const Time end = std::max(end_of_timers().value_or(Time{}), sum.memory_done);
               outlook == Outlook::kSilent && end > now()) {
      wait_until(end, watch);
    } else {
      fail(fmt::format("no progress for {} us of simulated time: no request, message or handle "
                       "order was completed",
                       config.run.deadlock_after.fs / 1'000'000'000),
           repeats);
    }
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
