// SPDX-License-Identifier: Apache-2.0
/// PSNs of a window that moves on, a bit each. It grows to the distance that it has to span, and
/// from then on allocates nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/fetch.h"
#include "rdma/psn.h"

namespace flitwise {

/// A question of one PSN costs one look; a search looks at 64 PSNs at a time.
class PsnSet {
 public:
  /// None is in it; the lowest that may be is `base`.
  void reset(Psn base) {
    std::fill(words_.begin(), words_.end(), 0);
    base_ = end_ = base;
    size_ = 0;
  }
  bool empty() const { return size_ == 0; }
  std::uint32_t size() const { return size_; }
  Psn base() const { return base_; }
  /// Behind all that have been in it since it last was empty; base() at least.
  Psn end() const { return end_; }
  bool contains(Psn psn) const {
    return is_within(psn) && (words_[word_of(psn)] >> (psn & 63) & 1) != 0;
  }
  void fetch(Psn psn) const {
    if (!words_.empty()) {
      flitwise::fetch(&words_[word_of(psn)]);
    }
  }
  /// False: it is in it already. REQUIRES: not before base().
  bool insert(Psn psn);
  /// False: it is not in it.
  bool erase(Psn psn);
  /// All before `base` are gone, in one step for each 64. REQUIRES: not before base().
  void advance(Psn base);
  /// The first from `from` on that is in it, or `end` where none before that is. REQUIRES: neither
  /// is before base().
  Psn first_in(Psn from, Psn end) const { return search(from, end, 0); }
  /// The first that is not in it, likewise.
  Psn first_missing(Psn from, Psn end) const { return search(from, end, ~std::uint64_t{0}); }
  /// Those of the 64 PSNs from `from` on, the lowest bit first. REQUIRES: as above.
  std::uint64_t bits(Psn from) const;

 private:
  std::uint32_t room() const { return static_cast<std::uint32_t>(words_.size() * 64); }
  bool is_within(Psn psn) const { return ((psn - base_) & kPsnMask) < room(); }
  std::size_t word_of(Psn psn) const { return psn / 64 & (words_.size() - 1); }
  Psn search(Psn from, Psn end, std::uint64_t flip) const;
  void grow(std::uint32_t distance);

  std::vector<std::uint64_t> words_;  // a power of two of them; the place of a PSN is its number
  Psn base_ = 0, end_ = 0;
  std::uint32_t size_ = 0;
};

inline bool PsnSet::insert(Psn psn) {
  if (!is_within(psn)) {
    grow((psn - base_) & kPsnMask);
  }
  std::uint64_t& word = words_[word_of(psn)];
  const std::uint64_t bit = std::uint64_t{1} << (psn & 63);
  if ((word & bit) != 0) {
    return false;
  }
  word |= bit;
  ++size_;
  if (psn_distance(psn, end_) >= 0) {
    end_ = psn_plus(psn, 1);
  }
  return true;
}

inline bool PsnSet::erase(Psn psn) {
  const bool is_in = contains(psn);
  if (is_in) {
    words_[word_of(psn)] &= ~(std::uint64_t{1} << (psn & 63));
    --size_;
  }
  return is_in;
}

}  // namespace flitwise
