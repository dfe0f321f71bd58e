// SPDX-License-Identifier: Apache-2.0
/// What an agent keeps books of: identifiers that are out, records that come and go, lines, and
/// messages that make no sense.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "common/open_table.h"
#include "common/slot_list.h"
#include "flitwise/cxl.h"

namespace flitwise {

/// CQID, UQID, Tag or BITag of what is outstanding: each is out once at most. [COH-1.3]
class IdPool {
 public:
  /// Ids 0 to `size` - 1.
  explicit IdPool(std::uint32_t size) : is_out_(size, false) {
    free_.reserve(size);
    for (std::uint32_t id = size; id > 0; --id) {
      free_.push_back(static_cast<std::uint16_t>(id - 1));
    }
  }

  std::size_t available() const { return free_.size(); }
  std::size_t outstanding() const { return is_out_.size() - free_.size(); }
  bool is_out(std::uint16_t id) const { return id < is_out_.size() && is_out_[id]; }

  /// REQUIRES: available() > 0.
  std::uint16_t acquire() {
    const std::uint16_t id = free_.back();
    free_.pop_back();
    is_out_[id] = true;
    return id;
  }
  /// REQUIRES: is_out(id).
  void release(std::uint16_t id) {
    is_out_[id] = false;
    free_.push_back(id);
  }

 private:
  std::vector<std::uint16_t> free_;
  std::vector<bool> is_out_;
};

inline std::uint64_t spread_line(const std::uint64_t& line) {
  return line / kCxlLineBytes * kGoldenSpread;
}
/// A record for each line that has one, found by address.
template <class Record>
using LineTable = OpenTable<std::uint64_t, Record, spread_line>;

/// Messages that an agent cannot make sense of: counted by kind, never a failure. [COH-7.1]
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
