// SPDX-License-Identifier: Apache-2.0
/// Where the monitors of one link write down what they saw: all are counted, the first ones kept.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "flitwise/packet.h"
#include "flitwise/result.h"

namespace flitwise {

/// A rule that a monitor watches: its id in docs/rules and what was broken, in one sentence.
struct MonitoredRule {
  const char* id;
  const char* sentence;
};

class ViolationLog {
 public:
  /// Called for each violation, with the rule's id and the packet that broke it.
  using Listener = std::function<void(Time, const char* rule, const Packet&)>;

  explicit ViolationLog(std::string link) : link_(std::move(link)) {}
  void listen(Listener listener) { listener_ = std::move(listener); }

  void add(const MonitoredRule& rule, bool is_up, Time time, const Packet& packet,
           std::string other);

  const std::string& link() const { return link_; }
  std::uint64_t count() const { return count_; }
  const std::vector<Violation>& first() const { return first_; }

 private:
  static constexpr std::size_t kKept = 16;
  std::string link_;
  Listener listener_;
  std::uint64_t count_ = 0;
  std::vector<Violation> first_;
};

/// The log as one direction of a link sees it.
class Reporter {
 public:
  Reporter(ViolationLog& log, bool is_up) : log_(&log), is_up_(is_up) {}
  void report(const MonitoredRule& rule, Time time, const Packet& packet, std::string other) const {
    log_->add(rule, is_up_, time, packet, std::move(other));
  }

 private:
  ViolationLog* log_;
  bool is_up_;
};

}  // namespace flitwise
