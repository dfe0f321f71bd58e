// SPDX-License-Identifier: Apache-2.0
#include "pio/packet_writer.h"

#include <boost/endian/conversion.hpp>

#include <cstddef>

namespace flitwise {

// Software pads the last block, so that it leaves by itself. [PIO-4.2]
const std::uint8_t* PacketWriter::block(const Pbc& pbc, const PacketStamp& stamp, unsigned index) {
  constexpr unsigned kQws = kSendBlockBytes / kQwBytes;
  for (unsigned qw = 0; qw < kQws; ++qw) {
    const unsigned place = index * kQws + qw;
    boost::endian::store_little_u64(bytes_.data() + std::size_t{qw} * kQwBytes,
                                    place == 0 ? qw_of(pbc) : stamp.qw(place));
  }
  return bytes_.data();
}

std::uint64_t PacketWriter::qw_of(const Pbc& pbc) {
  if (last_.length_dws != pbc.length_dws || last_.vl != pbc.vl ||
      last_.credit_return != pbc.credit_return) {
    last_ = pbc;
    last_qw_ = encode(pbc);
  }
  return last_qw_;
}

}  // namespace flitwise
