// SPDX-License-Identifier: Apache-2.0
/// Watches that a line has one owner or any number of sharers, never an owner and somebody else.
/// It is told of states alone and shares no rule with the agents that it watches. [COH-1.2]
#pragma once

#include <cstdint>
#include <vector>

#include "coherence/cxl_line.h"
#include "coherence/line_table.h"

namespace flitwise {

/// Two agents that must not hold a line at the same time.
struct SingleWriterViolation {
  const char* rule;
  std::uint64_t line;
  std::uint8_t agent, other;  ///< who came last, and whom it met
  LineState state, other_state;
};

class SingleWriterMonitor {
 public:
  static constexpr std::uint8_t kMaxAgents = 32;
  static constexpr std::size_t kKept = 16;

  std::uint64_t count() const { return count_; }
  /// The first kKept of them.
  const std::vector<SingleWriterViolation>& first() const { return first_; }

  /// The state of the line is now this in this agent. REQUIRES: agent < kMaxAgents.
  void told(std::uint8_t agent, std::uint64_t line, LineState state);

 private:
  struct Copies {
    std::uint32_t owners = 0, sharers = 0;  // bit i: agent i
    std::uint32_t modified = 0;             // of the owners
  };
  void report(std::uint8_t agent, std::uint64_t line, LineState state, const Copies& others);

  LineTable<Copies> copies_;
  std::uint64_t count_ = 0;
  std::vector<SingleWriterViolation> first_;
};

}  // namespace flitwise
