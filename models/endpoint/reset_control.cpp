// SPDX-License-Identifier: Apache-2.0
// Resets, and contexts that software stops.
#include "endpoint/reset_control.h"

namespace flitwise {

void ResetControl::start(unsigned function, ResetKind kind, Time t) {
  ++resets_;
  functions_.begin_reset(function, kind);
  output_.begin_duties();
  output_.wake_at(t);
}

bool ResetControl::do_duties(Time t) {
  if (functions_.in_reset() != 0) {
    check_resets();
  }
  if (is_stopping_) {
    check_context_stop(t);
  }
  return functions_.in_reset() != 0 || is_stopping_;
}

void ResetControl::check_resets() {
  if (functions_.is_in_reset(0)) {
    // All of them, at once.
    if (scope_.is_clear()) {
      end(0);
    }
    return;
  }
  for (unsigned f = 1; f < functions_.count(); ++f) {
    if (functions_.is_in_reset(f) && scope_.is_clear(f)) {
      end(f);
    }
  }
}

void ResetControl::end(unsigned function) {
  functions_.end_reset(function);
  scope_.forget(function, functions_.reset_kind());
}

// What was given to the link is ahead of every answer that software gets from now on. [LNK-9.20]
bool ResetControl::is_idle(DomainId domain) const {
  return !contexts_.has_transfers(domain) && !scope_.has_unsent(domain);
}

void ResetControl::check_context_stop(Time t) {
  const std::optional<DeviceIdentity> order = scope_.context_to_stop();
  if (!order) {
    is_stopping_.reset();
    return;
  }
  const std::optional<DomainId> domain = functions_.domain_of(*order);
  if (!domain) {
    scope_.context_stopped(std::nullopt, t);
    return;
  }
  if (is_stopping_ != domain) {
    is_stopping_ = domain;
    contexts_.stop(*domain);
    output_.begin_duties();
    output_.wake_at(t);
  }
  if (is_idle(*domain)) {
    is_stopping_.reset();
    scope_.context_stopped(domain, t);
  }
}

}  // namespace flitwise
