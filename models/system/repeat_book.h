// SPDX-License-Identifier: Apache-2.0
/// What a machine does again and again while nothing is completed: for the report of a run that
/// does not get on, and to end one whose link sends for ever what never arrives.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/host_node.h"
#include "system/fabric.h"

namespace flitwise {

class RepeatBook {
 public:
  RepeatBook(const Fabric& fabric, const Hosts& hosts) : fabric_(fabric), hosts_(hosts) {}

  /// model: a link has failed on which so many TLPs, flits and DLLPs were damaged or sent again
  /// while it delivered fewer TLPs and messages than this, however much simulated time that took.
  static constexpr std::uint64_t kMostWasted = 100'000, kFewestDelivered = 200;

  /// Repetitions are counted from here on, unless they are already.
  void begin();
  /// Something was completed: repetitions are counted anew. What a link has wasted is not: a
  /// request may be over because it has given up.
  void forget();
  /// A line for each repetition that was counted, the most frequent ones first.
  std::string text() const;
  /// The link that has sent too much in vain; empty where none has.
  std::string failed_link();

 private:
  using Counts = std::map<std::string, std::uint64_t>;
  struct Line {
    std::uint64_t delivered = 0, wasted = 0;
  };
  Counts counts() const;

  const Fabric& fabric_;
  const Hosts& hosts_;
  Counts before_;            // empty: not begun
  std::vector<Line> links_;  // from where on each is looked at
};

}  // namespace flitwise
