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
      is_done_ = true;
    });
  }
  void start(Time when) { wakeup_.at(when); }
  bool is_quiet() const override { return true; }  // a run does not wait for it
  void end_window() override { is_over_ = true; }
  void extend_window() override { is_over_ = false; }
  /// The work was over before.
  Counts errors() const override {
    return is_over_ && !is_done_ ? Counts{{"shares_not_changed", 1}} : Counts{};
  }

 private:
  const std::function<void()> change_;
  Wakeup wakeup_;
  bool is_done_ = false, is_over_ = false;
};

}  // namespace flitwise
