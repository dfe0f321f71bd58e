// SPDX-License-Identifier: Apache-2.0
/// The caches of the translation agent: their tags, what a walk leaves in them, and what each
/// invalidation removes. [IOM-6.3]
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "ats/tagged_cache.h"
#include "iommu/invalidation_descriptor.h"
#include "iommu/permission_table.h"
#include "iommu/walk.h"

namespace flitwise {

struct TranslationCacheShapes {
  CacheShape context, pasid, iotlb, paging, second_stage;
};

/// Whose translations: second-stage ones belong to a domain, the others to a PASID in it.
struct DomainTag {
  std::uint16_t domain = 0;
  TranslationType type = TranslationType::kNone;
  std::uint32_t pasid = 0;  ///< 0 for the second stage

  static DomainTag of(const PasidEntry& entry, Pasid pasid) {
    return {entry.domain(), entry.translation(),
            entry.translation() == TranslationType::kSecondStage ? 0 : to_int(pasid)};
  }
  std::uint64_t bits() const {
    return domain | std::uint64_t{pasid} << 16 |
           std::uint64_t{static_cast<std::uint8_t>(type)} << 40;
  }
  bool has_first_stage() const { return type != TranslationType::kSecondStage; }
};

struct PasidKey {
  Bdf source;
  Pasid pasid{};  ///< 0 for contexts
  std::uint64_t hash() const { return mix(source.value | std::uint64_t{to_int(pasid)} << 16); }
  std::uint64_t index() const { return std::uint64_t{source.value} + to_int(pasid); }
  friend bool operator==(PasidKey a, PasidKey b) {
    return a.source == b.source && a.pasid == b.pasid;
  }
};

/// A naturally aligned range of 2^bits bytes in somebody's addresses.
struct RangeKey {
  DomainTag tag;
  std::uint64_t number = 0;  ///< address >> bits
  std::uint8_t bits = kPageBits;
  std::uint64_t hash() const { return mix(number + mix(tag.bits() | std::uint64_t{bits} << 48)); }
  std::uint64_t index() const { return number + tag.domain + tag.pasid; }
  bool overlaps(std::uint64_t address, unsigned other_bits) const;
  friend bool operator==(const RangeKey& a, const RangeKey& b) {
    return a.number == b.number && a.bits == b.bits && a.tag.bits() == b.tag.bits();
  }
};

/// What a finished walk tells of its page, for further requests to it. REQUIRES: it came to a page,
/// or to the fault of one. keeps_absent: CM. [IOM-6.2]
std::optional<PageTranslation> page_of(const Walk& walk, bool keeps_absent);

class TranslationCaches {
 public:
  explicit TranslationCaches(const TranslationCacheShapes& shapes, std::uint64_t seed = 1);

  // Asking counts as a use; what is returned is valid until the next change.
  const ContextEntry* find_context(Bdf source) { return contexts_.find({source}); }
  const PasidEntry* find_pasid(Bdf source, Pasid pasid) { return pasids_.find({source, pasid}); }
  /// Any page size. REQUIRES: the tag is of the first or second stage or nested.
  const PageTranslation* find_page(const DomainTag& tag, std::uint64_t address);
  /// The lowest table known on the way to this address, for Walk::use_table().
  const TableStart* find_table(const DomainTag& tag, std::uint64_t address);
  /// For Walk::use_second_stage().
  const SecondStageLeaf* find_second_stage(std::uint16_t domain, std::uint64_t guest);

  /// Takes in what a finished walk may leave; with CM also what was not present. [IOM-6.2]
  void keep(const Walk& walk, const IommuCapabilities& offers);

  // Each returns the number of entries removed. [IOM-6.4, IOM-6.5, IOM-6.6]
  unsigned invalidate(const ContextCacheInvalidation& command);
  unsigned invalidate(const PasidCacheInvalidation& command);
  unsigned invalidate(const IotlbInvalidation& command);
  unsigned invalidate(const PasidIotlbInvalidation& command);
  /// A page request drops the translation of its page. [IOM-8.2]
  unsigned invalidate_page(std::uint16_t domain, Pasid pasid, std::uint64_t address);
  unsigned invalidate_page(std::uint64_t address);  ///< of all domains
  unsigned invalidate_all();

 private:
  static constexpr unsigned kPageSizes = 3;  // 4 KiB, 2 MiB, 1 GiB

  void keep_structures(const Walk& walk, bool keeps_absent);
  void keep_paging(const Walk& walk);
  void keep_page(const Walk& walk, bool keeps_absent);
  template <class Predicate>
  unsigned drop_pages(Predicate is_stale);
  template <class Predicate>
  unsigned drop(bool leaf_only, Predicate is_stale);

  TaggedCache<PasidKey, ContextEntry> contexts_;
  TaggedCache<PasidKey, PasidEntry> pasids_;
  TaggedCache<RangeKey, PageTranslation> iotlb_;
  TaggedCache<RangeKey, TableStart> paging_;
  TaggedCache<RangeKey, SecondStageLeaf> second_stage_;
  std::array<std::uint32_t, kPageSizes> pages_of_size_{};
};

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

/// What the agent has read of permission tables: words that name permissions, and apart from them
/// the words above that name tables. [SEC-03] [IOM-6.9]
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
