// SPDX-License-Identifier: Apache-2.0
/// The blocks of packets as a core stores them: the PBC, the stamp, and what follows from it.
#pragma once

#include <array>
#include <cstdint>

#include "pio/packet_stamp.h"
#include "pio/pbc.h"
#include "pio/send_window.h"

namespace flitwise {

class PacketWriter {
 public:
  /// Block `index` of a packet, until the next call. pbc: length, VL and credit return; the rest is
  /// as in Pbc{}.
  const std::uint8_t* block(const Pbc& pbc, const PacketStamp& stamp, unsigned index);

 private:
  std::uint64_t qw_of(const Pbc& pbc);

  Pbc last_;  // most packets have the PBC of the one before
  std::uint64_t last_qw_ = encode(Pbc{});
  std::array<std::uint8_t, kSendBlockBytes> bytes_{};
};

}  // namespace flitwise
