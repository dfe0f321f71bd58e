// SPDX-License-Identifier: Apache-2.0
/// Watches that each completion answers a request that waits, with the right bytes: Byte Count,
/// Lower Address, RCB, status. [LNK-9.9] to [LNK-9.13] [LNK-9.19] [LNK-9.21]
#pragma once

#include "monitor/request_table.h"
#include "monitor/violation_log.h"

namespace flitwise {

/// Watches that no tag of a function is used again while its request waits for completions.
/// [LNK-9.8]
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

class CompletionMonitor {
 public:
  /// `table`: of the requests that go the other way. `rcb`: of the completer, in bytes.
  CompletionMonitor(Reporter reporter, RequestTable& table, std::uint32_t rcb)
      : reporter_(reporter), table_(table), rcb_(rcb) {}

  /// A completion that the model made has been delivered to the requester's end.
  void delivered(const Packet& packet, Time now);

 private:
  const MonitoredRule* broken_rule(AwaitedRequest& request, const Tlp& tlp) const;
  const MonitoredRule* broken_rule_of_translation(AwaitedRequest& request, const Tlp& tlp) const;
  const MonitoredRule* broken_rule_of_data(const AwaitedRequest& request, const Tlp& tlp) const;
  static std::uint32_t bytes_in(const AwaitedRequest& request, const Tlp& tlp);

  Reporter reporter_;
  RequestTable& table_;
  std::uint32_t rcb_;
};

}  // namespace flitwise
