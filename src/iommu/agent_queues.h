// SPDX-License-Identifier: Apache-2.0
/// The queues of the agent in memory: invalidations that software asks for, and page requests that
/// wait for software.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "ats/ats_messages.h"
#include "flitwise/config.h"
#include "iommu/invalidation_descriptor.h"
#include "iommu/registers.h"

namespace flitwise {

/// Which descriptor the agent fetches next, what it waits for, and what stops it. [IOM-5.10]
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

inline constexpr unsigned kPageRequestRecordBytes = 32;

using PageRequestRecord = std::array<std::uint8_t, kPageRequestRecordBytes>;
PageRequestRecord encode_page_request(const PageRequest& request);
/// As software reads it; none if it is no page request.
std::optional<PageRequest> decode_page_request(const std::uint8_t* record);

/// The answer to a group, without software; a group is answered by its last request alone, and a
/// Stop Marker never.
inline std::optional<PrgCode> answer_to(const PageRequest& request, PrgCode code) {
  return request.is_last && !request.is_stop_marker() ? std::optional(code) : std::nullopt;
}

/// Records, overflow and events. [IOM-8.1]
class PageRequestQueue {
 public:
  struct Admission {
    /// Where to write a record; written() or write_failed() follows. None: it is dropped.
    std::optional<std::uint64_t> record;
    std::optional<PrgCode> answer{};
    std::optional<IommuInterrupt> interrupt{};  ///< overflow
  };

  explicit PageRequestQueue(PageRequestOverflow overflow) : overflow_(overflow) {}

  /// A request whose context allows it. Its page has been invalidated in the IOTLB already.
  /// [IOM-8.2]
  Admission admit(const PageRequest& request, bool is_enabled, IommuRegisters& registers);
  /// The oldest record that was admitted is in memory. REQUIRES: one was.
  std::optional<IommuInterrupt> written(IommuRegisters& registers);
  /// Memory refused it: the answer to the request. [PRI-14]
  std::optional<PrgCode> write_failed(const PageRequest& request, IommuRegisters& registers);

  /// Records on their way to memory.
  unsigned in_flight() const { return in_flight_; }
  /// Nothing on its way and nothing that software has not taken: what PD waits for. [IQU-15]
  bool is_drained(const IommuRegisters& registers) const;
  std::uint64_t dropped() const { return dropped_; }

 private:
  void take_slot(IommuRegisters& registers);
  std::optional<PrgCode> refuse(const PageRequest& request);

  PageRequestOverflow overflow_;
  unsigned in_flight_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace flitwise
