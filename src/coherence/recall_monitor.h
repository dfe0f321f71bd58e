// SPDX-License-Identifier: Apache-2.0
/// Watches that no cache has a line of a recalled page by a request that came before the recall. It
/// is told of states by the caches and of grants by their home, and shares no rule with them.
/// [COH-3.14]
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "coherence/agent_books.h"
#include "coherence/cxl_line.h"

namespace flitwise {

class RecallMonitor {
 public:
  static constexpr std::uint8_t kMaxAgents = 32;
  /// Recalls that are over and still known: what is granted behind more of them is late by more
  /// than any request is at its home.
  static constexpr std::size_t kRemembered = 16;

  /// The state of the line is now this in this agent. False: it was to be recalled, and that is
  /// over. REQUIRES: agent < kMaxAgents.
  bool told(std::uint8_t agent, std::uint64_t line, LineState state) {
    const std::uint64_t key = key_of(agent, line);
    Held& held = held_[key];
    held.is_there = state != LineState::kInvalid;
    const bool is_right = !held.is_there || !held.is_late;
    held.is_coming = held.is_coming && !held.is_there;
    held.is_late = held.is_late && held.is_coming;
    if (!held.is_there && !held.is_coming) {
      held_.erase(key);
    }
    return is_right;
  }

  /// The home grants the agent the line, for a request with this place among all that have come.
  /// False: it is too late.
  bool granted(std::uint8_t agent, std::uint64_t line, std::uint64_t arrival) {
    Held& held = held_[key_of(agent, line)];
    held.arrival = arrival;
    held.is_coming = true;
    held.is_late = false;
    return std::none_of(over_.begin(), over_.end(), [&](const Recall& one) {
      return arrival < one.before && line - one.from < one.bytes;
    });
  }

  struct Left {
    std::uint8_t agent;
    std::uint64_t line;  ///< the lowest
  };
  /// Lines of these bytes are recalled from all whose requests came before this place. What is
  /// left; of what is still coming told() says so.
  std::optional<Left> recalled(std::uint64_t from, std::uint64_t bytes, std::uint64_t before) {
    over_[next_++ % kRemembered] = {from, bytes, before};
    std::uint64_t first = ~std::uint64_t{0};
    held_.for_each([&](std::uint64_t key, Held& held) {
      const bool is_left = held.arrival < before && key - from < bytes;
      first = is_left && held.is_there ? std::min(first, key) : first;
      held.is_late = held.is_late || (is_left && held.is_coming);
    });
    return ~first == 0 ? std::nullopt
                       : std::optional<Left>({static_cast<std::uint8_t>(first % kCxlLineBytes),
                                              first / kCxlLineBytes * kCxlLineBytes});
  }

 private:
  struct Held {
    std::uint64_t arrival = 0;  // of the request that it was granted for last
    bool is_there = false;      // the agent has it
    bool is_coming = false;     // it was granted, and the agent has not said so yet
    bool is_late = false;       // and will say so behind the end of a recall
  };
  struct Recall {
    std::uint64_t from = 0, bytes = 0, before = 0;
  };
  static_assert(kMaxAgents < kCxlLineBytes);
  static std::uint64_t key_of(std::uint8_t agent, std::uint64_t line) { return line + agent; }

  LineTable<Held> held_;  // by line and agent
  std::array<Recall, kRemembered> over_{};
  std::size_t next_ = 0;
};

}  // namespace flitwise
