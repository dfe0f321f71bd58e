// SPDX-License-Identifier: Apache-2.0
/// Messages that an agent cannot make sense of: counted by kind, never a failure. [COH-7.1]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace flitwise {

enum class BadMessage : std::uint8_t {
  kWrongChannel,   ///< not one that this agent receives
  kUnknownOpcode,  ///< reserved, or none that this agent knows
  kUnknownId,      ///< nothing is outstanding under this CQID, UQID, Tag or BITag
  kWrongAnswer,    ///< the id is outstanding, but waits for something else, or again
  kIdInUse,        ///< a request under an id that is outstanding already
  kBadAddress,     ///< not a multiple of 64, or not of this agent
  kSecondSnoop,    ///< a snoop of a line whose former snoop is not answered yet
  kUnawaitedData,  ///< data for no header, or behind an answer that has none
};
inline constexpr std::size_t kBadMessages = 8;

class BadMessageCounts {
 public:
  std::uint64_t operator[](BadMessage kind) const {
    return counts_[static_cast<std::size_t>(kind)];
  }
  std::uint64_t total() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
  }
  void add(BadMessage kind) { ++counts_[static_cast<std::size_t>(kind)]; }
  /// Returns is_bad.
  bool add_if(bool is_bad, BadMessage kind) {
    counts_[static_cast<std::size_t>(kind)] += is_bad ? 1 : 0;
    return is_bad;
  }

 private:
  std::array<std::uint64_t, kBadMessages> counts_{};
};

}  // namespace flitwise
