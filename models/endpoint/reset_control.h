// SPDX-License-Identifier: Apache-2.0
/// Resets of functions, and contexts that software stops: what is under way goes to its end, then
/// all parts of the device forget.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "endpoint/device_functions.h"
#include "endpoint/device_seams.h"

namespace flitwise {

/// Contexts that software ends while others go on; kept only where it does.
class DeviceContexts {
 public:
  explicit DeviceContexts(std::uint32_t domains) : contexts_(domains) {}

  bool are_tracked() const { return !contexts_.empty(); }
  void begin_transfer(DomainId domain) {
    if (are_tracked()) {
      ++contexts_[to_int(domain)].transfers;
    }
  }
  void end_transfer(DomainId domain) {
    if (are_tracked()) {
      --contexts_[to_int(domain)].transfers;
    }
  }
  /// From now on the device does nothing more for it; what it has under way goes on.
  void stop(DomainId domain) { contexts_[to_int(domain)].is_over = true; }
  bool is_over(DomainId domain) const { return are_tracked() && contexts_[to_int(domain)].is_over; }
  bool has_transfers(DomainId domain) const { return contexts_[to_int(domain)].transfers != 0; }

 private:
  struct Context {
    std::uint32_t transfers = 0;  // under way
    bool is_over = false;
  };
  std::vector<Context> contexts_;  // by domain
};

class ResetControl {
 public:
  ResetControl(DeviceFunctions& functions, DeviceContexts& contexts, DeviceOutput& output,
               ResetScope& scope)
      : functions_(functions), contexts_(contexts), output_(output), scope_(scope) {}

  /// Function 0 takes all others with it. What it has under way goes to its end first; then its
  /// handles are gone. [DHI D4]
  void start(unsigned function, ResetKind kind, Time t) {
    ++resets_;
    functions_.begin_reset(function, kind);
    output_.begin_duties();
    output_.wake_at(t);
  }
  /// Software's order: the context stops at once, and the register says when that is done.
  /// REQUIRES: contexts are tracked.
  void check_context_stop(Time t) {
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
    // What was given to the link is ahead of every answer that software gets from now on.
    // [LNK-9.20]
    if (!contexts_.has_transfers(*domain) && !scope_.has_unsent(*domain)) {
      is_stopping_.reset();
      scope_.context_stopped(domain, t);
    }
  }
  /// Ends what can end; false: nothing is left.
  bool do_duties(Time t) {
    if (functions_.is_in_reset(0)) {
      // All of them, at once.
      if (scope_.is_clear()) {
        end(0);
      }
    } else {
      for (unsigned f = 1; functions_.in_reset() != 0 && f < functions_.count(); ++f) {
        if (functions_.is_in_reset(f) && scope_.is_clear(f)) {
          end(f);
        }
      }
    }
    if (is_stopping_) {
      check_context_stop(t);
    }
    return functions_.in_reset() != 0 || is_stopping_;
  }
  /// Resets of a function or of all that have begun.
  std::uint64_t resets() const { return resets_; }

 private:
  void end(unsigned function) {
    functions_.end_reset(function);
    scope_.forget(function, functions_.reset_kind());
  }

  DeviceFunctions& functions_;
  DeviceContexts& contexts_;
  DeviceOutput& output_;
  ResetScope& scope_;
  std::uint64_t resets_ = 0;
  std::optional<DomainId> is_stopping_;  // software waits for it
};

}  // namespace flitwise
