// SPDX-License-Identifier: Apache-2.0
/// Where the time of a TLP goes, hop by hop: means over every seventeenth of them, so that it costs
/// next to nothing, and falls in step with no turn of domains or banks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "flitwise/packet.h"
#include "flitwise/result.h"

namespace flitwise {

class HopMeans {
 public:
  /// A TLP, or a line of CXL, that is over at its last stamp.
  void record(const Packet& packet) {
    if (--left_ == 0) {
      left_ = kEach;
      add(packet);
    }
  }
  /// A row a hop that was reached, in the order of a request's life. What they take adds up to the
  /// mean from the first to the last.
  void report(const std::string& request, std::vector<HopResult>& rows) const {
    for (std::size_t hop = 1; hop < sums_.size(); ++hop) {
      if (reached_[hop] > 0) {
        rows.push_back({request, name_of(static_cast<Hop>(hop)), samples_, sums_[hop]});
      }
    }
  }

 private:
  static constexpr std::uint32_t kEach = 17;

  [[gnu::noinline]] void add(const Packet& packet) {
    ++samples_;
    Time before = packet.stamped(Hop::kIssue);
    for (std::size_t hop = 1; hop < sums_.size(); ++hop) {
      const Time at = packet.stamps[hop];
      if (at != kNotStamped && at >= before) {
        sums_[hop] += at - before;
        ++reached_[hop];
        before = at;
      }
    }
  }

  std::uint32_t left_ = 1;
  std::uint64_t samples_ = 0;
  std::array<Time, kHops> sums_{};  // since the hop before
  std::array<std::uint64_t, kHops> reached_{};
};

}  // namespace flitwise
