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
  if (cached_.contains(slot)) {
    ++hits_;
    cached_.move_to_back(slot);
    return Time{};
  }
  ++misses_;
  cached_.push_back(slot);
  if (cached_.size() > config_.cache_entries) {
    cached_.erase(*cached_.front());
  }
  return config_.timing.dram;
}

Time HandleStore::access_by_handle(Dhi dhi) {
  FLITWISE_CHECK(range_.contains(dhi), fmt::format("handle {} is not in this table", to_int(dhi)));
  return config_.timing.by_handle + fetch(static_cast<Slot>(to_int(dhi) - to_int(range_.lower)));
}

Time HandleStore::search_by_domain(OptionalId<Dhi> found) {
  if (found) {
    FLITWISE_CHECK(range_.contains(*found),
                   fmt::format("handle {} is not in this table", to_int(*found)));
    return config_.timing.by_domain +
           fetch(static_cast<Slot>(to_int(*found) - to_int(range_.lower)));
  }
  if (config_.storage == HandleStorage::kSram) {
    ++hits_;
    return config_.timing.by_domain;
  }
  ++misses_;
  return config_.timing.by_domain + config_.timing.dram;
}

}  // namespace flitwise
