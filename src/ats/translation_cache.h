// SPDX-License-Identifier: Apache-2.0
/// The address translation cache (ATC) of one function: filled from Translation Completions,
/// emptied by invalidations, and never changed in any other way.
/// [TCP-16] to [TCP-22] [INV-02] [CFG-01]
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "ats/translation_entry.h"
#include "ats/translation_range.h"
#include "common/random.h"
#include "common/slot_list.h"
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

/// What became of a translation that was to be cached.
struct Insertion {
  bool is_inserted = false;          ///< false: no access, or ATS is not usable [TCP-09] [TCP-17]
  unsigned replaced = 0;             ///< older entries of overlapping addresses that went [TCP-20]
  std::optional<PageRange> evicted;  ///< victim of a full set [TCP-21]
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

  /// Asks; the entry that translates an address. Nothing while not usable.
  std::optional<Slot> find(std::uint64_t address, TranslationTag tag) const;
  const Entry& at(Slot slot) const { return cells_[slot].entry; }  ///< REQUIRES: it was found
  void note_use(Slot slot);                                        ///< moves it back under LRU

  /// The latest translation wins: older ones of the same tag that overlap go first.
  Insertion insert(const PageRange& range, TranslationTag tag, const TranslationEntry& translation);
  /// Deletes, as a whole, every entry that overlaps the range. Returns how many.
  /// [INV-01] [INV-02] [INV-03]
  unsigned invalidate(const PageRange& range, const InvalidationScope& scope);

  unsigned size() const { return size_; }
  unsigned capacity() const { return static_cast<unsigned>(cells_.size()); }

 private:
  static constexpr Slot kNone = 0xffff'ffff;
  struct Cell {
    Entry entry;
    bool is_valid = false;
    Slot next = kNone;                    ///< in its bucket
    Slot older = kNone, younger = kNone;  ///< in the order of its set
  };
  struct Order {
    Slot oldest = kNone, youngest = kNone;
  };

  std::size_t bucket_of(std::uint64_t base, unsigned size_bits, TranslationTag tag) const;
  Slot lookup(const PageRange& range, TranslationTag tag) const;
  unsigned set_of(const PageRange& range, TranslationTag tag) const;
  Slot victim_in(unsigned set);
  void unlink(Slot slot);
  void append(Slot slot);
  void prepend(Slot slot);
  void remove(Slot slot);
  unsigned remove_at(const PageRange& range, TranslationTag tag);
  bool is_cheap_to_probe(const PageRange& range) const;
  unsigned remove_by_probing(const PageRange& range, TranslationTag tag);
  template <class Covers>
  unsigned remove_by_scanning(const PageRange& range, const Covers& covers);
  unsigned remove_overlaps(const PageRange& range, TranslationTag tag);
  void clear();

  const CachePolicy policy_;
  const unsigned ways_;
  const unsigned sets_;
  std::vector<Cell> cells_;                               ///< set after set
  std::vector<Order> orders_;                             ///< by set; empty cells are the oldest
  std::vector<Slot> buckets_;                             ///< a power of two
  std::array<std::uint32_t, kWholeSpaceBits> by_size_{};  ///< entries of 2^n bytes
  std::uint64_t sizes_ = 0;                               ///< bit n: there are entries of 2^n bytes
  Random random_;
  unsigned size_ = 0;
  bool is_enabled_ = false;
  bool is_disabled_ = false;
};

}  // namespace flitwise
