// SPDX-License-Identifier: Apache-2.0
/// Engines as components of a machine: whether they have work left, and what their requests waited
/// for. What an engine waits for now is told by the device or agent that it works for.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/component.h"
#include "endpoint/dma_engine.h"
#include "endpoint/hostile_engine.h"

namespace flitwise {

class EngineComponent final : public Component {
 public:
  /// A kind of its requests, and their way.
  struct Route {
    Op op = Op::kRead;
    RequestRoute route;
  };

  /// `name`: that its waits have as their place; direction: of its requests, "up" or "down".
  EngineComponent(DmaEngine& engine, std::string name, const char* direction)
      : engine_(engine), name_(std::move(name)), direction_(direction) {}

  void add_route(Route route) { routes_.push_back(std::move(route)); }
  /// Writes that the link has lost on their way to the device: doorbells may be among them. Without
  /// it doorbells are not checked.
  void ask_losses(std::function<std::uint64_t()> losses) { losses_ = std::move(losses); }
  /// Host software has been asked to write a doorbell.
  void rung() { ++rung_; }
  std::uint64_t doorbells() const { return rung_; }

  const char* name() const override { return name_.c_str(); }
  bool is_quiet() const override { return true; }  // its requests are elsewhere
  bool is_exhausted() const override { return engine_.is_exhausted(); }
  bool is_done() const override { return engine_.is_done(); }
  Time next_own_work() const override { return engine_.next_at(); }
  void add_progress(Progress& sum) const override;
  void start_window() override { engine_.start_window(); }
  std::vector<WaitResult> waits() const override { return engine_.waits(name_, direction_); }
  void report(RunResult& result) const override;
  Counts errors() const override { return {{"stray_doorbell", engine_.stray_doorbells()}}; }
  std::vector<CheckResult> checks() const override;

 private:
  DmaEngine& engine_;
  const std::string name_;
  const char* const direction_;
  std::vector<Route> routes_;
  std::function<std::uint64_t()> losses_;
  std::uint64_t rung_ = 0;
};

/// It waits for nothing, so that it has nothing to tell but its end.
class HostileComponent final : public Component {
 public:
  HostileComponent(const HostileEngine& engine, std::string name)
      : engine_(engine), name_(std::move(name)) {}

  const char* name() const override { return name_.c_str(); }
  bool is_quiet() const override { return true; }  // its requests are elsewhere
  bool is_exhausted() const override { return engine_.is_done(); }

 private:
  const HostileEngine& engine_;
  const std::string name_;
};

}  // namespace flitwise
