// SPDX-License-Identifier: Apache-2.0
/// The tags of one Requester ID: unique among its outstanding non-posted requests. [LNK-9.8]
#pragma once

#include <cstdint>
#include <vector>

namespace flitwise {

/// With 10-bit tags the values with T9:T8 = 00 stay unused; unverified, hence named. [LNK-9.8]
inline constexpr std::uint16_t kFirstTenBitTag = 256;

class TagPool {
 public:
  /// bits: 5, 8 or 10.
  explicit TagPool(unsigned bits) : is_out_(1U << bits, false) {
    for (unsigned tag = bits == 10 ? kFirstTenBitTag : 0; tag < (1U << bits); ++tag) {
      ring_.push_back(static_cast<std::uint16_t>(tag));
    }
    free_ = ring_.size();
  }

  bool has_free() const { return free_ > 0; }
  std::size_t free() const { return free_; }
  std::size_t size() const { return ring_.size(); }
  std::size_t in_use() const { return ring_.size() - free_; }
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
    std::size_t tail = head_ + free_;
    tail = tail >= ring_.size() ? tail - ring_.size() : tail;
    ring_[tail] = tag;
    ++free_;
    is_out_[tag] = false;
  }

 private:
  std::vector<std::uint16_t> ring_;  // free ones from head_ on
  std::vector<bool> is_out_;
  std::size_t head_ = 0;
  std::size_t free_ = 0;
};

}  // namespace flitwise
