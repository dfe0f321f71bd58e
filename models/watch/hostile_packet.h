// SPDX-License-Identifier: Apache-2.0
/// What those who watch hostile devices have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "flitwise/packet.h"
#include "memory/memory_port.h"

namespace flitwise {

/// A packet that a hostile device has made, as against the TLPs of a script and what answers it.
inline bool is_hostile(const Packet& packet) {
  return is_sent_raw(packet) && packet.request == 0;
}

/// Addresses, both ends inside.
struct WatchedSpan {
  std::uint64_t first = 0, last = ~std::uint64_t{0};
  bool contains(std::uint64_t address, std::uint64_t bytes) const {
    return address >= first && address <= last && bytes - 1 <= last - address;
  }
};

/// Tells of what one root port lets into memory.
class PortWatch final : public MemoryWatch {
 public:
  using Tell = std::function<void(const Packet& packet, std::uint64_t address)>;
  explicit PortWatch(Tell tell) : tell_(std::move(tell)) {}
  void accessed(const Packet& packet, std::uint64_t address) override { tell_(packet, address); }

 private:
  const Tell tell_;
};

}  // namespace flitwise
