// SPDX-License-Identifier: Apache-2.0
// Entries of all sizes in one table: a hash finds them by size and address, a list in each set
// gives the victim.
#include "ats/translation_cache.h"

#include <string>

#include "flitwise/error.h"

namespace flitwise {

namespace {
std::size_t power_of_two_above(std::size_t count) {
  std::size_t size = 2;
  while (size < 2 * count) {
    size *= 2;
  }
  return size;
}

std::uint64_t key_of(TranslationTag tag) {
  const std::uint64_t pasid = tag.pasid.has_value() ? to_int(*tag.pasid) : 1U << kPasidBits;
  return pasid << 1 | (tag.privileged ? 1U : 0U);
}
}  // namespace

TranslationCache::TranslationCache(const TranslationCacheConfig& config)
    : policy_(config.policy),
      ways_(config.ways == 0 ? config.entries : config.ways),
      sets_(config.entries / (ways_ == 0 ? 1 : ways_)),
      cells_(config.entries),
      orders_(sets_),
      buckets_(power_of_two_above(config.entries), kNone),
      random_(config.seed) {
  FLITWISE_CHECK(config.entries > 0 && sets_ * ways_ == config.entries,
                 std::to_string(config.entries) + " entries in sets of " + std::to_string(ways_));
  for (Slot slot = 0; slot < config.entries; ++slot) {
    append(slot);
  }
}

void TranslationCache::set_enabled(bool is_enabled) {
  if (is_enabled && !is_enabled_) {
    clear();
    is_disabled_ = false;
  }
  is_enabled_ = is_enabled;
}

void TranslationCache::reset() {
  clear();
  is_enabled_ = is_disabled_ = false;
}

std::optional<Slot> TranslationCache::find(std::uint64_t address, TranslationTag tag) const {
  if (!is_usable()) {
    return std::nullopt;
  }
  for (std::uint64_t left = sizes_; left != 0; left &= left - 1) {
    const auto size_bits = static_cast<unsigned>(__builtin_ctzll(left));
    const Slot slot = lookup(PageRange::around(address, size_bits), tag);
    if (slot != kNone) {
      return slot;
    }
  }
  return std::nullopt;
}

void TranslationCache::note_use(Slot slot) {
  if (policy_ == CachePolicy::kLru) {
    unlink(slot);
    append(slot);
  }
}

Insertion TranslationCache::insert(const PageRange& range, TranslationTag tag,
                                   const TranslationEntry& translation) {
  FLITWISE_CHECK(range.size_bits < kWholeSpaceBits && (range.base & range.offset_mask()) == 0,
                 "a translation of 2^" + std::to_string(range.size_bits) + " bytes");
  Insertion result;
  if (!is_usable() || !translation.has_access()) {
    return result;
  }
  result.replaced = remove_overlaps(range, tag);
  const Slot slot = victim_in(set_of(range, tag));
  Cell& cell = cells_[slot];
  if (cell.is_valid) {
    result.evicted = cell.entry.range;
    remove(slot);
  }
  cell.entry = {range, tag, translation};
  cell.is_valid = true;
  Slot& bucket = buckets_[bucket_of(range.base, range.size_bits, tag)];
  cell.next = bucket;
  bucket = slot;
  unlink(slot);
  append(slot);
  ++size_;
  ++by_size_[range.size_bits];
  sizes_ |= std::uint64_t{1} << range.size_bits;
  result.is_inserted = true;
  return result;
}

unsigned TranslationCache::invalidate(const PageRange& range, const InvalidationScope& scope) {
  if (scope.all_pasids || !is_cheap_to_probe(range)) {
    return remove_by_scanning(range,
                              [&scope](TranslationTag tag) { return scope.covers(tag.pasid); });
  }
  return remove_by_probing(range, {scope.pasid, false}) +
         remove_by_probing(range, {scope.pasid, true});
}

unsigned TranslationCache::remove_overlaps(const PageRange& range, TranslationTag tag) {
  return is_cheap_to_probe(range)
             ? remove_by_probing(range, tag)
             : remove_by_scanning(range, [tag](TranslationTag other) { return other == tag; });
}

// Probing looks once for each page of each size in use that the range covers.
bool TranslationCache::is_cheap_to_probe(const PageRange& range) const {
  if (sizes_ == 0) {
    return true;
  }
  const auto smallest = static_cast<unsigned>(__builtin_ctzll(sizes_));
  return range.size_bits <= smallest ||
         (range.size_bits - smallest < 32 &&
          std::uint64_t{1} << (range.size_bits - smallest) <= cells_.size() / 2);
}

unsigned TranslationCache::remove_by_probing(const PageRange& range, TranslationTag tag) {
  unsigned removed = 0;
  for (std::uint64_t left = sizes_; left != 0; left &= left - 1) {
    const auto size_bits = static_cast<unsigned>(__builtin_ctzll(left));
    PageRange page = PageRange::around(range.base, size_bits);
    removed += remove_at(page, tag);
    while (page.last() < range.last()) {
      page.base = page.last() + 1;
      removed += remove_at(page, tag);
    }
  }
  return removed;
}

template <class Covers>
unsigned TranslationCache::remove_by_scanning(const PageRange& range, const Covers& covers) {
  unsigned removed = 0;
  for (Slot slot = 0; slot < cells_.size(); ++slot) {
    const Cell& cell = cells_[slot];
    if (cell.is_valid && covers(cell.entry.tag) && cell.entry.range.overlaps(range)) {
      remove(slot);
      ++removed;
    }
  }
  return removed;
}

unsigned TranslationCache::remove_at(const PageRange& range, TranslationTag tag) {
  const Slot slot = lookup(range, tag);
  if (slot == kNone) {
    return 0;
  }
  remove(slot);
  return 1;
}

Slot TranslationCache::lookup(const PageRange& range, TranslationTag tag) const {
  Slot slot = buckets_[bucket_of(range.base, range.size_bits, tag)];
  while (slot != kNone && !(cells_[slot].entry.range == range && cells_[slot].entry.tag == tag)) {
    slot = cells_[slot].next;
  }
  return slot;
}

std::size_t TranslationCache::bucket_of(std::uint64_t base, unsigned size_bits,
                                        TranslationTag tag) const {
  constexpr std::uint64_t kGolden = 0x9e37'79b9'7f4a'7c15;
  std::uint64_t mixed = (base >> size_bits) * kGolden + size_bits;
  mixed = (mixed ^ mixed >> 29 ^ key_of(tag)) * kGolden;
  return (mixed >> 32) & (buckets_.size() - 1);
}

// model: the low bits of the page number, with those of the PASID, choose the set.
unsigned TranslationCache::set_of(const PageRange& range, TranslationTag tag) const {
  const std::uint64_t pasid = tag.pasid.has_value() ? to_int(*tag.pasid) : 0;
  return sets_ == 1 ? 0 : static_cast<unsigned>((range.base >> range.size_bits ^ pasid) % sets_);
}

Slot TranslationCache::victim_in(unsigned set) {
  const Slot oldest = orders_[set].oldest;
  if (policy_ == CachePolicy::kRandom && cells_[oldest].is_valid) {
    return set * ways_ + static_cast<Slot>(random_.below(ways_));
  }
  return oldest;
}

void TranslationCache::unlink(Slot slot) {
  Cell& cell = cells_[slot];
  Order& order = orders_[slot / ways_];
  (cell.older == kNone ? order.oldest : cells_[cell.older].younger) = cell.younger;
  (cell.younger == kNone ? order.youngest : cells_[cell.younger].older) = cell.older;
}

void TranslationCache::append(Slot slot) {
  Order& order = orders_[slot / ways_];
  cells_[slot].older = order.youngest;
  cells_[slot].younger = kNone;
  (order.youngest == kNone ? order.oldest : cells_[order.youngest].younger) = slot;
  order.youngest = slot;
}

void TranslationCache::prepend(Slot slot) {
  Order& order = orders_[slot / ways_];
  cells_[slot].younger = order.oldest;
  cells_[slot].older = kNone;
  (order.oldest == kNone ? order.youngest : cells_[order.oldest].older) = slot;
  order.oldest = slot;
}

void TranslationCache::remove(Slot slot) {
  Cell& cell = cells_[slot];
  const PageRange& range = cell.entry.range;
  Slot* link = &buckets_[bucket_of(range.base, range.size_bits, cell.entry.tag)];
  while (*link != slot) {
    link = &cells_[*link].next;
  }
  *link = cell.next;
  cell.is_valid = false;
  unlink(slot);
  prepend(slot);
  --size_;
  if (--by_size_[range.size_bits] == 0) {
    sizes_ &= ~(std::uint64_t{1} << range.size_bits);
  }
}

void TranslationCache::clear() {
  for (Slot slot = 0; slot < cells_.size(); ++slot) {
    if (cells_[slot].is_valid) {
      remove(slot);
    }
  }
}

}  // namespace flitwise
