// SPDX-License-Identifier: Apache-2.0
/// Engines as components of a machine: whether they have work left, and what their requests waited
/// for. Their requests are elsewhere, and what an engine waits for now is told by the device or
/// agent that it works for.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/component.h"
#include "endpoint/dma_engine.h"
#include "endpoint/engine.h"
#include "tlp/tlp_codec.h"
#include "workload/hostile_source.h"

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
  void end_window() override { engine_.end_window(); }
  void extend_window() override { engine_.extend_window(); }
  std::vector<WaitResult> waits() const override { return engine_.waits(name(), direction_); }
  void report(RunResult& result) const override {
    for (const Route& one : routes_) {
      result.routes.push_back(one.route);
      result.routes.back().requests = engine_.issued(one.op);
      result.routes.back().to_peers = engine_.issued_to_peers(one.op);
      std::tie(result.routes.back().begin, result.routes.back().end) = engine_.window();
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

/// A device gone bad: sends a set number of hostile TLPs as fast as its link takes them and waits
/// for nothing.
class HostileEngine : public RawEngine {
 public:
  /// Packets that it sends: `warmup`, then `counted`. `counting_starts` is called between them,
  /// `work_ended` when all have gone.
  struct Plan {
    std::uint64_t warmup = 0, counted = 0;
    std::function<void()> counting_starts, work_ended;
  };
  HostileEngine(const HostileTarget& target, const Random& random, PacketPool& pool, Plan plan)
      : source_(target, random),
        pool_(pool),
        plan_(std::move(plan)),
        total_(plan_.warmup + plan_.counted) {}

  PacketRef next(const MaySend& may_send) override {
    if (is_done() || !may_send(std::nullopt)) {
      return {};
    }
    if (sent_ == plan_.warmup) {
      plan_.counting_starts();
    }
    PacketRef packet = pool_.make(PacketKind::kTlp);
    const std::vector<std::uint8_t>& bytes = source_.next();
    write_raw(*packet, bytes.data(), bytes.size());
    packet->counts = sent_ >= plan_.warmup;
    ++sent_;
    if (is_done()) {
      plan_.work_ended();
    }
    return packet;
  }
  bool complete(const Packet& /*packet*/, Time /*now*/) override { return false; }
  bool is_done() const override { return sent_ == total_; }
  std::string waiting() const override {
    return is_done() ? "" : fmt::format("{} of {} hostile TLPs sent", sent_, total_);
  }

 private:
  HostileSource source_;
  PacketPool& pool_;
  const Plan plan_;
  const std::uint64_t total_;
  std::uint64_t sent_ = 0;
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
