// SPDX-License-Identifier: Apache-2.0
/// Where the monitors of one link write down what they saw: all are counted, the first ones kept.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
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
  /// A warning: a rule that says "should", which breaks no run. [PRI-33]
  enum class Kind : std::uint8_t { kViolation, kWarning };
  /// Called for each of them, with the rule's id, the packet that broke it and, of a violation,
  /// what that goes against.
  using Listener =
      std::function<void(Kind, Time, const char* rule, const Packet&, const std::string& other)>;

  explicit ViolationLog(std::string link) : link_(std::move(link)) {}
  void listen(Listener listener) { listener_ = std::move(listener); }

  void add(const MonitoredRule& rule, bool is_up, Time time, const Packet& packet,
           std::string other);
  void warn(const MonitoredRule& rule, Time time, const Packet& packet);

  const std::string& link() const { return link_; }
  std::uint64_t count() const { return count_; }
  const std::vector<Violation>& first() const { return first_; }
  /// Warnings by the id of their rule.
  const std::map<std::string, std::uint64_t>& warnings() const { return warnings_; }

 private:
  static constexpr std::size_t kKept = 16;
  std::string link_;
  Listener listener_;
  std::uint64_t count_ = 0;
  std::vector<Violation> first_;
  std::map<std::string, std::uint64_t> warnings_;
};

/// The log as one direction of a link sees it.
class Reporter {
 public:
  Reporter(ViolationLog& log, bool is_up) : log_(&log), is_up_(is_up) {}
  void report(const MonitoredRule& rule, Time time, const Packet& packet, std::string other) const {
    log_->add(rule, is_up_, time, packet, std::move(other));
  }
  void warn(const MonitoredRule& rule, Time time, const Packet& packet) const {
    log_->warn(rule, time, packet);
  }

 private:
  ViolationLog* log_;
  bool is_up_;
};

}  // namespace flitwise
