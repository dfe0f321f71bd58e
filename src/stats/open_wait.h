// SPDX-License-Identifier: Apache-2.0
/// A wait that has begun and not ended.
#pragma once

#include <algorithm>

#include "stats/wait_book.h"

namespace flitwise {

class OpenWait {
 public:
  /// Somebody waits, from `when` on; nothing new where one waits already since before.
  void begin(Time when) { since_ = std::min(since_, when); }
  /// Whoever waits does so no longer.
  void end(WaitBook& book, Time now) {
    if (is_open()) {
      book.add(since_, now);
      since_ = Time::never();
    }
  }
  void set(bool waits, WaitBook& book, Time now) { waits ? begin(now) : end(book, now); }
  bool is_open() const { return since_ != Time::never(); }
  Time since() const { return since_; }  ///< never: nobody waits

 private:
  Time since_ = Time::never();
};

}  // namespace flitwise
