// SPDX-License-Identifier: Apache-2.0
/// The credits of a send context as its software counts them. [PIO-7.8, 7.9]
#pragma once

#include <cstdint>

#include "pio/send_window.h"

namespace flitwise {

/// F counts the blocks that software has filled, S is its copy of the free counter, which returns
/// overwrite. Both are modulo kCreditRing and begin at 0.
class SenderCredits {
 public:
  /// A new life of a context of `depth` blocks, 1..kMostContextBlocks; 0: none.
  explicit SenderCredits(unsigned depth = 0) : depth_(depth) {}

  unsigned depth() const { return depth_; }
  unsigned filled() const { return filled_; }  ///< F
  unsigned shadow() const { return shadow_; }  ///< S
  unsigned used() const { return (filled_ + kCreditRing - shadow_) % kCreditRing; }
  unsigned available() const { return used() < depth_ ? depth_ - used() : 0; }
  bool may_fill(unsigned blocks) const { return blocks <= available(); }
  /// Does a packet that may not be filled now need ForceReturn? With this threshold so much may
  /// stay in hardware that it never gets room; a threshold of 0 returns nothing. [PIO-7.9]
  bool needs_force(unsigned blocks, unsigned threshold) const {
    return !may_fill(blocks) && blocks <= depth_ &&
           (threshold == 0 || blocks + threshold > depth_ + 1);
  }
  /// The block of the buffer where the next packet begins.
  unsigned next_block() const { return next_block_; }

  /// A packet of so many blocks is written. REQUIRES: may_fill().
  void fill(unsigned blocks);
  /// A return has overwritten the copy of the context's QW. [PIO-7.6]
  void take(std::uint64_t qw) { shadow_ = static_cast<unsigned>(qw % kCreditRing); }

 private:
  unsigned depth_;
  unsigned filled_ = 0, shadow_ = 0, next_block_ = 0;
};

}  // namespace flitwise
