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
  /// `counting_starts` is called when run.warmup packets have gone, `work_ended` when all have.
  /// `base`: the device's BDF; `handles`: those that the host gave it.
  HostileEngine(const Config& config, Bdf base, HandleRange handles, const Random& random,
                PacketPool& pool, std::function<void()> counting_starts,
                std::function<void()> work_ended);

  PacketRef next(const MaySend& may_send) override;
  bool complete(const Packet& /*packet*/, Time /*now*/) override { return false; }
  bool is_done() const override { return sent_ == total_; }
  std::string waiting() const override;

  std::uint64_t sent() const { return sent_; }  ///< packets

 private:
  HostileSource source_;
  PacketPool& pool_;
  std::function<void()> counting_starts_;
  std::function<void()> work_ended_;
  const std::uint64_t warmup_;
  const std::uint64_t total_;
  std::uint64_t sent_ = 0;
};

}  // namespace flitwise
