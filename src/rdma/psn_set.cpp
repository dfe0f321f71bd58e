// SPDX-License-Identifier: Apache-2.0
#include "rdma/psn_set.h"

namespace flitwise {

void PsnSet::advance(Psn base) {
  while (size_ > 0 && base_ != base) {
    const std::uint32_t left = (base - base_) & kPsnMask;
    const std::uint32_t step = std::min(left, 64 - (base_ & 63));
    std::uint64_t& word = words_[word_of(base_)];
    const std::uint64_t passed = ~std::uint64_t{0} >> (64 - step) << (base_ & 63);
    if ((word & passed) != 0) {
      size_ -= static_cast<std::uint32_t>(__builtin_popcountll(word & passed));
      word &= ~passed;
    }
    base_ = psn_plus(base_, step);
  }
  base_ = base;
  if (size_ == 0) {
    end_ = base;
  }
}

// The word of the base has the highest PSNs below it.
Psn PsnSet::search(Psn from, Psn end, std::uint64_t flip) const {
  while (psn_distance(end, from) > 0 && is_within(from)) {
    const std::uint64_t rest = (words_[word_of(from)] ^ flip) >> (from & 63);
    const Psn next = psn_plus(
        from, rest != 0 ? static_cast<std::uint32_t>(__builtin_ctzll(rest)) : 64 - (from & 63));
    const bool is_found = rest != 0 && is_within(next);
    from = is_within(next) ? next : psn_plus(base_, room());
    if (is_found) {
      break;
    }
  }
  const bool is_there = is_within(from) || flip != 0;
  return is_there && psn_distance(end, from) > 0 ? from : end;
}

std::uint64_t PsnSet::bits(Psn from) const {
  if (!is_within(from)) {
    return 0;
  }
  const std::uint32_t low = 64 - (from & 63);
  std::uint64_t bits = words_[word_of(from)] >> (from & 63);
  if (low < 64) {
    bits |= words_[word_of(psn_plus(from, low))] << low;
  }
  const std::uint32_t left = room() - ((from - base_) & kPsnMask);
  return left < 64 ? bits & ~(~std::uint64_t{0} << left) : bits;
}

void PsnSet::grow(std::uint32_t distance) {
  PsnSet wider;
  std::size_t words = std::max<std::size_t>(words_.size(), 1);
  while (words * 64 <= distance) {
    words *= 2;
  }
  wider.words_.resize(words);
  wider.base_ = wider.end_ = base_;
  for (Psn psn = first_in(base_, end_); psn != end_; psn = first_in(psn_plus(psn, 1), end_)) {
    wider.insert(psn);
  }
  *this = std::move(wider);
}

}  // namespace flitwise
