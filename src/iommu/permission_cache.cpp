// SPDX-License-Identifier: Apache-2.0
// Tags and invalidation scopes of cached permissions.
#include "iommu/permission_cache.h"

#include <algorithm>

namespace flitwise {
namespace {

PermissionKey key_of(const PasidEntry& entry, std::uint64_t address, unsigned level) {
  const unsigned bits = permission_word_bits(level);
  return {entry.domain(), entry.permission_table(), address >> bits,
          static_cast<std::uint8_t>(bits)};
}

bool overlap(const PermissionKey& key, std::uint64_t address, unsigned bits) {
  const unsigned wider = std::max<unsigned>(key.bits, bits);
  return (key.number << key.bits) >> wider == address >> wider;
}

}  // namespace

bool PermissionCache::advance(Walk& walk) {
  if (!walk.is_at_permissions()) {
    return walk.is_done();
  }
  const PasidEntry& entry = walk.pasid_entry();
  const std::uint64_t address = walk.request().address;
  for (unsigned level = 1; level <= kMaxPermissionLevels; ++level) {
    const bool may_be_there = level == 1 || (large_levels_ >> level & 1U) != 0;
    const PermissionWord* const word =
        may_be_there ? leaves_.find(key_of(entry, address, level)) : nullptr;
    if (word != nullptr && walk.use_permission(*word)) {
      return true;
    }
  }
  for (unsigned level = 2; level <= kMaxPermissionLevels; ++level) {
    if (const PermissionWord* const word = tables_.find(key_of(entry, address, level))) {
      walk.use_permission(*word);
      break;
    }
  }
  return walk.is_done();
}

bool use_permission_of(const Walk& finished, Walk& walk) {
  const unsigned count = finished.permission_count();
  return walk.is_at_permissions() && count > 0 && finished.permission(count - 1).is_leaf() &&
         walk.use_permission(finished.permission(count - 1));
}

// What is absent or damaged is read again each time.
void PermissionCache::keep(const Walk& walk) {
  for (unsigned i = 0; i < walk.permission_count(); ++i) {
    const PermissionWord& word = walk.permission(i);
    Words& words = word.is_leaf() ? leaves_ : tables_;
    words.insert(key_of(walk.pasid_entry(), walk.request().address, word.level), word);
    if (word.is_leaf()) {
      large_levels_ |= 1U << word.level;
    }
  }
}

unsigned PermissionCache::invalidate(const PermissionInvalidation& command) {
  using Granularity = PermissionInvalidation::Granularity;
  if (command.granularity == Granularity::kGlobal) {
    return invalidate_all();
  }
  const bool is_range = command.granularity == Granularity::kRange;
  const unsigned bits = kPageBits + command.address_mask;
  const auto is_stale = [&](const PermissionKey& key, const PermissionWord&) {
    return (command.all_domains || key.domain == command.domain) &&
           (!is_range || overlap(key, command.address, bits));
  };
  return leaves_.invalidate_if(is_stale) + tables_.invalidate_if(is_stale);
}

unsigned PermissionCache::invalidate_all() {
  large_levels_ = 0;
  return leaves_.invalidate_all() + tables_.invalidate_all();
}

}  // namespace flitwise
