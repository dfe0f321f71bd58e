// SPDX-License-Identifier: Apache-2.0
/// What the threads of the driver of the translation agent share: its pages, its way to the agent,
/// and its books.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/due_queue.h"
#include "common/random.h"
#include "common/wakeup.h"
#include "flitwise/config.h"
#include "flitwise/result.h"
#include "host/agent_registers.h"
#include "host/host_access.h"
#include "host/status_poll.h"
#include "iommu/driver_pages.h"
#include "iommu/invalidation_descriptor.h"
#include "memory/memory_port.h"

namespace flitwise {

/// What is not waited for at the end of a run.
class Background {
 public:
  explicit Background(Time clock);
  void after(Time delay, std::function<void()> what);

 private:
  void work();

  DueQueue<std::function<void()>> calls_;
  Wakeup wakeup_;
};

/// Software's end of the invalidation queue: descriptors go into host memory, then the tail moves.
/// [IOM-1.7]
class CommandRing {
 public:
  static constexpr unsigned kSizeField = 3;  ///< QS
  static constexpr std::uint32_t kBytes = 4096U << kSizeField;

  /// base: of kBytes of host memory. step: between two accesses of software.
  CommandRing(HostAccess& bridge, MemoryPort& memory, std::uint64_t base, Time step)
      : bridge_(bridge), memory_(memory), base_(base), step_(step) {}

  /// Queues commands behind all before them, in one go. `done`: the agent has been told.
  void submit(std::vector<DescriptorBytes> commands, std::function<void()> done);
  bool is_quiet() const { return batches_.empty(); }
  std::uint64_t written() const { return written_; }

 private:
  struct Batch {
    std::vector<DescriptorBytes> commands;
    std::function<void()> done;
    std::size_t next = 0;
  };
  static std::uint32_t after(std::uint32_t offset) {
    return (offset + kWideDescriptorBytes) % kBytes;
  }
  void write_next();
  void make_room();
  void publish();

  HostAccess& bridge_;
  MemoryPort& memory_;
  const std::uint64_t base_;
  const Time step_;
  std::deque<Batch> batches_;
  std::uint32_t head_ = 0;  // as it was read last
  std::uint32_t tail_ = 0;
  std::uint64_t written_ = 0;
};

struct DriverParts {
  DriverParts(const HostConfig& host, const IommuConfig& iommu, std::uint64_t seed,
              HostAccess& own_bridge, MemoryPort& own_memory, Background& own_background,
              DriverPages own_pages);

  /// Until then it lets time pass that the configuration has set.
  void note_wait(Time delay);
  /// At random, at this mean rate: from the time of the call before, which is `due`, not from the
  /// clock edge that it was heard on.
  void call_again(double per_second, Time& due, std::function<void()> what);
  /// A status in memory that tells that a wait of this serial number is over.
  bool has_status(std::uint64_t address, std::uint32_t serial) const;
  /// What makes the agent forget a range of a domain; everything: all of it.
  DescriptorBytes agent_invalidation(const DriverDomain& domain, const PageRange& range) const;
  /// Orders that are not waited for; none does nothing.
  void submit(std::vector<DescriptorBytes> commands);

  const IommuDriverConfig config;
  const Time step;            ///< between two accesses of software
  const Time memory_latency;  ///< of each look of it into memory
  const bool is_second_stage;
  const bool has_permissions;  ///< Secure ATS
  HostAccess& bridge;
  MemoryPort& memory;
  Background& background;
  AgentRegisters registers;
  CommandRing ring;
  StatusPoll polls;
  Random random;
  DriverPages pages;
  std::function<bool()> has_work = {};  ///< devices have
  std::uint64_t capabilities = 0;       ///< CAP
  bool is_ready = false;                ///< the queue is enabled
  Time waits_until{};
  IommuCounters counts = {};
  std::map<std::string, std::uint64_t> errors = {};
};

}  // namespace flitwise
