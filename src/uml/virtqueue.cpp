// SPDX-License-Identifier: Apache-2.0
// Rings, little-endian. [VIRTIO 1.2, 2.7.5 to 2.7.8]
#include "uml/virtqueue.h"

#include <algorithm>
#include <atomic>
#include <boost/endian/conversion.hpp>
#include <cstring>

namespace flitwise {
namespace {

using namespace boost::endian;

constexpr std::size_t kDescriptorBytes = 16;
constexpr std::size_t kUsedBytes = 8;
constexpr std::size_t kRingHeader = 4;  // flags and index
constexpr std::uint16_t kHasNext = 1;
constexpr std::uint16_t kIsWritable = 2;
constexpr std::uint16_t kNoInterrupt = 1;

}  // namespace

std::size_t VirtqueueChain::writable_bytes() const {
  std::size_t sum = 0;
  for (const Area& area : writable) {
    sum += area.size;
  }
  return sum;
}

bool Virtqueue::set_entries(unsigned entries) {
  if (entries == 0 || entries > kMostEntries || (entries & (entries - 1)) != 0) {
    return false;
  }
  entries_ = entries;
  rings_.reset();
  return true;
}

bool Virtqueue::set_rings(std::uint64_t descriptors, std::uint64_t available, std::uint64_t used) {
  rings_.reset();
  if (entries_ == 0) {
    return false;
  }
  const Rings rings{memory_.at_user(descriptors, entries_ * kDescriptorBytes),
                    memory_.at_user(available, kRingHeader + entries_ * 2U),
                    memory_.at_user(used, kRingHeader + entries_ * kUsedBytes)};
  if (rings.descriptors == nullptr || rings.available == nullptr || rings.used == nullptr) {
    return false;
  }
  rings_ = rings;
  return true;
}

std::optional<VirtqueueChain> Virtqueue::take() {
  if (!rings_ || !is_enabled_) {
    return std::nullopt;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  const auto waiting = static_cast<std::uint16_t>(load_little_u16(rings_->available + 2) - next_);
  if (waiting == 0) {
    return std::nullopt;
  }
  if (waiting > entries_) {  // more than there can be
    ++flaws_;
    return std::nullopt;
  }
  VirtqueueChain chain;
  chain.head = load_little_u16(rings_->available + kRingHeader + next_ % entries_ * 2U);
  ++next_;
  if (!collect(chain.head, chain)) {
    ++flaws_;
    chain.is_good = false;
    chain.readable.clear();
    chain.writable.clear();
  }
  return chain;
}

// Each descriptor once at most: a chain in a circle ends.
bool Virtqueue::collect(std::uint16_t index, VirtqueueChain& chain) {
  std::size_t total = 0;
  for (unsigned taken = 0; taken < entries_; ++taken) {
    if (index >= entries_) {
      return false;
    }
    const std::uint8_t* const at = rings_->descriptors + index * kDescriptorBytes;
    const Descriptor one{load_little_u64(at), load_little_u32(at + 8), load_little_u16(at + 12),
                         load_little_u16(at + 14)};
    if (!add(one, chain, total)) {
      return false;
    }
    if ((one.flags & kHasNext) == 0) {
      return true;
    }
    index = one.next;
  }
  return false;
}

// What the device writes stands behind all that it reads.
bool Virtqueue::add(const Descriptor& one, VirtqueueChain& chain, std::size_t& total) {
  std::uint8_t* const bytes = memory_.at(one.address, one.bytes);
  total += one.bytes;
  if (bytes == nullptr || total > kMostBytes || (one.flags & ~(kHasNext | kIsWritable)) != 0) {
    return false;
  }
  if ((one.flags & kIsWritable) != 0) {
    chain.writable.push_back({one.address, one.bytes});
    return true;
  }
  chain.readable.insert(chain.readable.end(), bytes, bytes + one.bytes);
  return chain.writable.empty();
}

void Virtqueue::give_back(const VirtqueueChain& chain, std::uint32_t written) {
  if (!rings_) {
    return;
  }
  std::uint8_t* const entry = rings_->used + kRingHeader + used_ % entries_ * kUsedBytes;
  store_little_u32(entry, chain.head);
  store_little_u32(entry + 4, written);
  std::atomic_thread_fence(std::memory_order_release);
  store_little_u16(rings_->used + 2, ++used_);
}

void Virtqueue::answer(const VirtqueueChain& chain, const std::vector<std::uint8_t>& bytes) {
  if (!rings_) {
    return;
  }
  std::size_t done = 0;
  for (const VirtqueueChain::Area& area : chain.writable) {
    const std::size_t part = std::min(area.size, bytes.size() - done);
    std::uint8_t* const to = memory_.at(area.address, part);
    if (to == nullptr) {  // the guest has taken its memory back in the meantime
      break;
    }
    std::copy_n(bytes.data() + done, part, to);
    done += part;
  }
  give_back(chain, static_cast<std::uint32_t>(done));
}

bool Virtqueue::wants_calls() const {
  return rings_ && (load_little_u16(rings_->available) & kNoInterrupt) == 0;
}

}  // namespace flitwise
