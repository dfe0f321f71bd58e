// SPDX-License-Identifier: Apache-2.0
/// What software and an SDMA engine share in host memory: the head, the ring, and packets.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pio/sdma_descriptor.h"
#include "pio/send_window.h"

namespace flitwise {

/// Addresses and sizes in bytes. The first 64 bytes of the buffer are for credit returns.
struct SdmaArea {
  std::uint64_t base = 0;        ///< of the buffer, a multiple of 64
  std::uint64_t bytes = 0;       ///< of the buffer
  unsigned entries = 0;          ///< of the ring
  std::uint64_t most_bytes = 0;  ///< of a packet with its PBC

  std::uint64_t head() const { return base + kSendBlockBytes; }
  std::uint64_t ring() const { return base + std::uint64_t{2} * kSendBlockBytes; }
  std::uint64_t descriptor(std::uint64_t index) const {
    return ring() + index * kSdmaDescriptorBytes;
  }
  std::uint64_t packet(std::uint64_t place) const {
    return packets_begin() + place * place_bytes();
  }
  /// Packets that have room at a time, and that the ring has room for; 0: the buffer is too small.
  unsigned places() const {
    const std::uint64_t before = packets_begin() - base;
    const std::uint64_t room = bytes > before ? bytes - before : 0;
    return static_cast<unsigned>(std::min<std::uint64_t>(entries, room / place_bytes()));
  }

 private:
  static std::uint64_t whole_blocks(std::uint64_t bytes) {
    return (bytes + kSendBlockBytes - 1) / kSendBlockBytes * kSendBlockBytes;
  }
  std::uint64_t packets_begin() const {
    return ring() + whole_blocks(std::uint64_t{entries} * kSdmaDescriptorBytes);
  }
  std::uint64_t place_bytes() const { return whole_blocks(most_bytes); }
};

}  // namespace flitwise
