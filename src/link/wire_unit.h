// SPDX-License-Identifier: Apache-2.0
/// What a framer hands to the wire, and what the wire hands to the framer at the other end: never
/// split, and good or damaged as a whole.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "flitwise/flit.h"
#include "flitwise/packet.h"

namespace flitwise {

struct WireUnit {
  PacketRef packet;            ///< a TLP, a DLLP, a bit-packed message or a flit
  std::uint16_t sequence = 0;  ///< of a TLP (0..4095) or of a flit with payload (1..1023)
  bool is_replay = false;
  WireSize size;  ///< bits, by cause
  PacketRef
      ack;  ///< flit: the Ack or Nak of its DLP, if any; else the DLP has the flit's own number
  PacketRef dllp;  ///< flit: the DLLP of its DLP, if any [LNK-11.5]

  WireUnit() = default;
  /// One of those that a flit is made of, as if it came alone. [CXL-5.1]
  explicit WireUnit(const FlitPart& part)
      : packet(part.packet), sequence(part.sequence), is_replay(part.is_replay) {}

  bool is_flit() const { return packet->kind == PacketKind::kFlit; }
  /// A flit with messages of CXL.cache and CXL.mem.
  bool is_of_cachemem() const { return is_flit() && packet->flit->is_cachemem; }
  /// TLPs, or parts of them, or messages.
  bool has_payload() const {
    return is_flit() ? packet->flit->has_payload : packet->kind != PacketKind::kDllp;
  }
};

/// What is left of a packet that is cut by the ends of flits, by cause, in the order in which its
/// parts stand on the wire. [LNK-11.2] [CXL-5.1]
class CutSize {
 public:
  CutSize() = default;
  explicit CutSize(const WireSize& whole) : rest_(whole), bits_(whole.total()) {}

  bool empty() const { return bits_ == 0; }

  /// Moves the next bits, at most so many, to `size`; returns how many.
  std::uint32_t take(std::uint32_t most, WireSize& size) {
    const std::uint32_t bits = std::min(bits_, most);
    bits_ -= bits;
    std::uint32_t left = bits;
    for (const auto part : kParts) {
      const std::uint32_t taken = std::min(rest_.*part, left);
      rest_.*part -= taken;
      size.*part += taken;
      left -= taken;
    }
    return bits;
  }

 private:
  static constexpr std::array<std::uint32_t WireSize::*, 8> kParts = {
      &WireSize::framing, &WireSize::header, &WireSize::identity, &WireSize::payload,
      &WireSize::padding, &WireSize::crc,    &WireSize::dllp,     &WireSize::replay};

  WireSize rest_;
  std::uint32_t bits_ = 0;
};

}  // namespace flitwise
