// SPDX-License-Identifier: Apache-2.0
/// The thread of the driver that maps pages: for page requests, which it takes from their queue and
/// answers, and for whoever else wants one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "host/driver_parts.h"
#include "iommu/page_request_queue.h"

namespace flitwise {

class PageServer {
 public:
  using Index = DriverPages::Index;
  explicit PageServer(DriverParts& driver) : driver_(driver) {}

  /// There are records in the queue.
  void serve();
  /// Maps a page, unless it is mapped, about to be, or of a context that has ended.
  void map(Index page);
  /// It is no longer wanted by whoever marked it so, but mapped.
  void map_wanted(Index page);

  std::uint64_t requests_out() const { return requests_out_; }
  bool is_quiet() const { return !is_serving_ && requests_out_ == 0; }

 private:
  struct PageGroup {
    unsigned out = 0;  // requests that are not settled
    bool has_last = false, is_refused = false;
  };

  void take_records(std::uint32_t head, std::uint32_t tail);
  void look_for_overflow();
  void records_taken();
  void take_request(const PageRequest& request);
  bool is_refused(const PageRequest& request, std::optional<Index> page);
  void answer(const PageRequest& request, bool is_granted);

  DriverParts& driver_;
  bool is_serving_ = false, has_new_records_ = false;
  std::uint32_t head_ = 0;
  std::map<std::pair<std::uint16_t, std::uint16_t>, PageGroup> groups_;  // by function and index
  std::uint64_t requests_out_ = 0;                                       // taken and not answered
};

}  // namespace flitwise
