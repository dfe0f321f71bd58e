// SPDX-License-Identifier: Apache-2.0
/// Which descriptor the agent fetches next, what it waits for, and what stops it. [IOM-5.10]
#pragma once

#include <cstdint>
#include <optional>

#include "flitwise/config.h"
#include "iommu/invalidation_descriptor.h"
#include "iommu/registers.h"

namespace flitwise {

/// Commands are carried out one after another. Those for device TLBs count as carried out when they
/// are sent; a wait waits until all before it are answered.
class InvalidationQueue {
 public:
  explicit InvalidationQueue(ReservedTailBit tail_bit = ReservedTailBit::kError)
      : tail_bit_(tail_bit) {}

  /// IQT was written: an invalid one stops the queue with IQE.
  std::optional<IommuInterrupt> check_tail(IommuRegisters& registers);
  /// Where the next descriptor lies; none while the queue is off, empty, stopped or at work.
  std::optional<std::uint64_t> fetch_address(const IommuRegisters& registers) const;

  /// The fetch from there begins.
  void fetch_begins() { was_stopped_ = has_timed_out_ = false; }

  struct Fetched {
    InvalidationDescriptor command;  ///< to carry out, unless it is a DescriptorError
    std::optional<IommuInterrupt> interrupt;
  };
  /// The bytes at fetch_address(). An error sets IQE and leaves the head. If the queue was stopped
  /// meanwhile, a wait is given up as others are, and all else will be fetched again.
  /// [IQU-01] [IQU-07] [IQU-08]
  Fetched fetched(const std::uint8_t* bytes, const IommuCapabilities& offers,
                  IommuRegisters& registers);
  /// Memory refused the descriptor.
  std::optional<IommuInterrupt> fetch_failed(IommuRegisters& registers) {
    return stop(DescriptorError::kFetch, registers);
  }

  /// The command, no wait, is carried out or sent to the device: the head moves on.
  void carried_out(IommuRegisters& registers);
  /// A device will answer one invalidation more.
  void sent_to_device() { ++outstanding_; }
  /// REQUIRES: one is outstanding.
  void device_answered() { --outstanding_; }
  /// It will not: ITE, and the wait at work, if any, is given up. REQUIRES: one is outstanding.
  /// [IQU-07]
  std::optional<IommuInterrupt> device_timed_out(Bdf source, IommuRegisters& registers);

  /// A wait is at work and nothing before it is left. page_requests_drained: what PD asks for.
  bool wait_is_complete(bool page_requests_drained) const {
    return is_waiting_ && outstanding_ == 0 &&
           (page_requests_drained || !wait_.drains_page_requests);
  }
  const InvalidationWait& wait() const { return wait_; }
  /// Its status, if it has one, is in memory: the head moves on. [IQU-04, IQU-05]
  std::optional<IommuInterrupt> finish_wait(IommuRegisters& registers);

  bool is_waiting() const { return is_waiting_; }
  /// With a command or a wait.
  bool is_busy() const { return is_at_work_ || is_waiting_; }
  unsigned outstanding() const { return outstanding_; }

 private:
  std::optional<IommuInterrupt> stop(DescriptorError error, IommuRegisters& registers);
  static void advance(IommuRegisters& registers);

  ReservedTailBit tail_bit_;
  bool is_at_work_ = false, is_waiting_ = false;
  bool was_stopped_ = false, has_timed_out_ = false;  // since the fetch began
  unsigned outstanding_ = 0;
  InvalidationWait wait_;
};

}  // namespace flitwise
