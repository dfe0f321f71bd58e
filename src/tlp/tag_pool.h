// SPDX-License-Identifier: Apache-2.0
/// The tags of one Requester ID: unique among its outstanding non-posted requests. [LNK-9.8]
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace flitwise {

/// With 10-bit tags the values with T9:T8 = 00 stay unused; unverified, hence named. [LNK-9.8]
inline constexpr std::uint16_t kFirstTenBitTag = 256;
/// With 14-bit tags those with T13:T10 = 0000, which completers of 10-bit tags know. [LNK-9.8]
inline constexpr std::uint16_t kFirstFourteenBitTag = 1024;

class TagPool {
 public:
  /// bits: 5, 8, 10 or 14.
  explicit TagPool(unsigned bits)
      : is_out_(1U << bits, false), first_(first_of(bits)), end_(1U << bits) {
    for (unsigned tag = first_; tag < end_; ++tag) {
      ring_.push_back(static_cast<std::uint16_t>(tag));
    }
    free_ = ring_.size();
  }

  /// From now on tags have so many bits. Those that are out stay out until they are given back,
  /// whatever their width. REQUIRES: bits is 5, 8, 10 or 14, and no more than at construction.
  void set_bits(unsigned bits);

  bool has_free() const { return free_ > 0; }
  std::size_t free() const { return free_; }
  std::size_t size() const { return ring_.size(); }
  std::size_t in_use() const { return ring_.size() - free_ + strays_; }
  bool is_out(std::uint16_t tag) const { return tag < is_out_.size() && is_out_[tag]; }

  /// The tag that has rested longest, so that late completions stand out. REQUIRES: has_free().
  std::uint16_t take() {
    const std::uint16_t tag = ring_[head_];
    head_ = head_ + 1 == ring_.size() ? 0 : head_ + 1;
    --free_;
    is_out_[tag] = true;
    return tag;
  }
  /// REQUIRES: is_out(tag).
  void give(std::uint16_t tag) {
    is_out_[tag] = false;
    if (!is_in_range(tag)) {
      --strays_;
      return;
    }
    std::size_t tail = head_ + free_;
    tail = tail >= ring_.size() ? tail - ring_.size() : tail;
    ring_[tail] = tag;
    ++free_;
  }

 private:
  static constexpr unsigned first_of(unsigned bits) {
    return bits == 10 ? kFirstTenBitTag : bits == 14 ? kFirstFourteenBitTag : 0;
  }
  bool is_in_range(unsigned tag) const { return tag >= first_ && tag < end_; }

  std::vector<std::uint16_t> ring_;  // free ones from head_ on
  std::vector<bool> is_out_;
  std::size_t head_ = 0;
  std::size_t free_ = 0;
  unsigned first_, end_;    // tags of the present width
  std::size_t strays_ = 0;  // tags that are out and of another width
};

inline void TagPool::set_bits(unsigned bits) {
  const unsigned first = first_of(bits), end = 1U << bits;
  if (first == first_ && end == end_) {
    return;
  }
  // Tags that become available have rested longer than those that were.
  std::vector<std::uint16_t> ring;
  strays_ = 0;
  for (unsigned tag = 0; tag < is_out_.size(); ++tag) {
    const bool is_new = tag >= first && tag < end && !is_in_range(tag);
    if (is_new && !is_out_[tag]) {
      ring.push_back(static_cast<std::uint16_t>(tag));
    }
    strays_ += is_out_[tag] && (tag < first || tag >= end) ? 1 : 0;
  }
  for (std::size_t i = 0; i < free_; ++i) {
    const std::uint16_t tag = ring_[(head_ + i) % ring_.size()];
    if (tag >= first && tag < end) {
      ring.push_back(tag);
    }
  }
  free_ = ring.size();
  head_ = 0;
  ring.resize(end - first);
  ring_ = std::move(ring);
  first_ = first;
  end_ = end;
}

}  // namespace flitwise
