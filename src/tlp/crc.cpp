// SPDX-License-Identifier: Apache-2.0
// Checksums of TLPs and DLLPs.
#include "tlp/crc.h"

#include <zlib.h>

#include <boost/crc.hpp>

namespace flitwise {
namespace {

using DllpCrc = boost::crc_optimal<16, 0x100b, 0xffff, 0xffff, true, true>;

uLong crc_of(uLong crc, const std::uint8_t* bytes, std::size_t count) {
  return count == 0 ? crc : crc32_z(crc, bytes, count);
}

}  // namespace

std::uint32_t lcrc(std::uint16_t sequence, const std::uint8_t* tlp, std::size_t bytes) {
  const std::array<std::uint8_t, 2> number = {static_cast<std::uint8_t>((sequence >> 8) & 0xfU),
                                              static_cast<std::uint8_t>(sequence & 0xffU)};
  return static_cast<std::uint32_t>(crc_of(crc_of(0, number.data(), 2), tlp, bytes));
}

std::uint16_t dllp_crc16(const std::array<std::uint8_t, 4>& dllp) {
  DllpCrc crc;
  crc.process_bytes(dllp.data(), dllp.size());
  return static_cast<std::uint16_t>(crc.checksum());
}

std::uint32_t ecrc(const std::uint8_t* tlp, std::size_t bytes, std::size_t prefix_bytes,
                   std::size_t local_prefix_bytes, const EcrcVariantBits& variant) {
  const std::size_t first = kEcrcCoversLocalPrefixes ? 0 : local_prefix_bytes;
  uLong crc = crc_of(0, tlp + first, prefix_bytes - first);
  EcrcVariantBits start = variant;
  for (std::size_t i = 0; i < start.size(); ++i) {
    start[i] |= tlp[prefix_bytes + i];
  }
  crc = crc_of(crc, start.data(), start.size());
  const std::size_t rest = prefix_bytes + start.size();
  return static_cast<std::uint32_t>(crc_of(crc, tlp + rest, bytes - rest));
}

void put_ecrc(std::uint32_t crc, std::uint8_t* bytes) {
  for (unsigned i = 0; i < 4; ++i) {
    bytes[i] = static_cast<std::uint8_t>(crc >> (8 * i));
  }
}

}  // namespace flitwise
