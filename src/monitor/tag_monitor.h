// SPDX-License-Identifier: Apache-2.0
/// Watches that no tag of a function is used again while its request waits for completions.
/// [LNK-9.8]
#pragma once

#include "monitor/request_table.h"
#include "monitor/violation_log.h"

namespace flitwise {

class TagMonitor {
 public:
  /// `timeout`: after that long a requester has given up on a request. [LNK-9.18]
  TagMonitor(Reporter reporter, RequestTable& table, Time timeout)
      : reporter_(reporter), table_(table), timeout_(timeout) {}

  /// A non-posted request that the model made goes on the wire for the first time.
  void sent(const Packet& packet, Time now);

 private:
  Reporter reporter_;
  RequestTable& table_;
  Time timeout_;
};

}  // namespace flitwise
