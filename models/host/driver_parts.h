// SPDX-License-Identifier: Apache-2.0
/// What the threads of the driver of the translation agent share: its pages, its way to the agent,
/// and its books.
#pragma once

#include <algorithm>
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
#include "host/host_access.h"
#include "iommu/driver_pages.h"
#include "iommu/invalidation_descriptor.h"
#include "memory/memory_port.h"
#include "stats/wait_book.h"

namespace flitwise {

inline constexpr unsigned kMostRepeats = 3;  ///< of an order that gets no answer

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

/// Looks into memory again and again until the translation agent has written a status there. Where
/// that takes long nothing is simulated of the looks in vain: the next one that can find something
/// comes when it would have come.
class StatusPoll {
 public:
  /// One look takes `period`; software runs on the edges of `clock`. `bridge` outlives it.
  StatusPoll(HostAccess& bridge, Time period, Time clock);

  /// True: it has to look again.
  using Look = std::function<bool()>;
  /// Looks for the first time one period from now. Several may look at a time.
  void begin(Look look) { after(period_, {std::move(look), 0, {}}); }
  /// A status is about to be written.
  void wake();

 private:
  struct Poller {
    Look look;
    unsigned in_vain = 0;
    Time last{};  // look
  };
  /// So many looks in vain, and it waits to be woken.
  static constexpr unsigned kMostLooks = 1000;

  void after(Time delay, Poller poller);
  void look(Poller poller);

  HostAccess& bridge_;
  const Time period_, spacing_;  // the latter of looks: up to a clock edge
  std::vector<Poller> asleep_;
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
  void submit(
      std::vector<DescriptorBytes> commands, std::function<void()> done = [] {});
  bool is_quiet() const { return batches_.empty(); }
  std::uint64_t written() const { return written_; }
  /// Commands that the agent has not been told of.
  std::size_t waiting() const;
  UseClock use;  ///< 1 while there is something to write

 private:
  struct Batch {
    std::vector<DescriptorBytes> commands;
    std::function<void()> done;
    std::size_t next = 0;
  };
  void write_next();
  void make_room();
  void publish();

  HostAccess& bridge_;
  MemoryPort& memory_;
  const std::uint64_t base_;
  const Time step_;
  std::deque<Batch> batches_;
  std::uint32_t head_ = 0, tail_ = 0;  // the former as it was read last
  std::uint64_t written_ = 0;
};

struct DriverParts {
  DriverParts(const HostConfig& host, const IommuConfig& iommu, std::uint64_t seed,
              HostAccess& own_bridge, MemoryPort& own_memory);

  /// Until then it lets time pass that the configuration has set.
  void note_wait(Time delay) { waits_until = std::max(waits_until, now() + delay); }
  /// At random, at this mean rate: from the time of the call before, which is `due`, not from the
  /// clock edge that it was heard on.
  void call_again(double per_second, Time& due, std::function<void()> what);
  /// A status in memory that tells that a wait of this serial number is over.
  bool has_status(std::uint64_t address, std::uint32_t serial) const {
    return static_cast<std::uint32_t>(memory.peek_u64(address)) == serial;
  }
  /// What makes the agent forget a range of a domain; everything: all of it.
  DescriptorBytes agent_invalidation(const DriverDomain& domain, const PageRange& range) const;

  const IommuDriverConfig config;
  const Time step;            ///< between two accesses of software
  const Time memory_latency;  ///< of each look of it into memory
  const bool is_second_stage;
  const bool has_permissions;  ///< Secure ATS
  HostAccess& bridge;
  MemoryPort& memory;
  Background background;
  AgentRegisters registers;
  CommandRing ring;
  StatusPoll polls;
  Random random;
  DriverPages pages{PageFrames(0, 0, 0), 0, {}};  ///< none, until it is given some
  std::function<bool()> has_work = {};            ///< devices have
  std::uint64_t capabilities = 0;                 ///< CAP
  bool is_ready = false;                          ///< the queue is enabled
  Time waits_until{};
  IommuCounters counts = {};
  std::map<std::string, std::uint64_t> errors = {};
};

}  // namespace flitwise
