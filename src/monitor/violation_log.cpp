// SPDX-License-Identifier: Apache-2.0
// Violations of one link.
#include "monitor/violation_log.h"

#include <fmt/format.h>

#include "trace/packet_note.h"

namespace flitwise {

std::string text_of(const Violation& violation) {
  return fmt::format("{} {} at {} ns: {}: {}: {} against {}\n", violation.link,
                     violation.is_up ? "up" : "down", violation.time.ns(), violation.rule,
                     violation.sentence, violation.packet, violation.other);
}

std::string text_of(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& one : violations) {
    text += text_of(one);
  }
  return text;
}

void ViolationLog::add(const MonitoredRule& rule, bool is_up, Time time, const Packet& packet,
                       std::string other) {
  ++count_;
  if (listener_) {
    listener_(Kind::kViolation, time, rule.id, packet, other);
  }
  if (first_.size() < kKept) {
    first_.push_back(
        {rule.id, rule.sentence, link_, is_up, time, text_of(packet), std::move(other)});
  }
}

void ViolationLog::warn(const MonitoredRule& rule, Time time, const Packet& packet) {
  ++warnings_[rule.id];
  if (listener_) {
    listener_(Kind::kWarning, time, rule.id, packet, "");
  }
}

}  // namespace flitwise
