// SPDX-License-Identifier: Apache-2.0
/// The tags of one Requester ID: unique among its outstanding non-posted requests. [LNK-9.8]
#pragma once

#include <algorithm>
#include <boost/circular_buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
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
  explicit TagPool(unsigned bits) : is_out_(1U << bits, false) { set_bits(bits); }

  /// From now on tags have so many bits. Those that are out stay out until they are given back,
  /// whatever their width. REQUIRES: bits is 5, 8, 10 or 14, and no more than at construction.
  void set_bits(unsigned bits);

  bool has_free() const { return !free_.empty(); }
  std::size_t free() const { return free_.size(); }
  std::size_t size() const { return free_.capacity(); }
  std::size_t in_use() const { return size() - free() + strays_ - held_; }
  std::size_t held() const { return held_; }
  bool is_out(std::uint16_t tag) const { return tag < is_out_.size() && is_out_[tag]; }

  /// The tag that has rested longest, so that late completions stand out. REQUIRES: has_free().
  std::uint16_t take() {
    const std::uint16_t tag = free_.front();
    free_.pop_front();
    is_out_[tag] = true;
    return tag;
  }
  /// REQUIRES: is_out(tag).
  void give(std::uint16_t tag) {
    is_out_[tag] = false;
    put_back(tag);
  }
  /// Its request has given up, and something may still come for it: it is neither out nor free
  /// until release(). REQUIRES: is_out(tag). [LNK-9.18]
  void hold(std::uint16_t tag) {
    is_out_[tag] = false;
    is_held_.resize(is_out_.size(), false);
    is_held_[tag] = true;
    ++held_;
  }
  bool is_held(std::uint16_t tag) const { return tag < is_held_.size() && is_held_[tag]; }
  /// It goes out again behind all that are free. REQUIRES: is_held(tag).
  void release(std::uint16_t tag) {
    is_held_[tag] = false;
    --held_;
    put_back(tag);
  }

 private:
  void put_back(std::uint16_t tag) {
    if (is_in_range(tag)) {
      free_.push_back(tag);
    } else {
      --strays_;
    }
  }
  bool is_in_range(unsigned tag) const { return tag >= first_ && tag < end_; }

  boost::circular_buffer<std::uint16_t> free_;  // as many as are out would fit besides
  std::vector<bool> is_out_;
  std::vector<bool> is_held_;  // empty: none ever was
  std::size_t held_ = 0;
  unsigned first_ = 0, end_ = 0;  // tags of the present width
  std::size_t strays_ = 0;        // tags that are out or held, and of another width
};

inline void TagPool::set_bits(unsigned bits) {
  const unsigned old_first = first_, old_end = end_;
  first_ = bits == 10 ? kFirstTenBitTag : bits == 14 ? kFirstFourteenBitTag : 0;
  end_ = 1U << bits;
  if (first_ == old_first && end_ == old_end) {
    return;
  }
  // Tags that become available have rested longer than those that were.
  boost::circular_buffer<std::uint16_t> now_free(end_ - first_);
  strays_ = 0;
  for (unsigned tag = 0; tag < is_out_.size(); ++tag) {
    const bool is_new = is_in_range(tag) && (tag < old_first || tag >= old_end);
    const bool is_away = is_out_[tag] || is_held(static_cast<std::uint16_t>(tag));
    if (is_new && !is_away) {
      now_free.push_back(static_cast<std::uint16_t>(tag));
    }
    strays_ += is_away && !is_in_range(tag) ? 1 : 0;
  }
  std::copy_if(free_.begin(), free_.end(), std::back_inserter(now_free),
               [this](std::uint16_t tag) { return is_in_range(tag); });
  free_ = std::move(now_free);
}

}  // namespace flitwise
