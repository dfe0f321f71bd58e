// SPDX-License-Identifier: Apache-2.0
// Table of the section `message`: the bit-packed carrier. [DHI D24]
#include "config/sections/sections.h"

namespace flitwise::config {

Keys message_keys() {
  return {
      count(KEY(message.header_bits), between(0, 1024),
            "Header of a message without its identity, in bits."),
      count(KEY(message.payload_bits), between(1, 32768), "Payload of a message, in bits."),
      count(KEY(message.identity_bits), between(0, 128), "Bits that name the domain."),
      count(KEY(message.flit_bits), between(16, 128), "One flit with its CRC, in bits."),
      count(KEY(message.crc_bits), between(0, 64), "CRC inside each flit, in bits."),
      choice(KEY(message.packing),
             "Whether a message starts on a flit, or follows the last one without a gap."),
  };
}

}  // namespace flitwise::config
