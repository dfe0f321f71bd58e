// SPDX-License-Identifier: Apache-2.0
/// What the monitors note of packets: what they ask of a TLP's type for each, looked up once, and
/// in which order packets came.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "flitwise/packet.h"

namespace flitwise {

struct TlpKind {
  std::uint8_t fc = 0;  ///< index of the class
  bool has_data = false, is_memory = false;
  constexpr bool is(FcClass one) const { return fc == static_cast<std::uint8_t>(one); }
};

inline constexpr std::array<TlpKind, kTlpTypes> kTlpKinds = [] {
  std::array<TlpKind, kTlpTypes> kinds{};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto type = static_cast<TlpType>(i);
    kinds[i] = {static_cast<std::uint8_t>(fc_class(type)), has_data(type), is_memory_request(type)};
  }
  return kinds;
}();

constexpr TlpKind kind_of(const Tlp& tlp) {
  return kTlpKinds[static_cast<std::size_t>(tlp.type)];
}

/// A ring that grows. Counts run on without end: those in it are head to tail - 1.
template <class Slot>
struct GrowingRing {
  Slot& at(std::uint64_t count) { return slots[count & mask]; }
  const Slot& at(std::uint64_t count) const { return slots[count & mask]; }
  const Slot& first() const { return at(head); }
  void push(const Slot& slot) {
    if (tail - head == mask) {  // the slot behind the last one stays empty
      grow();
    }
    at(tail++) = slot;
  }
  /// The first that is one; `until` where none is.
  template <class Is>
  std::uint64_t find(std::uint64_t from, std::uint64_t until, Is is) const {
    while (from != until && !is(at(from))) {
      ++from;
    }
    return from;
  }
  /// Takes the slot at `count` down to `to`; those between move up.
  void move_down(std::uint64_t count, std::uint64_t to) {
    const Slot slot = at(count);
    for (; count > to; --count) {
      at(count) = at(count - 1);
    }
    at(to) = slot;
  }
  void grow() {
    std::vector<Slot> larger(slots.size() * 2);
    for (std::uint64_t i = head; i != tail; ++i) {
      larger[i & (larger.size() - 1)] = at(i);
    }
    slots = std::move(larger);
    mask = slots.size() - 1;
  }

  std::vector<Slot> slots = std::vector<Slot>(64);  // a power of two
  std::uint64_t mask = 63;
  std::uint64_t head = 0, tail = 0;
};

}  // namespace flitwise
