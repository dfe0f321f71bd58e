// SPDX-License-Identifier: Apache-2.0
// Tags and invalidation scopes of the translation agent's caches.
#include "iommu/translation_caches.h"

#include <algorithm>

namespace flitwise {

namespace {

/// Addresses that one table whose entries are of this level translates: 2^this bytes.
constexpr unsigned table_bits(unsigned level) {
  return span_bits(level) + kLevelBits;
}

constexpr unsigned size_index(unsigned page_bits) {
  return (page_bits - kPageBits) / kLevelBits;
}

RangeKey range_of(const DomainTag& tag, std::uint64_t address, unsigned bits) {
  return {tag, address >> bits, static_cast<std::uint8_t>(bits)};
}

DomainTag second_stage_tag(std::uint16_t domain) {
  return {domain, TranslationType::kSecondStage, 0};
}

/// The function bits that FM takes out of the comparison, highest first. [IOM-5.2]
constexpr std::uint16_t compared_bits(unsigned function_mask) {
  constexpr std::uint16_t kIgnored[] = {0, 4, 6, 7};
  return static_cast<std::uint16_t>(~kIgnored[function_mask & 3U]);
}

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

bool RangeKey::overlaps(std::uint64_t address, unsigned other_bits) const {
  const unsigned wider = bits > other_bits ? bits : other_bits;
  return wider >= 64 || (number << bits) >> wider == address >> wider;
}

TranslationCaches::TranslationCaches(const TranslationCacheShapes& shapes, std::uint64_t seed)
    : contexts_(shapes.context, seed),
      pasids_(shapes.pasid, seed + 1),
      iotlb_(shapes.iotlb, seed + 2),
      paging_(shapes.paging, seed + 3),
      second_stage_(shapes.second_stage, seed + 4) {}

const PageTranslation* TranslationCaches::find_page(const DomainTag& tag, std::uint64_t address) {
  for (unsigned size = 0; size < kPageSizes; ++size) {
    const PageTranslation* const entry =
        pages_of_size_[size] == 0
            ? nullptr
            : iotlb_.find(range_of(tag, address, kPageBits + size * kLevelBits));
    if (entry != nullptr) {
      return entry;
    }
  }
  return nullptr;
}

const TableStart* TranslationCaches::find_table(const DomainTag& tag, std::uint64_t address) {
  for (unsigned level = 1; level < kMaxLevels; ++level) {
    if (const TableStart* start = paging_.find(range_of(tag, address, table_bits(level)))) {
      return start;
    }
  }
  return nullptr;
}

const SecondStageLeaf* TranslationCaches::find_second_stage(std::uint16_t domain,
                                                            std::uint64_t guest) {
  return second_stage_.find(range_of(second_stage_tag(domain), guest, kPageBits));
}

void TranslationCaches::keep(const Walk& walk, const IommuCapabilities& offers) {
  keep_structures(walk, offers.caching_mode);
  if (walk.request().kind == WalkKind::kTranslated) {
    return;  // its address is a physical one
  }
  if (walk.has_pasid_entry() && walk.result().type != TranslationType::kPassThrough) {
    keep_paging(walk);
    keep_page(walk, offers.caching_mode);
  }
}

void TranslationCaches::keep_structures(const Walk& walk, bool keeps_absent) {
  const Bdf source = walk.request().source;
  const FaultReason fault = walk.result().fault;
  if (walk.has_context() || (keeps_absent && fault == FaultReason::kContextNotPresent)) {
    contexts_.insert({source}, walk.context());
  }
  if (walk.has_pasid_entry() || (keeps_absent && fault == FaultReason::kPasidEntryNotPresent)) {
    pasids_.insert({source, walk.result().pasid}, walk.pasid_entry());
  }
}

/// The table that the PASID entry itself names is not kept.
void TranslationCaches::keep_paging(const Walk& walk) {
  const PasidEntry& entry = walk.pasid_entry();
  const DomainTag tag = DomainTag::of(entry, walk.result().pasid);
  const unsigned top =
      entry.has_first_stage() ? entry.first_stage_levels() : entry.second_stage_levels();
  for (unsigned i = 0; i < walk.table_count(); ++i) {
    const TableStart& start = walk.table(i);
    if (start.level < top) {
      paging_.insert(range_of(tag, walk.request().address, table_bits(start.level)), start);
    }
  }
  for (unsigned i = 0; i < walk.second_stage_count(); ++i) {
    const SecondStageLeaf& leaf = walk.second_stage(i);
    // By 4 KiB, whatever the size of the page.
    second_stage_.insert(range_of(second_stage_tag(entry.domain()), leaf.guest, kPageBits), leaf);
  }
}

void TranslationCaches::keep_page(const Walk& walk, bool keeps_absent) {
  const std::optional<PageTranslation> page = page_of(walk, keeps_absent);
  if (!page) {
    return;
  }
  const DomainTag tag = DomainTag::of(walk.pasid_entry(), walk.result().pasid);
  // What is absent tells the size of its hole again; it is kept for 4 KiB alone.
  const unsigned bits = page->fault != FaultReason::kNone ? kPageBits : page->page_bits;
  const unsigned before = iotlb_.size();
  const std::optional<RangeKey> evicted =
      iotlb_.insert(range_of(tag, walk.request().address, bits), *page);
  if (evicted || iotlb_.size() > before) {
    ++pages_of_size_[size_index(bits)];
  }
  if (evicted) {
    --pages_of_size_[size_index(evicted->bits)];
  }
}

std::optional<PageTranslation> page_of(const Walk& walk, bool keeps_absent) {
  const WalkResult& result = walk.result();
  if (result.fault != FaultReason::kNone && !(keeps_absent && result.is_absent)) {
    return std::nullopt;
  }
  PageTranslation entry = result;
  entry.page = result.address & bits_from(result.page_bits);
  return entry;
}

template <class Predicate>
unsigned TranslationCaches::drop_pages(Predicate is_stale) {
  return iotlb_.invalidate_if([&](const RangeKey& key, const PageTranslation&) {
    const bool drops = is_stale(key);
    pages_of_size_[size_index(key.bits)] -= drops ? 1U : 0U;
    return drops;
  });
}

// Tables on the way to translations stay where only leaves have changed.
template <class Predicate>
unsigned TranslationCaches::drop(bool leaf_only, Predicate is_stale) {
  const auto is_stale_table = [&](const RangeKey& key, const TableStart&) { return is_stale(key); };
  return drop_pages(is_stale) + (leaf_only ? 0 : paging_.invalidate_if(is_stale_table));
}

// [IOM-6.8] [PAS-41]
unsigned TranslationCaches::invalidate(const ContextCacheInvalidation& command) {
  using Granularity = ContextCacheInvalidation::Granularity;
  const std::uint16_t compared = compared_bits(command.function_mask);
  const auto is_named = [&](const PasidKey& key, const auto& /*entry*/) {
    return ((key.source.value ^ command.source.value) & compared) == 0;
  };
  if (command.granularity == Granularity::kDevice) {
    return contexts_.invalidate_if(is_named) + pasids_.invalidate_if(is_named);
  }
  const auto is_of_domain = [&](const PasidKey&, const PasidEntry& entry) {
    return command.granularity == Granularity::kGlobal || entry.domain() == command.domain;
  };
  return contexts_.invalidate_all() + pasids_.invalidate_if(is_of_domain);
}

// [IOM-5.7] [PAS-41]
unsigned TranslationCaches::invalidate(const PasidCacheInvalidation& command) {
  using Granularity = PasidCacheInvalidation::Granularity;
  return pasids_.invalidate_if([&](const PasidKey& key, const PasidEntry& entry) {
    // What was not there belongs to no domain, and may be any one's now. [PAS-42]
    const bool is_of_domain = !entry.is_present() || entry.domain() == command.domain;
    return command.granularity == Granularity::kGlobal ||
           (is_of_domain &&
            (command.granularity == Granularity::kDomain || key.pasid == command.pasid));
  });
}

// [IOM-6.4] [IOM-6.6] [PAS-38] [PAS-39]
unsigned TranslationCaches::invalidate(const IotlbInvalidation& command) {
  using Granularity = IotlbInvalidation::Granularity;
  if (command.granularity == Granularity::kGlobal) {
    return drop(false, [](const RangeKey&) { return true; }) + second_stage_.invalidate_all();
  }
  const bool is_page = command.granularity == Granularity::kPage;
  const unsigned bits = kPageBits + command.address_mask;
  // The address is one of the second stage: what the first stage made cannot be told apart by it.
  const auto is_stale = [&](const RangeKey& key) {
    return key.tag.domain == command.domain &&
           (!is_page || key.tag.has_first_stage() || key.overlaps(command.address, bits));
  };
  const auto is_stale_leaf = [&](const RangeKey& key, const SecondStageLeaf& leaf) {
    return is_stale(range_of(key.tag, key.number << kPageBits, leaf.page_bits));
  };
  return drop(is_page && command.leaf_only, is_stale) + second_stage_.invalidate_if(is_stale_leaf);
}

// [IOM-6.5] [IOM-6.6] [PAS-40]
unsigned TranslationCaches::invalidate(const PasidIotlbInvalidation& command) {
  const bool is_page = command.granularity == PasidIotlbInvalidation::Granularity::kPage;
  const unsigned bits = kPageBits + command.address_mask;
  return drop(is_page && command.leaf_only, [&](const RangeKey& key) {
    return key.tag.has_first_stage() && key.tag.domain == command.domain &&
           key.tag.pasid == to_int(command.pasid) &&
           (!is_page || key.overlaps(command.address, bits));
  });
}

unsigned TranslationCaches::invalidate_page(std::uint16_t domain, Pasid pasid,
                                            std::uint64_t address) {
  return drop_pages([&](const RangeKey& key) {
    const bool is_owner = !key.tag.has_first_stage() || key.tag.pasid == to_int(pasid);
    return key.tag.domain == domain && is_owner && key.overlaps(address, kPageBits);
  });
}

unsigned TranslationCaches::invalidate_page(std::uint64_t address) {
  return drop_pages([&](const RangeKey& key) { return key.overlaps(address, kPageBits); });
}

unsigned TranslationCaches::invalidate_all() {
  return invalidate(ContextCacheInvalidation{}) + invalidate(IotlbInvalidation{});
}

// ---- permissions

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
