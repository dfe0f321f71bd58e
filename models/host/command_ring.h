// SPDX-License-Identifier: Apache-2.0
/// Software's end of the invalidation queue: descriptors go into host memory, then the tail moves.
/// [IOM-1.7]
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "host/host_access.h"
#include "iommu/invalidation_descriptor.h"
#include "memory/memory_port.h"

namespace flitwise {

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

}  // namespace flitwise
