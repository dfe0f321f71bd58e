// SPDX-License-Identifier: Apache-2.0
/// Invalidate Requests that went down by a handle. The device takes one for the domain that has the
/// handle when it arrives; where that is another one by then, or none, its ALLOC or DEALLOC is on
/// the way up, and comes ahead of the Invalidate Completion. [DHI D21]
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "flitwise/ids.h"

namespace flitwise {

class NamedInvalidations {
 public:
  struct One {
    Bdf function;
    std::uint8_t itag = 0;
  };

  /// The next one of this function and ITag has to name its domain in full.
  void name_in_full(One one) { note(one, std::nullopt); }
  bool has_to_go_in_full(One one) const {
    return std::any_of(known_.begin(), known_.end(),
                       [one](const Known& known) { return is(known, one) && !known.dhi; });
  }
  /// One goes down, with a handle or in full. Whatever was out under its ITag is over.
  void sent(One one, std::optional<Dhi> dhi) {
    forget(one);
    if (dhi) {
      note(one, dhi);
    }
  }
  /// The host's entry of the handle goes: these went by it, and may not have been taken for the
  /// domain that they are about. Some may be over. They are forgotten.
  std::vector<One> strayed(Dhi dhi) {
    std::vector<One> gone;
    const auto went_by_it = [dhi](const Known& known) { return known.dhi == dhi; };
    for (const Known& known : known_) {
      if (went_by_it(known)) {
        gone.push_back(known.one);
      }
    }
    known_.erase(std::remove_if(known_.begin(), known_.end(), went_by_it), known_.end());
    return gone;
  }
  bool empty() const { return known_.empty(); }

 private:
  struct Known {
    One one;
    std::optional<Dhi> dhi;  // none: it has to go in full
  };
  static bool is(const Known& known, One one) {
    return known.one.function == one.function && known.one.itag == one.itag;
  }
  void forget(One one) {
    known_.erase(std::remove_if(known_.begin(), known_.end(),
                                [one](const Known& known) { return is(known, one); }),
                 known_.end());
  }
  void note(One one, std::optional<Dhi> dhi) {
    forget(one);
    known_.push_back({one, dhi});
  }

  std::vector<Known> known_;  // at most one for each ITag of each function
};

}  // namespace flitwise
