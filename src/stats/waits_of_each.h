// SPDX-License-Identifier: Apache-2.0
/// Waits of many at one resource, each for itself.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "stats/open_wait.h"

namespace flitwise {

class WaitsOfEach {
 public:
  explicit WaitsOfEach(std::size_t count) : open_(count) {}
  /// Whether that one waits, from now on.
  void set(std::size_t which, bool waits, Time now) { open_[which].set(waits, book_, now); }
  void start_window(Time now) { book_.start_window(now); }
  WaitResult result(Resource resource) const { return book_.result(std::move(resource)); }

 private:
  std::vector<OpenWait> open_;
  WaitBook book_;
};

}  // namespace flitwise
