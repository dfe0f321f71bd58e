// SPDX-License-Identifier: Apache-2.0
/// Translation Requests that are out, as invalidations see them: which addresses each may bring
/// back, and what of that must be discarded.
/// [INV-05] [INV-06] [INV-27] [TCP-17] to [TCP-19]
#pragma once

#include <boost/container/static_vector.hpp>
#include <cstdint>
#include <vector>

#include "ats/translation_cache.h"
#include "ats/translation_completion.h"
#include "common/slot_list.h"
#include "flitwise/config.h"

namespace flitwise {

/// One piece of a reply that may be cached.
struct CacheablePiece {
  PageRange range;
  TranslationEntry translation;
};
/// At most one piece for each translation asked for.
using CacheablePieces = boost::container::static_vector<CacheablePiece, kMaxTranslations>;

class OutstandingTranslations {
 public:
  /// capacity: requests that may be out at once, 1...
  OutstandingTranslations(unsigned capacity, AtcDiscard policy);

  /// held: places that are taken otherwise.
  bool has_room(std::size_t held = 0) const { return slots_.free() > held; }
  unsigned size() const { return slots_.used().size(); }
  /// A Translation Request is about to leave. REQUIRES: has_room().
  Slot open(const TranslationAsk& ask, unsigned stu);
  /// It has ended, by its reply, by a timeout or by a fault. [ATR-25]
  void close(Slot slot);

  /// An Invalidate Request came: snoops all that are out. Returns how many it touched.
  unsigned invalidate(const PageRange& range, const InvalidationScope& scope);
  /// E has changed: nothing of what is out counts any more. [TCP-17] [TCP-18]
  void void_all();
  /// A reset: none is out any more. [CFG-03]
  void clear();

  /// Of the PASID and the privilege it asked with.
  TranslationTag tag_of(Slot slot) const { return requests_[slot].tag; }
  /// Nothing of its reply may be used, for whatever reason.
  bool is_discarded(Slot slot) const { return requests_[slot].discards == kAllUnits; }
  /// Nothing of its reply says what this address is now: an invalidation has struck the STU that it
  /// lies in. Outside of the implied range any of its PASID may have. [INV-05] [TCP-19]
  bool is_discarded(Slot slot, std::uint64_t address) const;
  /// E has changed since it went out: its reply says nothing of what is enabled now. [TCP-18]
  bool is_void(Slot slot) const { return requests_[slot].is_void; }
  /// What of a whole reply may be cached. While no invalidation came in between that is every entry
  /// as it stands; else only STUs of the implied range that none of them touched, since nobody
  /// looked at the addresses outside. [INV-05] [TCP-16]
  CacheablePieces cacheable(Slot slot, const TranslationReceiver& reply) const;

 private:
  static constexpr std::uint32_t kAllUnits = 0xffff'ffff;
  struct Request {
    std::uint64_t first = 0;  ///< of the implied range
    TranslationTag tag;
    std::uint8_t units = 0;  ///< STUs asked for
    std::uint8_t unit_bits = kSmallestRangeBits;
    bool has_seen_invalidation = false;  ///< of its PASID, wherever
    bool is_void = false;
    std::uint32_t discards = 0;  ///< bit n: the n-th STU
  };
  void add_units(const Request& request, const PageRange& range, const TranslationEntry& entry,
                 CacheablePieces& result) const;

  std::vector<Request> requests_;
  SlotPool slots_;
  AtcDiscard policy_;
};

}  // namespace flitwise
