// SPDX-License-Identifier: Apache-2.0
/// PIO send memory: 1 MB in blocks of 64 bytes, and of each block what has been written to it.
/// Contexts share it out among themselves; nothing here knows of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pio/send_window.h"

namespace flitwise {

inline constexpr std::uint8_t kPbcQw = 1;  ///< the QW of a packet's first block that is its PBC

/// The bytes of a block, and which of its QWs a write brings, a bit each.
struct BlockWrite {
  std::uint8_t qws = 0;
  bool is_sop = false;
  bool begins_packet() const { return is_sop && (qws & kPbcQw) != 0; }
  const std::uint8_t* bytes = nullptr;  ///< of the first of these QWs; they follow each other
};

/// Who may write to a block. [PIO-5.5, 12.22]
enum class BlockUse : std::uint8_t {
  kOpen,     ///< anybody: free, or being filled
  kHeld,     ///< nobody: the free counter does not cover its packet
  kDraining  ///< a write waits: covered by early return, and not read out [PIO-7.5]
};

struct SendBlock {
  std::uint8_t qws = 0;   ///< that are filled, a bit each
  std::uint8_t sops = 0;  ///< bit 0: written with SOP=0, bit 1: with SOP=1
  BlockUse use = BlockUse::kOpen;

  static constexpr std::uint8_t kFull = 0xff;
  static constexpr std::uint8_t kNoSop = 1, kSop = 2;
  static constexpr std::uint8_t sop_bit(bool is_sop) { return is_sop ? kSop : kNoSop; }
  bool is_full() const { return use == BlockUse::kOpen && qws == kFull; }
  /// Filled in part or whole, by what is no complete packet yet.
  bool is_begun() const { return use == BlockUse::kOpen && qws != 0; }
};

/// QWs that wait until the block has been read out, a bit each.
struct WaitingWrites {
  std::uint8_t qws = 0;
  bool is_sop = false;
  bool begins_packet() const { return is_sop && (qws & kPbcQw) != 0; }
};

/// A complete packet, kept by its first block. [PIO-5.4]
struct SendPacket {
  std::uint16_t blocks = 0;
  std::uint8_t vl = 0;
  bool returns_credits = false;  ///< PbcCreditReturn
  bool is_released = false;      ///< its blocks count as free as soon as all before them do
  bool is_drained = false;       ///< read out, or dropped
  std::uint16_t drained = 0;     ///< blocks that were read out one by one behind another packet
};

class SendMemory {
 public:
  SendMemory();

  SendBlock& block(std::size_t index) { return blocks_[index]; }
  const SendBlock& block(std::size_t index) const { return blocks_[index]; }
  SendPacket& packet_at(std::size_t index) { return packets_[index]; }
  const SendPacket& packet_at(std::size_t index) const { return packets_[index]; }
  const std::uint8_t* bytes(std::size_t index) const {
    return bytes_.data() + index * kSendBlockBytes;
  }
  /// The QWs of the write are kept. REQUIRES: the block is open and has none of them.
  void store(std::size_t index, const BlockWrite& write);

  /// Room for waiting writes is made. Before any early return; later calls do nothing.
  void keep_waiting_writes();
  /// REQUIRES: keep_waiting_writes(), a draining block, none of these QWs waits.
  void store_waiting(std::size_t index, const BlockWrite& write);
  bool has_waiting(std::size_t index) const {
    return !waiting_.empty() && waiting_[index].qws != 0;
  }
  const WaitingWrites& waiting(std::size_t index) const { return waiting_[index]; }
  const std::uint8_t* waiting_bytes(std::size_t index) const {
    return waiting_bytes_.data() + index * kSendBlockBytes;
  }

  /// A block is free again; what waits for it stays.
  void open(std::size_t index) { blocks_[index] = {}; }
  void drop_waiting(std::size_t index);
  /// These blocks are free, and what waited for them is gone.
  void clear(std::size_t first, std::size_t count);

 private:
  std::vector<SendBlock> blocks_;
  std::vector<SendPacket> packets_;
  std::vector<std::uint8_t> bytes_;
  std::vector<WaitingWrites> waiting_;  // none without early return
  std::vector<std::uint8_t> waiting_bytes_;
};

}  // namespace flitwise
