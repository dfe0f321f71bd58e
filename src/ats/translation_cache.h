// SPDX-License-Identifier: Apache-2.0
/// The address translation cache (ATC) of one function: filled from Translation Completions,
/// emptied by invalidations, and never changed in any other way.
/// [TCP-16] to [TCP-22] [INV-02] [CFG-01]
#pragma once

#include <array>
#include <cstdint>

#include "ats/tagged_cache.h"
#include "ats/translation_entry.h"
#include "flitwise/config.h"
#include "flitwise/ids.h"

namespace flitwise {

struct TranslationCacheConfig {
  unsigned entries = 64;  ///< 1..
  unsigned ways = 0;      ///< of a set; divides entries; 0: fully associative
  CachePolicy policy = CachePolicy::kLru;
  std::uint64_t seed = 1;  ///< of CachePolicy::kRandom
};

/// Whose addresses an entry translates. [INV-34]
struct TranslationTag {
  OptionalId<Pasid> pasid;
  bool privileged = false;  ///< a translation for privileged mode
  friend constexpr bool operator==(TranslationTag a, TranslationTag b) {
    return a.pasid == b.pasid && a.privileged == b.privileged;
  }
};

/// Whose entries an invalidation takes: of one PASID, of none, or of all PASIDs. [INV-33] [INV-34]
struct InvalidationScope {
  OptionalId<Pasid> pasid;
  bool all_pasids = false;

  constexpr bool covers(OptionalId<Pasid> other) const {
    return all_pasids ? other.has_value() : pasid == other;
  }
};

class TranslationCache {
 public:
  struct Entry {
    PageRange range;  ///< untranslated
    TranslationTag tag;
    TranslationEntry translation;
    /// Where in memory an untranslated address of the range is. REQUIRES: it is translated.
    std::uint64_t translate(std::uint64_t address) const {
      return translation.translated | (address & range.offset_mask());
    }
  };

  /// Reserves all it will ever need.
  explicit TranslationCache(const TranslationCacheConfig& config);

  /// E of the ATS capability. 0 to 1 empties the cache; while 0 nothing is found or inserted.
  /// [CFG-01] [CFG-02]
  void set_enabled(bool is_enabled);
  /// A completion said UR, or as good as that: off until E goes from 0 to 1. [TCP-04]
  void disable_until_reenabled() { is_disabled_ = true; }
  /// Function level or conventional reset: empty, E clear. [CFG-03] [CFG-04]
  void reset();
  bool is_enabled() const { return is_enabled_; }  ///< E as software has it
  bool is_usable() const { return is_enabled_ && !is_disabled_; }

  /// The entry that translates an address; counts as a use. Null where there is none, and while not
  /// usable. Valid until the next change.
  const Entry* find(std::uint64_t address, TranslationTag tag);
  /// The latest translation wins: older ones of the same tag that overlap go first. Where its set
  /// is full, a victim goes. False: no access, or ATS is not usable. [TCP-09] [TCP-17] [TCP-20]
  /// [TCP-21]
  bool insert(const PageRange& range, TranslationTag tag, const TranslationEntry& translation);
  /// Deletes, as a whole, every entry that overlaps the range. Returns how many.
  /// [INV-01] [INV-02] [INV-03]
  unsigned invalidate(const PageRange& range, const InvalidationScope& scope);

  unsigned size() const { return entries_.size(); }
  unsigned capacity() const { return entries_.capacity(); }

 private:
  struct Key {
    PageRange range;
    TranslationTag tag;
    std::uint64_t hash() const;
    /// model: the low bits of the page number, with those of the PASID, choose the set.
    std::uint64_t index() const {
      return range.base >> range.size_bits ^ to_int(tag.pasid.value_or(Pasid{}));
    }
    friend bool operator==(const Key& a, const Key& b) {
      return a.range == b.range && a.tag == b.tag;
    }
  };

  bool is_cheap_to_probe(const PageRange& range) const;
  unsigned remove_by_probing(const PageRange& range, TranslationTag tag);
  template <class Predicate>
  unsigned remove_if(Predicate is_stale);
  void clear();
  void count_out(const Key& key);

  TaggedCache<Key, Entry, FreeWays::kLatestFirst> entries_;
  std::array<std::uint32_t, kWholeSpaceBits> by_size_{};  ///< entries of 2^n bytes
  std::uint64_t sizes_ = 0;                               ///< bit n: there are entries of 2^n bytes
  bool is_enabled_ = false;
  bool is_disabled_ = false;
};

}  // namespace flitwise
