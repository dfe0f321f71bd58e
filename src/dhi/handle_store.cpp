// SPDX-License-Identifier: Apache-2.0
// Latency of a handle table. [DHI D3]
#include "dhi/handle_store.h"

#include <fmt/format.h>

#include "flitwise/error.h"

namespace flitwise {

HandleStore::HandleStore(const HandleStorageConfig& config, HandleRange range)
    : config_(config), range_(range), cached_(range.size()) {}

Time HandleStore::fetch(Slot slot) {
  if (config_.storage == HandleStorage::kSram) {
    ++hits_;
    return Time{};
  }
  if (slot != kNoSlot && cached_.contains(slot)) {
    ++hits_;
    cached_.move_to_back(slot);
    return Time{};
  }
  ++misses_;
  if (slot == kNoSlot) {
    return config_.timing.dram;
  }
  cached_.push_back(slot);
  if (cached_.size() > config_.cache_entries) {
    cached_.erase(*cached_.front());
  }
  return config_.timing.dram;
}

Time HandleStore::access_by_handle(Dhi dhi) {
  return config_.timing.by_handle + fetch(slot_of(dhi));
}

Time HandleStore::search_by_domain(OptionalId<Dhi> found) {
  return config_.timing.by_domain + fetch(found ? slot_of(*found) : kNoSlot);
}

Slot HandleStore::slot_of(Dhi dhi) const {
  FLITWISE_CHECK(range_.contains(dhi), fmt::format("handle {} is not in this table", to_int(dhi)));
  return static_cast<Slot>(to_int(dhi) - to_int(range_.lower));
}

}  // namespace flitwise
