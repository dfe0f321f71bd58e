// SPDX-License-Identifier: Apache-2.0
/// What a framer hands to the wire, and what the wire hands to the framer at the other end: never
/// split, and good or damaged as a whole.
#pragma once

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
  /// TLPs, or parts of them, or messages.
  bool has_payload() const {
    return is_flit() ? packet->flit->has_payload : packet->kind != PacketKind::kDllp;
  }
};

}  // namespace flitwise
