// SPDX-License-Identifier: Apache-2.0
/// Finds complete packets in the buffer of one send context, in whatever order their writes come.
#pragma once

#include <cstdint>
#include <optional>

#include "pio/pbc.h"
#include "pio/send_memory.h"

namespace flitwise {

/// Only the packet that comes next is looked at (the head): its slot is known, its length once the
/// QW of its PBC has come with SOP=1. What is written behind it is kept until its turn. [PIO-5.1]
///
/// Places are counted in blocks since start(), so that the slot of n is n modulo depth.
class PacketAssembly {
 public:
  /// The buffer is empty. REQUIRES: its blocks of `memory` are cleared.
  void start(SendMemory& memory, unsigned base, unsigned depth);

  /// What is wrong with a write to a block that does not make it wait, before it is done. [PIO-9.3]
  std::optional<SendError> flaw_of(unsigned slot, const BlockWrite& write) const;
  /// REQUIRES: flaw_of() has found none, the block is open.
  void take(unsigned slot, const BlockWrite& write);

  /// What is wrong with the packet that comes next, as far as it is here: SOP=0 at its start, a
  /// length of 0, SOP=1 within. [PIO-9.4, 12.4]
  std::optional<SendError> head_flaw() const;
  bool is_head_complete() const { return is_known_ && missing_ == 0; }
  /// The head becomes a packet of send memory (SendMemory::packet_at of its first block), its
  /// blocks are held, and the packet behind it is the head. REQUIRES: it is complete and flawless.
  void finish_head();

  /// Blocks of all packets that were complete; also where the head begins.
  std::uint64_t done() const { return done_; }
  unsigned depth() const { return depth_; }
  /// The index in send memory of the block at this place.
  std::size_t index_of(std::uint64_t place) const { return base_ + place % depth_; }

 private:
  unsigned head_slot() const { return static_cast<unsigned>(done_ % depth_); }
  /// Blocks of the head that the buffer can hold.
  unsigned span() const { return length_ < depth_ ? length_ : depth_; }
  bool is_within(unsigned slot) const;
  void look_at_head();

  SendMemory* memory_ = nullptr;
  unsigned base_ = 0, depth_ = 1;
  std::uint64_t done_ = 0;
  // Of the head; all but is_known_ only once its PBC is here.
  bool is_known_ = false;
  bool has_inner_start_ = false;
  Pbc pbc_;
  unsigned length_ = 0, missing_ = 0;  // in blocks; missing: not full
};

}  // namespace flitwise
