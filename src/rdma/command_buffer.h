// SPDX-License-Identifier: Apache-2.0
/// A work request that software stores into an adapter, instead of a doorbell that has it read from
/// its ring: the command, and where its bytes are collected. [HP-1]
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "rdma/ring_entries.h"

namespace flitwise {

inline constexpr std::uint32_t kCommandLine = 64;  ///< bytes of a store that is combined
inline constexpr std::uint32_t kMostCommandBytes = 1024;
/// Of payload in a command.
inline constexpr std::uint32_t kMostInlineBytes = kMostCommandBytes - kWqeBytes;
/// Of a command, which is whole lines.
constexpr std::uint32_t command_bytes(std::uint32_t payload_bytes) {
  return kWqeBytes + (payload_bytes + kCommandLine - 1) / kCommandLine * kCommandLine;
}

/// An entry of a send queue whose queue pair and number are in it as well, and then its payload.
struct Command {
  std::uint32_t queue_pair = 0;  ///< 24 bits
  std::uint16_t number = 0;      ///< of the entry in its ring, modulo 2^16
  bool has_payload = false;      ///< all bytes of its local piece follow
};
void put_command(SendEntry& entry, const Command& command);
Command command_of(const std::uint8_t* entry);

/// Collects the bytes of one command at a time. They come in order, in pieces of any size.
class CommandBuffer {
 public:
  enum class Outcome : std::uint8_t {
    kPartial,
    kComplete,  ///< bytes() has it, until more is written
    kBad        ///< not the next bytes, or more than a command has: all of them are dropped
  };
  Outcome write(std::uint64_t offset, const std::uint8_t* bytes, std::size_t size);
  bool is_partial() const { return filled_ > 0; }
  void drop() { filled_ = 0; }
  const std::uint8_t* bytes() const { return bytes_.data(); }
  std::uint32_t size() const { return size_; }  ///< of the last one that was complete

 private:
  std::optional<std::uint32_t> due() const;

  std::array<std::uint8_t, kMostCommandBytes> bytes_{};
  std::uint32_t filled_ = 0, size_ = 0;
};

}  // namespace flitwise
