// SPDX-License-Identifier: Apache-2.0
/// The queue in which page requests wait for software: records, overflow and events. [IOM-8.1]
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "flitwise/config.h"
#include "flitwise/ids.h"
#include "iommu/registers.h"

namespace flitwise {

inline constexpr unsigned kPageRequestRecordBytes = 32;

/// A page request as it reaches the agent.
struct QueuedPageRequest {
  Bdf source;
  OptionalId<Pasid> pasid;
  std::uint64_t address = 0;  ///< bits 63:12
  bool read = false, write = false, execute = false, privileged = false;
  bool is_last = false;     ///< L: the last of its group
  std::uint16_t group = 0;  ///< PRGI, 9 bits

  /// No request: nothing with this PASID comes after it, and no response is expected. [PRI-06]
  bool is_stop_marker() const { return is_last && !read && !write && pasid.has_value(); }
};
using PageRequestRecord = std::array<std::uint8_t, kPageRequestRecordBytes>;
PageRequestRecord encode_page_request(const QueuedPageRequest& request);
/// As software reads it; none if it is no page request.
std::optional<QueuedPageRequest> decode_page_request(const std::uint8_t* record);

enum class PageRequestAction : std::uint8_t {
  kRecord,          ///< write a record, then tell written() or write_failed()
  kRespondSuccess,  ///< answer the group at once, without software
  kRespondInvalid,
  kRespondFailure,
  kDrop,  ///< without an answer: an earlier part of a group, or by policy
};

class PageRequestQueue {
 public:
  struct Admission {
    PageRequestAction action = PageRequestAction::kDrop;
    std::uint64_t address = 0;                ///< kRecord: where
    std::optional<IommuInterrupt> interrupt;  ///< overflow
  };

  explicit PageRequestQueue(PageRequestOverflow overflow) : overflow_(overflow) {}

  /// A request whose context allows it. Its page has been invalidated in the IOTLB already.
  /// [IOM-8.2]
  Admission admit(const QueuedPageRequest& request, bool is_enabled, IommuRegisters& registers);
  /// The oldest record that was admitted is in memory. REQUIRES: one was.
  std::optional<IommuInterrupt> written(IommuRegisters& registers);
  /// Memory refused it: the answer to the request. [PRI-14]
  PageRequestAction write_failed(const QueuedPageRequest& request, IommuRegisters& registers);

  /// Records on their way to memory.
  unsigned in_flight() const { return in_flight_; }
  /// Nothing on its way and nothing that software has not taken: what PD waits for. [IQU-15]
  bool is_drained(const IommuRegisters& registers) const;
  std::uint64_t dropped() const { return dropped_; }

 private:
  PageRequestAction refuse(const QueuedPageRequest& request);

  PageRequestOverflow overflow_;
  unsigned in_flight_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace flitwise
