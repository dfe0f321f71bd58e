// SPDX-License-Identifier: Apache-2.0
/// What software finds in memory that devices write for it to look at, such as credits and heads of
/// rings: a write is there when it is done, however early the memory model takes its bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "common/due_queue.h"
#include "flitwise/time.h"

namespace flitwise {

class SeenWords {
  static constexpr std::uint64_t kLine = 64;

 public:
  /// The first `bytes` of `areas` areas of `stride` bytes, multiples of 8; the first one begins at
  /// `base`. All are 0.
  SeenWords(std::uint64_t base, std::uint64_t stride, std::uint64_t areas,
            std::uint64_t bytes = 2 * kLine)
      : base_(base),
        stride_(stride),
        area_bytes_(std::min(stride, bytes)),
        bytes_(areas * area_bytes_) {}
  /// Is told of each write that the areas see something of: the first address that they see, and
  /// when it is done.
  void on_write(std::function<void(std::uint64_t address, Time when)> action) {
    on_write_ = std::move(action);
  }

  /// A write that is done at `when`; what lies outside the areas is left out.
  void written(std::uint64_t address, const std::uint8_t* data, std::size_t size, Time now,
               Time when) {
    take_due(now);
    const std::uint64_t end = address + size;
    if (const std::uint64_t first = next_watched(address); on_write_ && first < end) {
      on_write_(first, when);
    }
    for (std::uint64_t at = next_watched(address); at < end;) {
      const std::uint64_t piece = std::min({end - at, kLine, area_bytes_ - (at - base_) % stride_});
      Write write{index_of(at), piece, {}};
      std::memcpy(write.data.data(), data + (at - address), piece);
      writes_.add(write, when);
      at = next_watched(at + piece);
    }
  }
  /// The eight bytes there as they stand in memory at `now`. REQUIRES: holds(address).
  std::uint64_t look(std::uint64_t address, Time now) {
    take_due(now);
    std::uint64_t word = 0;
    std::memcpy(&word, &bytes_[index_of(address)], sizeof(word));
    return word;
  }
  bool holds(std::uint64_t address) const { return next_watched(address) == address; }

 private:
  struct Write {
    std::size_t index = 0, size = 0;
    std::array<std::uint8_t, kLine> data{};
  };

  std::size_t index_of(std::uint64_t address) const {
    const std::uint64_t offset = address - base_;
    return offset / stride_ * area_bytes_ + offset % stride_;
  }
  // The first address from there on that is watched; the largest one where there is none.
  std::uint64_t next_watched(std::uint64_t address) const {
    const std::uint64_t offset = address > base_ ? address - base_ : 0;
    const std::uint64_t area = offset / stride_ + (offset % stride_ < area_bytes_ ? 0 : 1);
    const std::uint64_t next = std::max(offset, area * stride_);
    return next / stride_ < bytes_.size() / area_bytes_ ? base_ + next : ~std::uint64_t{0};
  }
  void take_due(Time now) {
    while (writes_.is_due(now)) {
      const Write write = writes_.take();
      std::memcpy(&bytes_[write.index], write.data.data(), write.size);
    }
  }

  const std::uint64_t base_, stride_, area_bytes_;
  std::vector<std::uint8_t> bytes_;
  DueQueue<Write> writes_;  // that are not done
  std::function<void(std::uint64_t, Time)> on_write_;
};

}  // namespace flitwise
