// SPDX-License-Identifier: Apache-2.0
/// A device gone bad: sends a set number of hostile TLPs as fast as its link takes them and waits
/// for nothing.
#pragma once

#include <functional>

#include "endpoint/raw_engine.h"
#include "flitwise/config.h"
#include "workload/hostile_source.h"

namespace flitwise {

class HostileEngine : public RawEngine {
 public:
  /// Packets that it sends: `warmup`, then `counted`. `counting_starts` is called between them,
  /// `work_ended` when all have gone.
  struct Plan {
    std::uint64_t warmup = 0, counted = 0;
    std::function<void()> counting_starts, work_ended;
  };
  HostileEngine(const HostileTarget& target, const Random& random, PacketPool& pool, Plan plan);

  PacketRef next(const MaySend& may_send) override;
  bool complete(const Packet& /*packet*/, Time /*now*/) override { return false; }
  bool is_done() const override { return sent_ == total_; }
  std::string waiting() const override;

  std::uint64_t sent() const { return sent_; }  ///< packets

 private:
  HostileSource source_;
  PacketPool& pool_;
  const Plan plan_;
  const std::uint64_t total_;
  std::uint64_t sent_ = 0;
};

}  // namespace flitwise
