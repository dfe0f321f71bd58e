// SPDX-License-Identifier: Apache-2.0
#include "pio/packet_assembly.h"

#include "common/byte_vector.h"

namespace flitwise {
namespace {

constexpr std::uint8_t kBothSops = SendBlock::kNoSop | SendBlock::kSop;

}  // namespace

void PacketAssembly::start(SendMemory& memory, unsigned base, unsigned depth) {
  *this = {};
  memory_ = &memory;
  base_ = base;
  depth_ = depth;
}

bool PacketAssembly::is_within(unsigned slot) const {
  return is_known_ && (slot + depth_ - head_slot()) % depth_ < length_;
}

std::optional<SendError> PacketAssembly::flaw_of(unsigned slot, const BlockWrite& write) const {
  const SendBlock& block = memory_->block(base_ + slot);
  if (block.use != BlockUse::kOpen || (block.qws & write.qws) != 0) {
    return SendError::kWriteOverflow;
  }
  const bool is_inner_start = write.is_sop && slot != head_slot() && is_within(slot);
  const bool has_both = (block.sops | SendBlock::sop_bit(write.is_sop)) == kBothSops;
  if (is_inner_start || has_both) {
    return SendError::kInconsistentSop;
  }
  return std::nullopt;
}

void PacketAssembly::take(unsigned slot, const BlockWrite& write) {
  memory_->store(base_ + slot, write);
  if (is_within(slot)) {
    missing_ -= memory_->block(base_ + slot).is_full() ? 1 : 0;
  } else if (slot == head_slot()) {
    look_at_head();
  }
}

// A packet that is longer than the buffer always misses a block. [PIO-5.7]
void PacketAssembly::look_at_head() {
  const SendBlock& first = memory_->block(index_of(done_));
  is_known_ = first.is_begun() && first.sops == SendBlock::kSop && (first.qws & kPbcQw) != 0;
  has_inner_start_ = false;
  if (!is_known_) {
    return;
  }
  pbc_ = decode_pbc(little_endian(memory_->bytes(index_of(done_)), kQwBytes));
  length_ = pbc_.blocks();
  missing_ = length_;
  for (unsigned i = 0; i < span(); ++i) {
    const SendBlock& block = memory_->block(index_of(done_ + i));
    missing_ -= block.is_full() ? 1 : 0;
    has_inner_start_ |= i > 0 && block.is_begun() && block.sops == SendBlock::kSop;
  }
}

std::optional<SendError> PacketAssembly::head_flaw() const {
  const SendBlock& first = memory_->block(index_of(done_));
  const bool has_no_start = first.is_begun() && first.sops != SendBlock::kSop;
  if (has_no_start || (is_known_ && (length_ == 0 || has_inner_start_))) {
    return SendError::kInconsistentSop;
  }
  return std::nullopt;
}

void PacketAssembly::finish_head() {
  memory_->packet_at(index_of(done_)) = {static_cast<std::uint16_t>(length_), pbc_.vl,
                                         pbc_.credit_return};
  for (unsigned i = 0; i < length_; ++i) {
    memory_->block(index_of(done_ + i)).use = BlockUse::kHeld;
  }
  done_ += length_;
  look_at_head();
}

}  // namespace flitwise
