// SPDX-License-Identifier: Apache-2.0
#include "system/network_machine.h"

#include <fmt/format.h>

#include <boost/range/algorithm_ext/push_back.hpp>

#include "common/interrupt.h"
#include "fabric/network_builder.h"
#include "flitwise/error.h"
#include "flitwise/link_socket.h"
#include "stats/progress_watch.h"

namespace flitwise {
namespace {

constexpr Time kSlice = Time::from_us(10);  // how often the end is looked for

}  // namespace

NetworkMachine::NetworkMachine(const Config& whole)
    : config(whole), network_(build_packet_network(config)) {}

bool NetworkMachine::has_measured() const {
  Progress sum;
  network_->add_progress(sum);
  return sum.completed > 0;
}

void NetworkMachine::run() {
  ProgressWatch watch(config.run.deadlock_after);
  watch.begin(now());
  while (!network_->is_done() && !is_interrupted()) {
    sc_core::sc_start(to_sc_time(kSlice));
    look(watch);
  }
  is_cut_short_ = !network_->is_done();
}

// Bytes that arrive in order are progress; packets that go by are none.
void NetworkMachine::look(ProgressWatch& watch) {
  Progress sum;
  network_->add_progress(sum);
  if (report_) {
    report_({sum.requests_over, sum.requests, now()});
  }
  if (now() > kLongestRun) {
    throw SimulationError(fmt::format(
        "the run takes more than {} s of simulated time, with {} of {} flows over; expected fewer "
        "or smaller flows",
        kLongestRun.fs / 1'000'000'000'000'000, sum.requests_over, sum.requests));
  }
  const ProgressWatch::Outlook outlook = watch.look(now(), sum.completed, sum.activity());
  const bool is_over =
      outlook == ProgressWatch::Outlook::kSilent || outlook == ProgressWatch::Outlook::kRepeats;
  if (is_over && network_->waits_until() > now()) {
    watch.begin(now());
  } else if (is_over) {
    throw DeadlockError(
        fmt::format("no progress for {} us of simulated time: no flow got on; what waits:\n{}",
                    config.run.deadlock_after.fs / 1'000'000'000, network_->waiting()));
  }
}

RunResult NetworkMachine::result() const {
  RunResult result;
  result.seed = config.run.seed;
  result.simulated = network_->last_end();
  network_->report(result);
  boost::range::push_back(result.rows<WaitResult>(), network_->waits());
  result.errors = network_->errors();
  if (!is_cut_short_) {
    result.checks = network_->checks();
    boost::range::push_back(result.checks, network_->checks_at_rest());
  }
  return result;
}

}  // namespace flitwise
