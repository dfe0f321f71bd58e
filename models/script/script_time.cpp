// SPDX-License-Identifier: Apache-2.0
// Time that passes between the operations: a span of it, until something happens, or until nothing
// is left to do.
#include "scenario/case_values.h"
#include "script/script_session.h"

namespace flitwise {

// The first moment passes late, so that faults can strike what the links send in it.
void ScriptSession::begin() {
  if (!has_begun_) {
    has_begun_ = true;
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
}

void ScriptSession::run_until_idle() {
  begin();
  machine_.run_until_quiet();
}

void ScriptSession::wait_until(Time when) {
  const Time elapsed = output_.elapsed();
  if (when > elapsed) {
    begin();
    sc_core::sc_start(to_sc_time(when - elapsed));
  }
}

void ScriptSession::run(const RunOp& op) {
  if (op.span) {
    sc_core::sc_start(to_sc_time(*op.span));
  } else if (op.until.is_null()) {
    machine_.run_until_quiet();
  } else {
    run_until_event(op);
  }
}

void ScriptSession::run_until_event(const RunOp& op) {
  AwaitedEvent awaited;
  awaited.pattern = scenario::awaited_event(op.until, output_.line_of(token_));
  const bool watches_all_along = !watches_.empty();
  watch_wires();
  output_.await(&awaited);
  sc_core::sc_start(to_sc_time(op.limit));
  output_.await(nullptr);
  if (!watches_all_along) {
    for (FabricLink& one : machine_.fabric().links) {
      one.link->watch(nullptr);
    }
    watches_.clear();
  }
  if (!awaited.is_seen) {
    output_.missed_event(token_, awaited, op.limit);
  }
}

void ScriptSession::watch_wires() {
  for (FabricLink& one : machine_.fabric().links) {
    if (watches_.size() < machine_.fabric().links.size()) {
      watches_.push_back(std::make_unique<WireWatch>(one.name, output_));
      one.link->watch(watches_.back().get());
    }
  }
}

}  // namespace flitwise
