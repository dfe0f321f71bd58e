// SPDX-License-Identifier: Apache-2.0
// Bits and flits, counted.
#include "support/message_model.h"

namespace flitwise {

double data_share(unsigned data_bits, unsigned identity_bits) {
  return static_cast<double>(data_bits) / (data_bits + identity_bits);
}

double identity_growth(unsigned data_bits, unsigned identity_bits) {
  return static_cast<double>(identity_bits) / data_bits;
}

std::uint64_t aligned_flits(const FlitShape& flit, std::uint64_t message_bits) {
  const std::uint64_t room = flit.flit_bits - flit.crc_bits;
  return (message_bits + room - 1) / room;
}

std::uint64_t contiguous_flits(const FlitShape& flit, std::uint64_t message_bits,
                               std::uint64_t messages) {
  return aligned_flits(flit, message_bits * messages);
}

}  // namespace flitwise
