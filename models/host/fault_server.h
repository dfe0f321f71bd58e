// SPDX-License-Identifier: Apache-2.0
/// The thread of the driver that takes fault records, and has pages mapped that were missed.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "host/driver_parts.h"
#include "host/page_server.h"

namespace flitwise {

class FaultServer {
 public:
  /// `timed_out`: a device did not answer, and the agent has given its wait up. [IQU-07]
  FaultServer(DriverParts& driver, PageServer& pages, std::function<void()> timed_out)
      : driver_(driver), pages_(pages), timed_out_(std::move(timed_out)) {}

  /// The agent has something to report.
  void serve();

  bool is_quiet() const { return !is_serving_; }
  /// Faults of contexts that had ended.
  std::uint64_t requests_after_end() const { return requests_after_end_; }

 private:
  void records_taken(std::uint32_t status);
  void count(std::uint32_t status);
  void take_record(unsigned index, std::uint32_t status);
  void record_read(std::uint64_t low, std::uint64_t high);

  DriverParts& driver_;
  PageServer& pages_;
  const std::function<void()> timed_out_;
  bool is_serving_ = false;
  std::uint64_t requests_after_end_ = 0;
};

}  // namespace flitwise
