// SPDX-License-Identifier: Apache-2.0
#include "pio/host_core.h"

#include <algorithm>

#include "flitwise/error.h"

namespace flitwise {

HostCore::HostCore(unsigned blocks, unsigned window) : buffer_(blocks) {
  FLITWISE_CHECK(window <= kMostWaiting, "a core runs ahead by up to 256 stores");
  for (Thread& thread : threads_) {
    thread.ring.resize(window);
  }
}

void HostCore::Thread::pop() {
  first = (first + 1) % static_cast<unsigned>(ring.size());
  --size;
}

// A new place at the end of the window; null: it is full.
HostCore::Waiting* HostCore::wait(Thread& thread) {
  if (thread.size == thread.ring.size()) {
    ++stalls_;
    return nullptr;
  }
  return &thread.at(thread.size++);
}

bool HostCore::store(unsigned thread, std::uint64_t address, const std::uint8_t* data,
                     std::size_t bytes) {
  FLITWISE_CHECK(StoreBuffer::is_store(address, bytes), "a store stays in one block of 64 bytes");
  if (is_idle(thread) && buffer_.try_store(thread, address, data, bytes)) {
    return true;
  }
  Waiting* const entry = wait(threads_[thread]);
  if (entry == nullptr) {
    return false;
  }
  entry->address = address;
  entry->bytes = static_cast<std::uint8_t>(bytes);
  entry->is_done = false;
  std::copy_n(data, bytes, entry->data.begin());
  go_on(thread);
  return true;
}

bool HostCore::fence(unsigned thread) {
  if (is_idle(thread)) {
    threads_[thread].is_fenced = true;
    return true;
  }
  Waiting* const entry = wait(threads_[thread]);
  if (entry != nullptr) {
    entry->bytes = 0;
    entry->is_done = false;
  }
  return entry != nullptr;
}

// Stores pass one that has no block, and no fence. Two of one block keep their order, since the
// older one is tried first. [PIO-4.5]
void HostCore::go_on(unsigned number) {
  Thread& thread = threads_[number];
  if (thread.is_fenced) {
    return;
  }
  for (unsigned place = 0; place < thread.size && thread.at(place).bytes != 0; ++place) {
    Waiting& entry = thread.at(place);
    if (!entry.is_done && buffer_.takes(entry.address)) {
      buffer_.store(number, entry.address, entry.data.data(), entry.bytes);
      entry.is_done = true;
    }
  }
  while (thread.size > 0 && thread.at(0).is_done) {
    thread.pop();
  }
  if (thread.size > 0 && thread.at(0).bytes == 0) {
    thread.pop();
    thread.is_fenced = true;
  }
}

const StoreBlock* HostCore::next_to_write() const {
  if (const StoreBlock* const full = buffer_.oldest_full()) {
    return full;
  }
  unsigned fenced = 0;
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    fenced |= is_fenced(thread) ? 1U << thread : 0U;
  }
  return fenced == 0 ? nullptr : buffer_.oldest_to_leave(fenced);
}

void HostCore::release(const StoreBlock& block) {
  buffer_.release(block);
  for (unsigned i = 0; i < kThreads; ++i) {
    go_on((next_thread_ + i) % kThreads);
  }
  next_thread_ = (next_thread_ + 1) % kThreads;
}

bool HostCore::is_fence_out(unsigned thread) const {
  return is_fenced(thread) && buffer_.oldest_of(1U << thread) == nullptr;
}

void HostCore::acknowledge(unsigned thread) {
  FLITWISE_CHECK(is_fence_out(thread), "a fence is over when its writes are out");
  threads_[thread].is_fenced = false;
  ++fences_;
  go_on(thread);
}

}  // namespace flitwise
