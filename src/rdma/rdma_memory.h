// SPDX-License-Identifier: Apache-2.0
/// Where bytes of a message lie in memory of one end: a list of pieces, and parts of it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace flitwise {

/// A piece of memory as a work request names it.
struct Sge {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint32_t key = 0;  ///< of the memory region that it lies in
};

/// Up to kMost pieces, one behind the other. The payload of a packet is such a view: who moves
/// bytes goes by it, no rule copies them.
struct MemoryView {
  static constexpr unsigned kMost = 4;
  std::array<Sge, kMost> pieces;
  std::uint8_t count = 0;

  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < count; ++i) {
      sum += pieces[i].bytes;
    }
    return sum;
  }
  const Sge* begin() const { return pieces.data(); }
  const Sge* end() const { return pieces.data() + count; }

  /// So many bytes from `offset` on, or as many as there are.
  MemoryView part(std::uint64_t offset, std::uint64_t bytes) const {
    MemoryView view;
    for (const Sge& piece : *this) {
      const std::uint64_t skipped = std::min<std::uint64_t>(offset, piece.bytes);
      const std::uint64_t taken = std::min(bytes, piece.bytes - skipped);
      offset -= skipped;
      bytes -= taken;
      if (taken > 0) {
        view.pieces[view.count++] = {piece.address + skipped, static_cast<std::uint32_t>(taken),
                                     piece.key};
      }
    }
    return view;
  }
};

inline MemoryView view_of(const Sge& piece) {
  return {{piece}, 1};
}

}  // namespace flitwise
