// SPDX-License-Identifier: Apache-2.0
/// What a network adapter puts on the link for one message: doorbell, descriptor, payload,
/// completion entry, interrupt. Table and reasons: docs/workloads.md.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "flitwise/config.h"
#include "workload/message_source.h"
#include "workload/workload.h"

namespace flitwise {

/// Expands messages; keeps the position of each domain's descriptor and completion rings.
/// model: sizes and ring length are typical of the field, no standard sets them.
class NicProfile {
 public:
  static constexpr std::uint32_t kDoorbellBytes = 8;
  static constexpr std::uint32_t kDescriptorBytes = 64;
  static constexpr std::uint32_t kCompletionBytes = 64;
  static constexpr std::uint32_t kInterruptBytes = 4;
  static constexpr std::uint32_t kRingEntries = 64;  ///< of each ring
  static constexpr unsigned kMostItems = 5;
  /// Four rings of 4 KiB a domain: transmit descriptors and completions, receive the same.
  static constexpr std::uint64_t kRingBytes = std::uint64_t{kRingEntries} * kDescriptorBytes;
  static constexpr std::uint64_t kRingsBytes = 4 * kRingBytes;

  NicProfile(const WorkloadConfig& config, const DeviceConfig& device);

  using Items = std::array<WorkItem, kMostItems>;
  /// Writes the items of one message in issue order; returns how many. A read is a transmit, a
  /// write a receive.
  unsigned expand(const Message& message, Items& items);

 private:
  unsigned transmit(const Message& message, std::uint64_t slot, Items& items) const;
  unsigned receive(const Message& message, std::uint64_t slot, Items& items) const;
  std::uint64_t ring(DomainId domain, unsigned which, std::uint64_t slot) const;
  std::uint64_t doorbell(DomainId domain) const;

  struct Slots {
    std::uint32_t transmit = 0;
    std::uint32_t receive = 0;
  };
  std::uint64_t rings_base_;
  std::uint64_t functions_;
  std::uint64_t doorbell_base_;
  std::uint64_t doorbells_;  ///< registers that fit
  std::vector<Slots> slots_;
};

}  // namespace flitwise
