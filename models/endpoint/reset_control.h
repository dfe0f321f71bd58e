// SPDX-License-Identifier: Apache-2.0
/// Resets of functions, and contexts that software stops: what is under way goes to its end, then
/// all parts of the device forget.
#pragma once

#include <cstdint>
#include <optional>

#include "endpoint/device_functions.h"
#include "endpoint/device_seams.h"

namespace flitwise {

class ResetControl {
 public:
  ResetControl(DeviceFunctions& functions, DeviceContexts& contexts, DeviceOutput& output,
               ResetScope& scope)
      : functions_(functions), contexts_(contexts), output_(output), scope_(scope) {}

  /// Function 0 takes all others with it. What it has under way goes to its end first; then its
  /// handles are gone. [DHI D4]
  void start(unsigned function, ResetKind kind, Time now);
  /// Software's order: the context stops at once, and the register says when that is done.
  /// REQUIRES: contexts are tracked.
  void check_context_stop(Time now);
  /// Ends what can end; false: nothing is left.
  bool do_duties(Time now);
  /// Resets of a function or of all that have begun.
  std::uint64_t resets() const { return resets_; }

 private:
  void check_resets();
  void end(unsigned function);
  bool is_idle(DomainId domain) const;

  DeviceFunctions& functions_;
  DeviceContexts& contexts_;
  DeviceOutput& output_;
  ResetScope& scope_;
  std::uint64_t resets_ = 0;
  std::optional<DomainId> is_stopping_;  // software waits for it
};

}  // namespace flitwise
