// SPDX-License-Identifier: Apache-2.0
/// A device gone bad: sends a set number of hostile TLPs as fast as its link takes them and waits
/// for nothing.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/component.h"
#include "endpoint/engine.h"
#include "tlp/tlp_codec.h"
#include "workload/hostile_source.h"

namespace flitwise {

class HostileEngine final : public RawEngine, public Bystander {
 public:
  /// Packets that it sends: `warmup`, then `counted`. `counting_starts` is called between them,
  /// `work_ended` when all have gone.
  struct Plan {
    std::uint64_t warmup = 0, counted = 0;
    std::function<void()> counting_starts, work_ended;
  };
  HostileEngine(std::string name, const HostileTarget& target, const Random& random,
                PacketPool& pool, Plan plan)
      : Bystander(std::move(name)),
        source_(target, random),
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
  bool is_exhausted() const override { return is_done(); }
  void add_progress(Progress& sum) const override {
    sum.requests += total_;
    sum.requests_over += sent_;
  }
  std::string waits_for() const override {
    return is_done() ? "" : fmt::format("{} of {} hostile TLPs sent", sent_, total_);
  }

 private:
  HostileSource source_;
  PacketPool& pool_;
  const Plan plan_;
  const std::uint64_t total_;
  std::uint64_t sent_ = 0;
};

}  // namespace flitwise
