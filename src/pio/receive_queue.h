// SPDX-License-Identifier: Apache-2.0
/// Where packets of one domain go in host memory: a queue of header entries, and behind it a ring
/// of eager buffers for payload. Header and payload of a packet are written apart. [PIO-1.4] model:
/// software has used what it gets by the time it is written again; nobody waits for it.
#pragma once

#include <cstdint>

namespace flitwise {

/// What the receive engine says of a packet in the last QW of its header entry. [PIO-1.4]
struct HeaderFlags {
  std::uint16_t bytes = 0;   ///< of the packet, without PBC and ICRC: QW bits [15:0]
  std::uint8_t vl = 0;       ///< [19:16]
  std::uint32_t number = 0;  ///< of the packet in its queue, modulo 2^32: [63:32]

  std::uint64_t encode() const {
    return std::uint64_t{number} << 32 | std::uint64_t{vl & 0xfU} << 16 | bytes;
  }
  static HeaderFlags decode(std::uint64_t qw) {
    return {static_cast<std::uint16_t>(qw), static_cast<std::uint8_t>(qw >> 16 & 0xf),
            static_cast<std::uint32_t>(qw >> 32)};
  }
  bool operator==(const HeaderFlags& other) const { return encode() == other.encode(); }
};

class ReceiveQueue {
 public:
  /// Of a packet these first bytes are its header: what shares the first block with the PBC.
  static constexpr unsigned kHeaderBytes = 56;
  static constexpr unsigned kEntryBytes = 64;  ///< the header, zeros if it is shorter, and flags
  static constexpr unsigned kEntries = 64;
  /// Of a domain, so that its half holds the entries and the largest payload.
  static constexpr std::uint64_t kLeastBuffer = std::uint64_t{32} << 10;

  /// Where a packet goes.
  struct Place {
    std::uint64_t entry = 0, payload = 0;  ///< addresses, multiples of 64
    std::uint32_t number = 0;              ///< of the packet, modulo 2^32
  };

  /// Its place is the upper half of a domain's buffer; credits return to the lower one.
  /// REQUIRES: buffer_bytes is kLeastBuffer or more.
  ReceiveQueue(std::uint64_t buffer, std::uint64_t buffer_bytes)
      : entries_(aligned(buffer + buffer_bytes / 2)),
        eager_(entries_ + std::uint64_t{kEntries} * kEntryBytes),
        end_(buffer + buffer_bytes),
        next_(eager_) {}

  /// Of a packet with so many bytes behind its header. A payload lies in one piece: where it would
  /// cross the end of the ring it goes to the start.
  Place take(std::uint64_t payload_bytes) {
    if (payload_bytes > end_ - next_) {
      next_ = eager_;
    }
    const Place place = {entries_ + number_ % kEntries * kEntryBytes, next_, number_};
    next_ = aligned(next_ + payload_bytes);
    next_ = next_ > end_ ? eager_ : next_;
    ++number_;
    return place;
  }
  std::uint32_t packets() const { return number_; }  ///< so far, modulo 2^32

 private:
  static constexpr std::uint64_t aligned(std::uint64_t address) {
    return (address + kEntryBytes - 1) / kEntryBytes * kEntryBytes;
  }

  std::uint64_t entries_, eager_, end_, next_;
  std::uint32_t number_ = 0;
};

}  // namespace flitwise
