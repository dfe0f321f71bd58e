// SPDX-License-Identifier: Apache-2.0
// Table of the section `message`: the bit-packed carrier. [DHI D24]
#include "config/sections/sections.h"

namespace flitwise::config {

Keys message_keys() {
  return {
      count(
          "message.header_bits", [](auto& c) { return &c.message.header_bits; }, between(0, 1024),
          "Header of a message without its identity, in bits."),
      count(
          "message.payload_bits", [](auto& c) { return &c.message.payload_bits; },
          between(1, 32768), "Payload of a message, in bits."),
      count(
          "message.identity_bits", [](auto& c) { return &c.message.identity_bits; },
          between(0, 128), "Bits that name the domain."),
      count(
          "message.flit_bits", [](auto& c) { return &c.message.flit_bits; }, between(16, 128),
          "One flit with its CRC, in bits."),
      count(
          "message.crc_bits", [](auto& c) { return &c.message.crc_bits; }, between(0, 64),
          "CRC inside each flit, in bits."),
      choice(
          "message.packing", [](auto& c) { return &c.message.packing; },
          "Whether a message starts on a flit, or follows the last one without a gap."),
  };
}

}  // namespace flitwise::config
