// SPDX-License-Identifier: Apache-2.0
#include "pio/send_memory.h"

#include <algorithm>
#include <cstring>

namespace flitwise {
namespace {

// QWs of a write follow each other.
void copy_qws(std::uint8_t* block, const BlockWrite& write) {
  const auto first = static_cast<unsigned>(__builtin_ctz(write.qws));
  const unsigned count = 32 - static_cast<unsigned>(__builtin_clz(write.qws)) - first;
  std::memcpy(block + std::size_t{first} * kQwBytes, write.bytes, std::size_t{count} * kQwBytes);
}

}  // namespace

SendMemory::SendMemory()
    : blocks_(kSendMemoryBlocks),
      packets_(kSendMemoryBlocks),
      bytes_(std::size_t{kSendMemoryBlocks} * kSendBlockBytes) {}

void SendMemory::store(std::size_t index, const BlockWrite& write) {
  copy_qws(bytes_.data() + index * kSendBlockBytes, write);
  blocks_[index].qws |= write.qws;
  blocks_[index].sops |= SendBlock::sop_bit(write.is_sop);
}

void SendMemory::keep_waiting_writes() {
  waiting_.resize(kSendMemoryBlocks);
  waiting_bytes_.resize(bytes_.size());
}

void SendMemory::store_waiting(std::size_t index, const BlockWrite& write) {
  copy_qws(waiting_bytes_.data() + index * kSendBlockBytes, write);
  waiting_[index].qws |= write.qws;
  waiting_[index].is_sop = write.is_sop;
}

void SendMemory::drop_waiting(std::size_t index) {
  if (!waiting_.empty()) {
    waiting_[index] = {};
  }
}

void SendMemory::clear(std::size_t first, std::size_t count) {
  std::fill_n(blocks_.begin() + static_cast<std::ptrdiff_t>(first), count, SendBlock{});
  for (std::size_t i = 0; i < count; ++i) {
    drop_waiting(first + i);
  }
}

}  // namespace flitwise
