// SPDX-License-Identifier: Apache-2.0
/// What the monitors note of packets: what they ask of a TLP's type for each, looked up once, and
/// in which order packets came.
#pragma once

#include <array>
#include <cstdint>
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

/// Packets in the order in which they came, each with its flow-control class, in a ring that grows;
/// the owner sees to it that they live.
class PacketRing {
 public:
  std::size_t size() const { return tail_ - head_; }
  bool starts_with(const Packet& packet, std::size_t fc) const {
    return slots_[head_ & mask_] == slot(packet, fc);
  }
  void push(const Packet& packet, std::size_t fc) {
    if (size() == mask_) {  // the slot behind the last one stays empty
      grow();
    }
    slots_[tail_++ & mask_] = slot(packet, fc);
  }
  void pop() { slots_[head_++ & mask_] = 0; }

  /// REQUIRES: index < size().
  const Packet& packet(std::size_t index) const {
    return *reinterpret_cast<const Packet*>(at(index) & ~kClassBits);
  }
  bool is(std::size_t index, FcClass fc) const {
    return (at(index) & kClassBits) == static_cast<std::uintptr_t>(fc);
  }
  /// The place of a packet; size() where it is not.
  std::size_t find(const Packet& packet, std::size_t fc) const {
    std::size_t index = 0;
    while (index < size() && at(index) != slot(packet, fc)) {
      ++index;
    }
    return index;
  }
  /// Takes out one from within; the older ones move up.
  void erase(std::size_t index) {
    for (; index > 0; --index) {
      slots_[(head_ + index) & mask_] = at(index - 1);
    }
    pop();
  }

 private:
  static constexpr std::uintptr_t kClassBits = 3;
  static_assert(alignof(Packet) > kClassBits);
  static std::uintptr_t slot(const Packet& packet, std::size_t fc) {
    return reinterpret_cast<std::uintptr_t>(&packet) | fc;
  }
  std::uintptr_t at(std::size_t index) const { return slots_[(head_ + index) & mask_]; }
  void grow() {
    std::vector<std::uintptr_t> larger(slots_.size() * 2);
    for (std::size_t i = head_; i != tail_; ++i) {
      larger[i & (larger.size() - 1)] = slots_[i & mask_];
    }
    slots_ = std::move(larger);
    mask_ = slots_.size() - 1;
  }

  std::vector<std::uintptr_t> slots_ = std::vector<std::uintptr_t>(64);  // a power of two
  std::size_t mask_ = 63;
  std::size_t head_ = 0, tail_ = 0;  // run on without end
};

}  // namespace flitwise
