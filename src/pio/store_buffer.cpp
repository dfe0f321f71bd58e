// SPDX-License-Identifier: Apache-2.0
#include "pio/store_buffer.h"

#include <algorithm>

#include "flitwise/error.h"

namespace flitwise {
namespace {

unsigned count_of_bits(std::uint8_t bits) {
  return static_cast<unsigned>(__builtin_popcount(bits));
}

}  // namespace

StoreWrites::StoreWrites(const StoreBlock& block) {
  bool is_in_run = false;
  for (unsigned qw = 0; qw < kSendBlockBytes / kQwBytes; ++qw) {
    if ((block.qws >> qw & 1U) == 0) {
      is_in_run = false;
      continue;
    }
    if (!is_in_run) {
      const unsigned byte = qw * kQwBytes;
      writes_[size_++] = {block.address + byte, block.bytes.data() + byte, 0};
      is_in_run = true;
    }
    writes_[size_ - 1].bytes += kQwBytes;
  }
}

StoreBuffer::StoreBuffer(unsigned blocks) : blocks_(blocks), addresses_(blocks, kNoAddress) {
  FLITWISE_CHECK(blocks >= 1 && blocks <= kMostBlocks, "a store buffer has 1 to 64 blocks");
  free_ = blocks == kMostBlocks ? ~std::uint64_t{0} : (std::uint64_t{1} << blocks) - 1;
}

bool StoreBuffer::is_store(std::uint64_t address, std::size_t bytes) {
  const bool is_size = bytes == 8 || bytes == 16 || bytes == 32 || bytes == kSendBlockBytes;
  return is_size &&
         qws_of_write(static_cast<unsigned>(address % kSendBlockBytes), bytes).has_value();
}

// The block that is held for this address; kMostBlocks: none.
unsigned StoreBuffer::find(std::uint64_t block_address) const {
  if (addresses_[recent_] == block_address) {
    return recent_;
  }
  const auto found = std::find(addresses_.begin(), addresses_.end(), block_address);
  return found == addresses_.end() ? kMostBlocks
                                   : static_cast<unsigned>(found - addresses_.begin());
}

bool StoreBuffer::takes(std::uint64_t address) const {
  const unsigned index = find(address - address % kSendBlockBytes);
  return index == kMostBlocks ? free_ != 0 : blocks_[index].takes_more();
}

void StoreBuffer::store(unsigned thread, std::uint64_t address, const std::uint8_t* data,
                        std::size_t bytes) {
  FLITWISE_CHECK(try_store(thread, address, data, bytes), "a store without a free block waits");
}

bool StoreBuffer::try_store(unsigned thread, std::uint64_t address, const std::uint8_t* data,
                            std::size_t bytes) {
  const auto first = static_cast<unsigned>(address % kSendBlockBytes);
  unsigned index = find(address - first);
  if (index == kMostBlocks ? free_ == 0 : !blocks_[index].takes_more()) {
    return false;
  }
  if (index == kMostBlocks) {
    index = static_cast<unsigned>(__builtin_ctzll(free_));
    free_ &= free_ - 1;
    by_age_[held_++] = static_cast<std::uint8_t>(index);
    blocks_[index].address = addresses_[index] = address - first;
    blocks_[index].qws = blocks_[index].threads = 0;
    blocks_[index].is_leaving = false;
    recent_ = index;
  }
  StoreBlock& block = blocks_[index];
  const std::uint8_t qws = *qws_of_write(first, bytes);
  counts_.stores += 1;
  counts_.stored_bytes += bytes;
  counts_.replaced_bytes += count_of_bits(block.qws & qws) * kQwBytes;
  std::copy_n(data, bytes, block.bytes.begin() + first);
  block.qws |= qws;  // which was not full
  full_ += block.is_full() ? 1 : 0;
  block.threads |= static_cast<std::uint8_t>(1U << thread);
  return true;
}

template <class Predicate>
const StoreBlock* StoreBuffer::oldest_where(unsigned first, Predicate is_meant) const {
  for (unsigned i = first; i < held_; ++i) {
    if (is_meant(blocks_[by_age_[i]])) {
      return &blocks_[by_age_[i]];
    }
  }
  return nullptr;
}

const StoreBlock* StoreBuffer::oldest_full() const {
  if (full_ == 0) {
    return nullptr;
  }
  return oldest_where(leaving_,
                      [](const StoreBlock& block) { return block.is_full() && !block.is_leaving; });
}

const StoreBlock* StoreBuffer::oldest_to_leave(unsigned threads) const {
  return oldest_where(leaving_, [&](const StoreBlock& block) {
    return (block.threads & threads) != 0 && !block.is_leaving;
  });
}

const StoreBlock* StoreBuffer::oldest_of(unsigned threads) const {
  return oldest_where(0, [&](const StoreBlock& block) { return (block.threads & threads) != 0; });
}

void StoreBuffer::release(const StoreBlock& block) {
  const std::uint8_t index = index_of(block);
  auto* const end = by_age_.begin() + held_;
  auto* const place = std::find(by_age_.begin(), end, index);
  FLITWISE_CHECK(place != end, "a block that is free cannot be released");
  (block.is_full() ? counts_.whole_writes : counts_.partial_writes) += StoreWrites(block).size();
  counts_.written_bytes += count_of_bits(block.qws) * kQwBytes;
  leaving_ -= static_cast<unsigned>(place - by_age_.begin()) < leaving_ ? 1 : 0;
  std::copy(place + 1, end, place);
  addresses_[index] = kNoAddress;
  --held_;
  full_ -= block.is_full() && !block.is_leaving ? 1 : 0;
  free_ |= std::uint64_t{1} << index;
}

unsigned StoreBuffer::held_bytes() const {
  unsigned bytes = 0;
  for (unsigned i = 0; i < held_; ++i) {
    bytes += count_of_bits(blocks_[by_age_[i]].qws) * kQwBytes;
  }
  return bytes;
}

}  // namespace flitwise
