// SPDX-License-Identifier: Apache-2.0
/// Software that controls the shares of the functions of an RDMA adapter, in a virtual machine of
/// its own: at a time it gives them other weights, by commands to the physical function. [HP-8]
#pragma once

#include <functional>
#include <utility>

#include "common/component.h"
#include "common/wakeup.h"

namespace flitwise {

class ControlVm final : public ComponentModule {
 public:
  /// change: what it does, once.
  ControlVm(const sc_core::sc_module_name& name, std::function<void()> change)
      : ComponentModule(name), change_(std::move(change)), wakeup_("wakeup", Time{1}) {
    wakeup_.wakes("act", [this] {
      wakeup_.taken();
      change_();
    });
  }
  void start(Time when) { wakeup_.at(when); }
  bool is_quiet() const override { return true; }  // a run does not wait for it

 private:
  const std::function<void()> change_;
  Wakeup wakeup_;
};

}  // namespace flitwise
