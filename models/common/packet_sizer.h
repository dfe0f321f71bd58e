// SPDX-License-Identifier: Apache-2.0
/// What a packet will take on the carrier of its link, by cause; a TLP as in non-flit mode, since
/// what it takes in a flit is the business of the packer.
#pragma once

#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "tlp/wire_size.h"

namespace flitwise {

class PacketSizer {
 public:
  PacketSizer(const LinkConfig& link, const MessageConfig& message, unsigned handle_bits)
      : carrier_(link.carrier),
        uses_handles_(link.identity == Identity::kDhi),
        domain_bits_(link.identity == Identity::kNone ? 0 : message.identity_bits),
        message_(message),
        handle_bits_(handle_bits) {}

  /// From now on every TLP bears an ECRC, if software wants that. [LNK-12.6]
  void set_ecrc(bool is_generated) { adds_ecrc_ = is_generated; }

  /// Fills packet.size (and the kind, on the bit-packed carrier) from its fields; adds the ECRC.
  void size(Packet& packet) const {
    if (carrier_ == Carrier::kPcie) {
      packet.tlp.has_ecrc = packet.tlp.has_ecrc || adds_ecrc_;
      packet.size = wire_size_of(packet);
    } else {
      size_message(packet);
    }
  }

 private:
  // A bit-packed message: a fixed header, the identity's bits where it has one, the payload. With
  // handles, one bit says which form the identity has. What travels for the handle table's sake is
  // identity as a whole. [DHI D24]
  void size_message(Packet& packet) const {
    packet.kind = PacketKind::kMessage;
    packet.size = WireSize{};
    if (packet.purpose != HandlePurpose::kNone) {
      packet.size.identity = message_.header_bits + data_bytes(packet.tlp) * 8;
      return;
    }
    packet.size.header = message_.header_bits;
    const std::uint32_t form_bit = uses_handles_ ? 1 : 0;
    packet.size.identity = form_bit + (packet.tlp.id_is_handle ? handle_bits_ : domain_bits_);
    packet.size.payload = packet.payload_bytes > 0 ? message_.payload_bits : 0;
  }

  Carrier carrier_;
  bool uses_handles_;
  unsigned domain_bits_;  // of an identity in full
  MessageConfig message_;
  unsigned handle_bits_;
  bool adds_ecrc_ = false;
};

}  // namespace flitwise
