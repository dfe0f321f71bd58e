// SPDX-License-Identifier: Apache-2.0
/// Closed forms for bit-packed messages: share of data in a message, and flits per message.
#pragma once

#include <cstdint>

namespace flitwise {

/// Link efficiency in the patent's sense: data bits over data and identity bits, other control
/// fields left out.
double data_share(unsigned data_bits, unsigned identity_bits);
/// By how much the identity makes the message longer, relative to the data.
double identity_growth(unsigned data_bits, unsigned identity_bits);

/// Flits of a bit-packed carrier. [DHI D24]
struct FlitShape {
  unsigned flit_bits = 80;
  unsigned crc_bits = 16;  ///< inside the flit; REQUIRES: below flit_bits
};

/// Each message starts a flit: ceil(bits / (flit - CRC)).
std::uint64_t aligned_flits(const FlitShape& flit, std::uint64_t message_bits);
/// Messages follow each other bit by bit: flits that `messages` of them fill or touch.
std::uint64_t contiguous_flits(const FlitShape& flit, std::uint64_t message_bits,
                               std::uint64_t messages);

}  // namespace flitwise
