// SPDX-License-Identifier: Apache-2.0
/// The queue in which page requests wait for software: records, overflow and events. [IOM-8.1]
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "ats/ats_messages.h"
#include "flitwise/config.h"
#include "iommu/registers.h"

namespace flitwise {

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
