// SPDX-License-Identifier: Apache-2.0
/// The write-combining store buffer between a core and PIO send memory, without a clock: stores go
/// in, and the caller says when a block leaves as posted writes. [PIO-4.1]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pio/send_window.h"

namespace flitwise {

/// What a store buffer has seen so far. Stored bytes are those written out, replaced or held.
struct StoreCounts {
  std::uint64_t stores = 0;          ///< that are in the buffer, or were
  std::uint64_t stored_bytes = 0;    ///< of these
  std::uint64_t replaced_bytes = 0;  ///< stored again before they left [PIO-12.39]
  std::uint64_t written_bytes = 0;
  std::uint64_t whole_writes = 0;    ///< posted writes of 64 bytes
  std::uint64_t partial_writes = 0;  ///< of less
};

/// 64 bytes for one target address, which is a multiple of 64.
struct StoreBlock {
  std::uint64_t address = 0;
  std::uint8_t qws = 0;      ///< that are held, a bit each
  std::uint8_t threads = 0;  ///< whose stores they are, a bit each
  bool is_leaving = false;   ///< its writes are under way: it takes no more stores
  std::array<std::uint8_t, kSendBlockBytes> bytes{};

  bool is_full() const { return qws == 0xff; }
  bool takes_more() const { return !is_full() && !is_leaving; }
};

struct StoreWrite {
  std::uint64_t address = 0;
  const std::uint8_t* data = nullptr;
  unsigned bytes = 0;  ///< 8..64, a multiple of 8
};
/// The writes that a block leaves with: one of 64 bytes, or one for each run of its QWs, the lowest
/// first. They point into the block. [PIO-4.2, 4.3]
class StoreWrites {
 public:
  explicit StoreWrites(const StoreBlock& block);
  const StoreWrite* begin() const { return writes_.data(); }
  const StoreWrite* end() const { return writes_.data() + size_; }
  unsigned size() const { return size_; }

 private:
  std::array<StoreWrite, 4> writes_;  // 8 QWs have no more runs
  unsigned size_ = 0;
};

class StoreBuffer {
 public:
  static constexpr unsigned kMostBlocks = 64;

  explicit StoreBuffer(unsigned blocks);  ///< 1..kMostBlocks

  /// A store has 8, 16, 32 or 64 bytes, begins on 8 bytes and stays in one block of 64.
  static bool is_store(std::uint64_t address, std::size_t bytes);
  /// Is there a block for a store to this address now: one of that block which is not full, or a
  /// free one? If not, the store has to wait. [PIO-12.29]
  bool takes(std::uint64_t address) const;
  /// False: takes() does not hold, and nothing has changed. REQUIRES: is_store(), thread 0..7.
  bool try_store(unsigned thread, std::uint64_t address, const std::uint8_t* data,
                 std::size_t bytes);
  /// REQUIRES: is_store(), takes(), thread 0..7.
  void store(unsigned thread, std::uint64_t address, const std::uint8_t* data, std::size_t bytes);

  /// The block that has been held longest among those that are full, or that hold stores of these
  /// threads, a bit each; null: none. One that is leaving is none of the first two.
  const StoreBlock* oldest_full() const;
  const StoreBlock* oldest_to_leave(unsigned threads) const;
  const StoreBlock* oldest_of(unsigned threads) const;
  const StoreBlock* oldest() const { return held_ == 0 ? nullptr : &blocks_[by_age_[0]]; }
  /// Its StoreWrites are on their way; release() follows. REQUIRES: a block that is held.
  void leave(const StoreBlock& block) {
    blocks_[index_of(block)].is_leaving = true;
    full_ -= block.is_full() ? 1 : 0;
    while (leaving_ < held_ && blocks_[by_age_[leaving_]].is_leaving) {
      ++leaving_;
    }
  }
  /// Its StoreWrites are out, and the block is free. REQUIRES: a block that is held.
  void release(const StoreBlock& block);

  unsigned blocks() const { return static_cast<unsigned>(blocks_.size()); }
  unsigned held_blocks() const { return held_; }
  unsigned held_bytes() const;
  const StoreCounts& counts() const { return counts_; }

 private:
  std::uint8_t index_of(const StoreBlock& block) const {
    return static_cast<std::uint8_t>(&block - blocks_.data());
  }
  unsigned find(std::uint64_t block_address) const;
  template <class Predicate>
  const StoreBlock* oldest_where(unsigned first, Predicate is_meant) const;

  static constexpr std::uint64_t kNoAddress = ~std::uint64_t{0};  // is no multiple of 64

  std::vector<StoreBlock> blocks_;
  std::vector<std::uint64_t> addresses_;            // of blocks_, side by side; kNoAddress: free
  unsigned recent_ = 0;                             // the block that was taken last
  std::array<std::uint8_t, kMostBlocks> by_age_{};  // of blocks that are held, the oldest first
  unsigned held_ = 0;
  unsigned leaving_ = 0;  // the oldest so many are leaving
  unsigned full_ = 0;     // of these, full and not leaving
  std::uint64_t free_;    // a bit for each block
  StoreCounts counts_;
};

}  // namespace flitwise
