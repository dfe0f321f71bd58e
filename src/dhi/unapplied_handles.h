// SPDX-License-Identifier: Apache-2.0
/// Handles whose ALLOC is under way: the device does not know yet that the host has them. The
/// answer of the host tells (ALLOC_ACK), or the completion of a read that was sent behind the
/// ALLOC. [DHI D8]
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dhi/handle_types.h"

namespace flitwise {

class UnappliedHandles {
 public:
  struct One {
    Dhi dhi;
    std::uint32_t residency;
  };
  bool empty() const { return all_.empty(); }
  void clear() {
    all_.clear();
    covered_ = 0;
  }
  void add(Dhi dhi, std::uint32_t residency) { all_.push_back({dhi, residency}); }
  /// The oldest of the handle: answers come in the order of the ALLOCs.
  std::optional<One> find(Dhi dhi) const {
    const auto one = position(dhi);
    return one == all_.end() ? std::nullopt : std::optional<One>(*one);
  }
  /// The oldest of the handle is forgotten. REQUIRES: there is one.
  void remove(Dhi dhi) {
    const auto one = position(dhi);
    covered_ -= static_cast<std::size_t>(one - all_.begin()) < covered_ ? 1 : 0;
    all_.erase(one);
  }
  /// A read goes out that covers all of them, or none.
  void flush_sent(bool covers_all) { covered_ = covers_all ? all_.size() : 0; }
  /// It has come back: `apply(one)` for each that it covered, and these are forgotten.
  template <class Apply>
  void flush_done(Apply apply) {
    const auto covered = all_.begin() + static_cast<std::ptrdiff_t>(covered_);
    std::for_each(all_.begin(), covered, apply);
    all_.erase(all_.begin(), covered);
    covered_ = 0;
  }

 private:
  std::vector<One>::const_iterator position(Dhi dhi) const {
    return std::find_if(all_.begin(), all_.end(), [&](const One& one) { return one.dhi == dhi; });
  }

  std::vector<One> all_;     // oldest first
  std::size_t covered_ = 0;  // the first so many, by the flush that is out
};

}  // namespace flitwise
