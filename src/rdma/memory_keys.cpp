// SPDX-License-Identifier: Apache-2.0
#include "rdma/memory_keys.h"

#include <algorithm>

namespace flitwise {

std::optional<std::uint32_t> MemoryKeys::add(const MemoryRegion& region) {
  const bool writes_remotely = (region.rights & (kRemoteWrite | kRemoteAtomic)) != 0;
  const auto place = std::find_if(places_.begin() + static_cast<std::ptrdiff_t>(first_free_),
                                  places_.end(), [](const Place& one) { return !one.is_used; });
  if (place == places_.end() || region.bytes > 0 - region.base - 1 ||
      (writes_remotely && (region.rights & kLocalWrite) == 0)) {
    return std::nullopt;
  }
  first_free_ = static_cast<std::size_t>(place - places_.begin()) + 1;
  *place = {region, static_cast<std::uint8_t>(place->tag + 1), true, true};
  return static_cast<std::uint32_t>(place - places_.begin()) << 8 | place->tag;
}

bool MemoryKeys::remove(std::uint32_t key) {
  if (place_of(key) == nullptr) {
    return false;
  }
  places_[key >> 8].is_used = false;
  first_free_ = std::min<std::size_t>(first_free_, key >> 8);
  return true;
}

bool MemoryKeys::invalidate(std::uint32_t key, std::uint32_t domain) {
  const Place* const place = place_of(key);
  if (place == nullptr || !place->is_valid || place->region.domain != domain) {
    return false;
  }
  places_[key >> 8].is_valid = false;
  return true;
}

bool MemoryKeys::allow(std::uint32_t domain, const MemoryView& view, RdmaRight right) const {
  return std::all_of(view.begin(), view.end(),
                     [&](const Sge& piece) { return allow(domain, piece, right); });
}

}  // namespace flitwise
