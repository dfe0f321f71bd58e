// SPDX-License-Identifier: Apache-2.0
// Entries of all sizes in one cache, and which sizes there are.
#include "ats/translation_cache.h"

#include <string>

#include "flitwise/error.h"

namespace flitwise {

std::uint64_t TranslationCache::Key::hash() const {
  const std::uint64_t pasid = tag.pasid.has_value() ? to_int(*tag.pasid) : 1U << kPasidBits;
  const std::uint64_t whose = pasid << 1 | (tag.privileged ? 1U : 0U);
  return mix((range.base >> range.size_bits) + mix(whose << 8 | range.size_bits));
}

TranslationCache::TranslationCache(const TranslationCacheConfig& config)
    : entries_({config.entries, config.ways, config.policy}, config.seed) {
  FLITWISE_CHECK(config.entries > 0 && capacity() == config.entries,
                 std::to_string(config.entries) + " entries in sets of " +
                     std::to_string(config.ways == 0 ? config.entries : config.ways));
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

const TranslationCache::Entry* TranslationCache::find(std::uint64_t address, TranslationTag tag) {
  for (std::uint64_t left = is_usable() ? sizes_ : 0; left != 0; left &= left - 1) {
    const auto size_bits = static_cast<unsigned>(__builtin_ctzll(left));
    if (const Entry* const entry = entries_.find({PageRange::around(address, size_bits), tag})) {
      return entry;
    }
  }
  return nullptr;
}

bool TranslationCache::insert(const PageRange& range, TranslationTag tag,
                              const TranslationEntry& translation) {
  FLITWISE_CHECK(range.size_bits < kWholeSpaceBits && (range.base & range.offset_mask()) == 0,
                 "a translation of 2^" + std::to_string(range.size_bits) + " bytes");
  if (!is_usable() || !translation.has_access()) {
    return false;
  }
  if (is_cheap_to_probe(range)) {
    remove_by_probing(range, tag);
  } else {
    remove_if([&](const Key& key) { return key.tag == tag && key.range.overlaps(range); });
  }
  if (const auto evicted = entries_.insert({range, tag}, {range, tag, translation})) {
    count_out(*evicted);
  }
  ++by_size_[range.size_bits];
  sizes_ |= std::uint64_t{1} << range.size_bits;
  return true;
}

unsigned TranslationCache::invalidate(const PageRange& range, const InvalidationScope& scope) {
  if (scope.all_pasids || !is_cheap_to_probe(range)) {
    return remove_if(
        [&](const Key& key) { return scope.covers(key.tag.pasid) && key.range.overlaps(range); });
  }
  return remove_by_probing(range, {scope.pasid, false}) +
         remove_by_probing(range, {scope.pasid, true});
}

// Probing looks once for each page of each size in use that the range covers.
bool TranslationCache::is_cheap_to_probe(const PageRange& range) const {
  if (sizes_ == 0) {
    return true;
  }
  const auto smallest = static_cast<unsigned>(__builtin_ctzll(sizes_));
  return range.size_bits <= smallest ||
         (range.size_bits - smallest < 32 &&
          std::uint64_t{1} << (range.size_bits - smallest) <= capacity() / 2);
}

unsigned TranslationCache::remove_by_probing(const PageRange& range, TranslationTag tag) {
  unsigned removed = 0;
  for (std::uint64_t left = sizes_; left != 0; left &= left - 1) {
    const auto size_bits = static_cast<unsigned>(__builtin_ctzll(left));
    Key key{PageRange::around(range.base, size_bits), tag};
    const std::uint64_t pages = ((range.last() - key.range.base) >> size_bits) + 1;
    for (std::uint64_t page = 0; page < pages; ++page) {
      if (entries_.erase(key)) {
        count_out(key);
        ++removed;
      }
      key.range.base += key.range.offset_mask() + 1;
    }
  }
  return removed;
}

template <class Predicate>
unsigned TranslationCache::remove_if(Predicate is_stale) {
  return entries_.invalidate_if([&](const Key& key, const Entry&) {
    const bool drops = is_stale(key);
    if (drops) {
      count_out(key);
    }
    return drops;
  });
}

void TranslationCache::clear() {
  remove_if([](const Key&) { return true; });
}

void TranslationCache::count_out(const Key& key) {
  if (--by_size_[key.range.size_bits] == 0) {
    sizes_ &= ~(std::uint64_t{1} << key.range.size_bits);
  }
}

}  // namespace flitwise
