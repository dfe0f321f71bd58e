// SPDX-License-Identifier: Apache-2.0
/// A core of the host as PIO sees it, without a clock: one or two threads, the store buffer that
/// they share, and the stores and fences that wait. [PIO-4.1, 4.4, 4.5]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pio/store_buffer.h"

namespace flitwise {

/// When the link has room, the caller hands over the StoreWrites of next_to_write() and calls
/// release(), with no store in between; a block that leaves sooner is evicted. A fence ends with
/// acknowledge(), when the caller knows that the IIO has answered.
class HostCore {
 public:
  static constexpr unsigned kThreads = 2;
  static constexpr unsigned kMostWaiting = 256;
  static constexpr unsigned kUsualBlocks = 12;

  /// Blocks of the store buffer, 1..StoreBuffer::kMostBlocks. `window`: how many stores and fences
  /// of a thread the core runs ahead, counted from the oldest that waits, 0..kMostWaiting.
  explicit HostCore(unsigned blocks = kUsualBlocks, unsigned window = 0);

  /// A store of thread 0 or 1. False: the thread has to wait, and nothing has changed: its window
  /// is full. REQUIRES: StoreBuffer::is_store().
  bool store(unsigned thread, std::uint64_t address, const std::uint8_t* data, std::size_t bytes);
  /// sfence. False as with store(). [PIO-4.4]
  bool fence(unsigned thread);

  /// A block that is full, or else one that a fence waits for, oldest first, and that is not
  /// leaving; null: none.
  const StoreBlock* next_to_write() const;
  /// The writes of a block are on their way, and others may follow before it is out.
  void leave(const StoreBlock& block) { buffer_.leave(block); }
  /// The block is out, by its StoreWrites: it is free, and stores that wait go on. REQUIRES: a
  /// block of buffer() that is held.
  void release(const StoreBlock& block);

  /// Does later work of the thread wait for a fence?
  bool is_fenced(unsigned thread) const { return threads_[thread].is_fenced; }
  /// All that this fence waits for is out: what is left is the answer of the IIO.
  bool is_fence_out(unsigned thread) const;
  /// The IIO has answered: the fence is over and stores behind it go on. REQUIRES: is_fence_out().
  void acknowledge(unsigned thread);

  /// Stores and fences from the oldest that waits on, some of them done already.
  unsigned waiting(unsigned thread) const { return threads_[thread].size; }
  /// Would a store of the thread be done at once where its block takes it?
  bool is_idle(unsigned thread) const { return !is_fenced(thread) && waiting(thread) == 0; }
  const StoreBuffer& buffer() const { return buffer_; }
  std::uint64_t fences() const { return fences_; }  ///< that are over
  std::uint64_t stalls() const { return stalls_; }  ///< stores and fences that found no place

 private:
  struct Waiting {
    std::uint64_t address = 0;
    std::uint8_t bytes = 0;  // 0: a fence
    bool is_done = false;
    std::array<std::uint8_t, kSendBlockBytes> data{};
  };
  struct Thread {
    std::vector<Waiting> ring;
    unsigned first = 0, size = 0;
    bool is_fenced = false;
    Waiting& at(unsigned place) {
      return ring[(first + place) % static_cast<unsigned>(ring.size())];
    }
    void pop();
  };
  Waiting* wait(Thread& thread);
  void go_on(unsigned number);

  StoreBuffer buffer_;
  std::array<Thread, kThreads> threads_;
  unsigned next_thread_ = 0;  // that goes on first with the next free block
  std::uint64_t fences_ = 0, stalls_ = 0;
};

}  // namespace flitwise
