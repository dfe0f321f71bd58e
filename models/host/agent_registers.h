// SPDX-License-Identifier: Apache-2.0
/// Software's accesses to the registers of the translation agent, and where its driver has the
/// queues that these name. [IOM-1.1]
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "flitwise/config.h"
#include "host/host_access.h"
#include "iommu/entries.h"

namespace flitwise {

// model: below the area of the tables.
inline constexpr std::uint64_t kInvalidationQueue = std::uint64_t{48} << 20;
inline constexpr std::uint64_t kPageRequestQueue = kInvalidationQueue + (std::uint64_t{64} << 10);
inline constexpr std::uint64_t kWaitStatus = kPageRequestQueue + (std::uint64_t{64} << 10);
inline constexpr std::uint64_t kTeardownStatus = kWaitStatus + 64;  ///< of waits for contexts

/// Unmaps that wait for the driver, in batches, before whoever calls for more has to wait.
inline constexpr unsigned kBatchesAhead = 3;

/// Pages of memory that unmaps may keep from their next use, so that there is always one to map.
inline std::uint64_t spare_frames(const IommuDriverConfig& config) {
  constexpr std::uint64_t kResting = 16;
  return std::uint64_t{config.batch} * config.unmap_pages * kBatchesAhead + kResting;
}

class AgentRegisters {
 public:
  struct Write {
    std::uint32_t offset;
    unsigned bytes;
    std::uint64_t value;
  };
  /// step: between two accesses of software.
  AgentRegisters(HostAccess& bridge, Time step) : bridge_(bridge), step_(step) {}

  /// bytes: 4 or 8.
  void read(std::uint32_t offset, unsigned bytes, std::function<void(std::uint64_t)> then) {
    bridge_.read(kAgentRegisters + offset, bytes,
                 [bytes, then = std::move(then)](const HostAnswer& answer) {
                   then(bytes == 8 ? load_u64(answer.data.data()) : answer.value());
                 });
  }
  /// One after another, a step apart.
  void write(std::vector<Write> accesses, std::function<void()> then) {
    bridge_.after(step_, [this, accesses = std::move(accesses), then = std::move(then)]() mutable {
      if (accesses.empty()) {
        then();
        return;
      }
      const Write& first = accesses.front();
      bridge_.write_register(kAgentRegisters + first.offset, first.value, first.bytes);
      accesses.erase(accesses.begin());
      write(std::move(accesses), std::move(then));
    });
  }

 private:
  HostAccess& bridge_;
  const Time step_;
};

}  // namespace flitwise
