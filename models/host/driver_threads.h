// SPDX-License-Identifier: Apache-2.0
/// Threads of the driver of the translation agent that map and unmap pages while devices run.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "host/driver_parts.h"
#include "iommu/agent_queues.h"
#include "stats/latency_histogram.h"
#include "stats/wait_book.h"

namespace flitwise {

/// Maps pages: for page requests, which it takes from their queue and answers, and for whoever else
/// wants one.
class PageServer {
 public:
  using Index = DriverPages::Index;
  explicit PageServer(DriverParts& driver) : driver_(driver) {}

  /// There are records in the queue.
  void serve();
  /// Maps a page, unless it is mapped, about to be, or of a context that has ended.
  void map(Index page);
  /// It is no longer wanted by whoever marked it so, but mapped.
  void map_wanted(Index page);

  std::uint64_t requests_out() const { return requests_out_; }
  bool is_quiet() const { return !is_serving_ && requests_out_ == 0; }

  UseClock use;  ///< 1 while it takes records

 private:
  struct PageGroup {
    unsigned out = 0;  // requests that are not settled
    bool has_last = false, is_refused = false;
  };

  void take_records(std::uint32_t head, std::uint32_t tail);
  void look_for_overflow();
  void records_taken();
  void take_request(const PageRequest& request);
  void answer(const PageRequest& request, bool is_granted);

  DriverParts& driver_;
  bool is_serving_ = false, has_new_records_ = false;
  std::uint32_t head_ = 0;
  std::map<std::pair<std::uint16_t, std::uint16_t>, PageGroup> groups_;  // by function and index
  std::uint64_t requests_out_ = 0;                                       // taken and not answered
};

/// Takes fault records, and has pages mapped that were missed.
class FaultServer {
 public:
  /// `timed_out`: a device did not answer, and the agent has given its wait up. [IQU-07]
  FaultServer(DriverParts& driver, PageServer& pages, std::function<void()> timed_out)
      : driver_(driver), pages_(pages), timed_out_(std::move(timed_out)) {}

  /// The agent has something to report.
  void serve();

  bool is_quiet() const { return !is_serving_; }
  /// Faults of contexts that had ended.
  std::uint64_t requests_after_end() const { return requests_after_end_; }

 private:
  void records_taken(std::uint32_t status);
  void count(std::uint32_t status);
  void take_record(unsigned index, std::uint32_t status);
  void record_read(std::uint64_t low, std::uint64_t high);

  DriverParts& driver_;
  PageServer& pages_;
  const std::function<void()> timed_out_;
  bool is_serving_ = false;
  std::uint64_t requests_after_end_ = 0;
};

/// Unmaps pages: the entry first, then the agent's caches, then the device's, then the wait, and
/// only then the page is free. [INV-35] [IQU-16]
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
  bool revokes() const {
    return driver_.has_permissions && driver_.config.mistake != DriverMistake::kNoRevoke;
  }
  void tick();
  void next();
  void clear(std::size_t at);
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
