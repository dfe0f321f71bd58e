// SPDX-License-Identifier: Apache-2.0
/// How long a handle table takes to answer: SRAM, or private DRAM behind a cache of recent entries.
/// [DHI D3]
#pragma once

#include <fmt/format.h>

#include "common/slot_list.h"
#include "dhi/handle_types.h"
#include "flitwise/config.h"
#include "flitwise/error.h"
#include "flitwise/time.h"

namespace flitwise {

/// Latency of one end's table; what stands in it is somebody else's matter. All functions are O(1).
class HandleStore {
 public:
  HandleStore(const HandleStorageConfig& config, HandleRange range)
      : config_(config), range_(range), cached_(range.size()) {}

  /// Access by index, a write of the entry included. REQUIRES: range contains dhi.
  Time access_by_handle(Dhi dhi) { return config_.timing.by_handle + fetch(slot_of(dhi)); }
  /// Associative search. `found` is the handle it ends with; a search in vain looks at the DRAM
  /// too.
  Time search_by_domain(OptionalId<Dhi> found) {
    return config_.timing.by_domain + fetch(found ? slot_of(*found) : kNoSlot);
  }

 private:
  Slot slot_of(Dhi dhi) const {
    FLITWISE_CHECK(range_.contains(dhi),
                   fmt::format("handle {} is not in this table", to_int(dhi)));
    return static_cast<Slot>(to_int(dhi) - to_int(range_.lower));
  }
  /// kNoSlot: the search found none.
  Time fetch(Slot slot) {
    if (config_.storage == HandleStorage::kSram) {
      return Time{};
    }
    if (slot != kNoSlot && cached_.contains(slot)) {
      cached_.move_to_back(slot);
      return Time{};
    }
    if (slot != kNoSlot) {
      cached_.push_back(slot);
      if (cached_.size() > config_.cache_entries) {
        cached_.erase(*cached_.front());
      }
    }
    return config_.timing.dram;
  }

  HandleStorageConfig config_;
  HandleRange range_;
  SlotList cached_;  // least recent first
};

}  // namespace flitwise
