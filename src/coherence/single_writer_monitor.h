// SPDX-License-Identifier: Apache-2.0
/// Watches that a line has one owner or any number of sharers, never an owner and somebody else.
/// It is told of states alone and shares no rule with the agents that it watches. [COH-1.2]
#pragma once

#include <cstdint>
#include <vector>

#include "coherence/agent_books.h"
#include "coherence/cxl_line.h"

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
  void told(std::uint8_t agent, std::uint64_t line, LineState state) {
    const std::uint32_t bit = std::uint32_t{1} << agent;
    Copies& copies = copies_[line];
    copies.owners &= ~bit;
    copies.sharers &= ~bit;
    copies.modified &= ~bit;
    const bool meets_owner = copies.owners != 0 && state != LineState::kInvalid;
    if (meets_owner || (is_owned(state) && copies.sharers != 0)) {
      report(agent, line, state, copies);
    }
    if (is_owned(state)) {
      copies.owners |= bit;
      copies.modified |= state == LineState::kModified ? bit : 0;
    } else if (state == LineState::kShared) {
      copies.sharers |= bit;
    } else if (copies.owners == 0 && copies.sharers == 0) {
      copies_.erase(line);
    }
  }

 private:
  struct Copies {
    std::uint32_t owners = 0, sharers = 0;  // bit i: agent i
    std::uint32_t modified = 0;             // of the owners
  };
  void report(std::uint8_t agent, std::uint64_t line, LineState state, const Copies& others) {
    ++count_;
    if (first_.size() == kKept) {
      return;
    }
    const std::uint32_t holders = others.owners != 0 ? others.owners : others.sharers;
    const auto other = static_cast<std::uint8_t>(__builtin_ctz(holders));
    LineState other_state = others.owners != 0 ? LineState::kExclusive : LineState::kShared;
    if (((others.modified >> other) & 1U) != 0) {
      other_state = LineState::kModified;
    }
    first_.push_back({"COH-1.2", line, agent, other, state, other_state});
  }

  LineTable<Copies> copies_;
  std::uint64_t count_ = 0;
  std::vector<SingleWriterViolation> first_;
};

}  // namespace flitwise
