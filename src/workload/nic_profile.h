// SPDX-License-Identifier: Apache-2.0
/// What a network adapter puts on the link for one message: doorbell, descriptor, payload,
/// completion entry, interrupt. Table and reasons: docs/workloads.md.
#pragma once

#include <cstdint>
#include <vector>

#include "flitwise/config.h"
#include "workload/message_source.h"
#include "workload/workload.h"

namespace flitwise {

/// Takes messages to pieces; keeps the position of each domain's descriptor and completion rings. A
/// read is a transmit, a write a receive.
/// model: sizes and ring length are typical of the field, no standard sets them.
class NicProfile final : public Workload {
 public:
  static constexpr std::uint32_t kDoorbellBytes = 8;
  static constexpr std::uint32_t kDescriptorBytes = 64;
  static constexpr std::uint32_t kCompletionBytes = 64;
  static constexpr std::uint32_t kInterruptBytes = 4;
  static constexpr std::uint32_t kRingEntries = 64;  ///< of each ring
  /// Four rings of 4 KiB a domain: transmit descriptors and completions, receive the same.
  static constexpr std::uint64_t kRingBytes = std::uint64_t{kRingEntries} * kDescriptorBytes;
  static constexpr std::uint64_t kRingsBytes = 4 * kRingBytes;

  NicProfile(const WorkloadConfig& config, const DeviceConfig& device, std::uint64_t seed,
             std::uint64_t warmup);

  bool next(WorkItem& item) override;
  std::uint64_t left() const override { return source_.left(); }

  struct Step;  ///< one item of a message

 private:
  bool begin_message();
  std::uint64_t address_of(const Step& step) const;

  struct Slots {
    std::uint32_t transmit = 0, receive = 0;
  };
  MessageSource source_;
  std::uint64_t rings_base_;
  std::uint64_t functions_;
  std::uint64_t doorbell_base_;
  std::uint64_t doorbells_;  ///< registers that fit
  std::vector<Slots> slots_;
  Message message_;
  std::uint32_t slot_ = 0;                        ///< of the rings, for this message
  const Step *step_ = nullptr, *last_ = nullptr;  ///< the next one, and behind the last
};

}  // namespace flitwise
