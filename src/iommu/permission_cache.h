// SPDX-License-Identifier: Apache-2.0
/// What the agent has read of permission tables: words that name permissions, and apart from them
/// the words above that name tables. [SEC-03] [IOM-6.9]
#pragma once

#include <cstdint>
#include <optional>

#include "ats/tagged_cache.h"
#include "iommu/invalidation_descriptor.h"
#include "iommu/permission_table.h"
#include "iommu/walk.h"

namespace flitwise {

/// A word of the table of one domain. The address of the table is part of it: a table that takes
/// the place of another is another.
struct PermissionKey {
  std::uint16_t domain = 0;
  std::uint64_t table = 0;   ///< its top, physical
  std::uint64_t number = 0;  ///< physical address >> bits
  std::uint8_t bits = 0;     ///< log2 of the range
  std::uint64_t hash() const { return mix(number + mix(table | domain) + bits); }
  std::uint64_t index() const { return number + (table >> kPageBits); }
  friend bool operator==(const PermissionKey& a, const PermissionKey& b) {
    return a.number == b.number && a.bits == b.bits && a.table == b.table && a.domain == b.domain;
  }
};

class PermissionCache {
 public:
  /// shape: of the words that name permissions, and of those that name tables, each.
  explicit PermissionCache(const CacheShape& shape, std::uint64_t seed = 1)
      : leaves_(shape, seed), tables_(shape, seed + 1) {}

  /// Goes as far with the walk as is known. True: it is done. A permission that is missing here may
  /// have been given since: then memory decides. [IOM-6.9]
  bool advance(Walk& walk);
  /// Takes in what a finished walk has read and may be kept.
  void keep(const Walk& walk);
  unsigned invalidate(const PermissionInvalidation& command);
  unsigned invalidate_all();

  bool exists() const { return leaves_.capacity() > 0; }
  unsigned size() const { return leaves_.size() + tables_.size(); }

 private:
  using Words = TaggedCache<PermissionKey, PermissionWord>;
  Words leaves_, tables_;
  unsigned large_levels_ = 0;  // bit n: a leaf of level n may be there
};

/// True: the permission that a finished walk of the same page has read ends this one too.
bool use_permission_of(const Walk& finished, Walk& walk);

}  // namespace flitwise
