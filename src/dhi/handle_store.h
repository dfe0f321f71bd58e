// SPDX-License-Identifier: Apache-2.0
/// How long a handle table takes to answer: SRAM, or private DRAM behind a cache of recent entries.
/// [DHI D3]
#pragma once

#include <cstdint>
#include <optional>

#include "common/slot_list.h"
#include "dhi/handle_types.h"
#include "flitwise/config.h"
#include "flitwise/time.h"

namespace flitwise {

/// Latency of one end's table; what stands in it is somebody else's matter. All functions are O(1).
class HandleStore {
 public:
  HandleStore(const HandleStorageConfig& config, HandleRange range);

  /// Access by index, a write of the entry included. REQUIRES: range contains dhi.
  Time access_by_handle(Dhi dhi);
  /// Associative search. `found` is the handle it ends with; a search in vain looks at the DRAM
  /// too.
  Time search_by_domain(OptionalId<Dhi> found);

  std::uint64_t hits() const { return hits_; }      ///< answered by SRAM or by the cache
  std::uint64_t misses() const { return misses_; }  ///< went to the DRAM
  void reset_statistics() { hits_ = misses_ = 0; }

 private:
  Slot slot_of(Dhi dhi) const;
  /// kNoSlot: the search found none.
  Time fetch(Slot slot);

  HandleStorageConfig config_;
  HandleRange range_;
  SlotList cached_;  // least recent first
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

}  // namespace flitwise
