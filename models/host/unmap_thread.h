// SPDX-License-Identifier: Apache-2.0
/// The thread of the driver that unmaps pages while devices run: the entry first, then the agent's
/// caches, then the device's, then the wait, and only then the page is free. [INV-35] [IQU-16]
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "host/driver_parts.h"
#include "host/page_server.h"
#include "stats/latency_histogram.h"

namespace flitwise {

class UnmapThread {
 public:
  UnmapThread(DriverParts& driver, PageServer& pages);

  /// Unmaps from now on, as long as there is work for devices.
  void begin();
  /// An invalidation is over, or its status is looked for from now on.
  void poll() {
    driver_.polls.begin([this] { return look(); });
  }
  /// A device did not answer: the agent has given the wait up. [IQU-07]
  void repeat();

  bool is_quiet() const { return backlog_.empty() && batch_.empty() && !is_busy_; }
  std::size_t waiting() const { return backlog_.size(); }
  std::size_t under_way() const { return batch_.size(); }
  /// Pages that are free again.
  std::uint64_t freed() const { return freed_; }
  /// From the call to the page that is free.
  const LatencyHistogram& latency() const { return latency_; }

 private:
  using Index = DriverPages::Index;
  struct Unmap {
    Time called;
    std::uint32_t domain = 0;
    Index first = 0;
    unsigned count = 0;
    std::vector<std::pair<Index, PageFrames::Frame>> pages;  // that it has taken
  };

  bool is_deferred() const { return driver_.config.mode == UnmapMode::kDeferred; }
  bool revokes() const;
  void tick();
  void next();
  void clear(std::size_t at);
  void cleared();
  void add_permission_invalidations(std::vector<DescriptorBytes>& agent) const;
  std::vector<DescriptorBytes> invalidations() const;
  void invalidate();
  bool look();
  void wait_is_over();

  DriverParts& driver_;
  PageServer& pages_;
  std::deque<Unmap> backlog_;
  std::vector<Unmap> batch_;  // that are being invalidated, or are collected
  std::uint64_t held_ = 0;    // pages that the two above may have taken
  const std::uint64_t most_held_;
  Time due_{};  // the next call
  bool is_busy_ = false, is_flush_due_ = false, is_waiting_ = false;
  std::uint64_t flushes_ = 0, freed_ = 0;
  std::uint32_t serial_ = 0;
  unsigned repeats_ = 0;
  LatencyHistogram latency_;
};

}  // namespace flitwise
