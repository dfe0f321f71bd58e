// SPDX-License-Identifier: Apache-2.0
/// Engines as components of a machine: whether they have work left, and what their requests waited
/// for. Their requests are elsewhere, and what an engine waits for now is told by the device or
/// agent that it works for.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/component.h"
#include "endpoint/dma_engine.h"
#include "endpoint/hostile_engine.h"

namespace flitwise {

class EngineComponent final : public Bystander {
 public:
  /// A kind of its requests, and their way.
  struct Route {
    Op op = Op::kRead;
    RequestRoute route;
  };

  /// `name`: that its waits have as their place; direction: of its requests, "up" or "down".
  EngineComponent(DmaEngine& engine, std::string name, const char* direction)
      : Bystander(std::move(name)), engine_(engine), direction_(direction) {}

  void add_route(Route route) { routes_.push_back(std::move(route)); }
  /// Writes that the link has lost on their way to the device: doorbells may be among them. Without
  /// it doorbells are not checked.
  void ask_losses(std::function<std::uint64_t()> losses) { losses_ = std::move(losses); }
  /// Host software has been asked to write a doorbell.
  void rung() { ++rung_; }
  std::uint64_t doorbells() const { return rung_; }

  bool is_exhausted() const override { return engine_.is_exhausted(); }
  bool is_done() const override { return engine_.is_done(); }
  Time next_own_work() const override { return engine_.next_at(); }
  void add_progress(Progress& sum) const override {
    sum.steps += engine_.started();
    sum.completed += engine_.ended();
  }
  void start_window() override { engine_.start_window(); }
  std::vector<WaitResult> waits() const override { return engine_.waits(name(), direction_); }
  void report(RunResult& result) const override {
    for (const Route& one : routes_) {
      result.routes.push_back(one.route);
      result.routes.back().requests = engine_.issued(one.op);
    }
  }
  Counts errors() const override { return {{"stray_doorbell", engine_.stray_doorbells()}}; }
  std::vector<CheckResult> checks() const override {
    if (!losses_) {
      return {};
    }
    const std::uint64_t missing = rung_ - engine_.doorbells();
    const std::uint64_t lost = losses_();
    return {{name() + std::string(": every doorbell arrived or was lost"), missing <= lost,
             fmt::format("{} missing, {} writes lost with the link", missing, lost)}};
  }

 private:
  DmaEngine& engine_;
  const char* const direction_;
  std::vector<Route> routes_;
  std::function<std::uint64_t()> losses_;
  std::uint64_t rung_ = 0;
};

/// It waits for nothing, so that it has nothing to tell but its end.
class HostileComponent final : public Bystander {
 public:
  HostileComponent(const HostileEngine& engine, std::string name)
      : Bystander(std::move(name)), engine_(engine) {}

  bool is_exhausted() const override { return engine_.is_done(); }

 private:
  const HostileEngine& engine_;
};

}  // namespace flitwise
