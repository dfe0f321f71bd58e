// SPDX-License-Identifier: Apache-2.0
// Positions of bits are unverified: no page at hand gives them. docs/unverified.md
#include "pio/sdma_descriptor.h"

#include <boost/endian/conversion.hpp>

#include "common/byte_vector.h"
#include "pio/send_window.h"

namespace flitwise {
namespace {

// Of the first QW.
constexpr unsigned kSdmaAddressBits = 48, kSdmaCountBits = 14;
constexpr unsigned kSdmaCountBit = 48, kSdmaLastBit = 62, kSdmaFirstBit = 63;
// Of the second QW.
constexpr unsigned kSdmaHeadBit = 0, kSdmaInterruptBit = 1, kSdmaGenerationBit = 2;

constexpr std::uint64_t sdma_field(std::uint64_t qw, unsigned low, unsigned bits) {
  return qw >> low & ((std::uint64_t{1} << bits) - 1);
}

}  // namespace

SdmaDescriptor decode_sdma_descriptor(const std::uint8_t* bytes) {
  const std::uint64_t first = little_endian(bytes, 8), second = little_endian(bytes + 8, 8);
  SdmaDescriptor descriptor;
  descriptor.address = sdma_field(first, 0, kSdmaAddressBits);
  descriptor.bytes = static_cast<std::uint16_t>(sdma_field(first, kSdmaCountBit, kSdmaCountBits));
  descriptor.is_last = sdma_field(first, kSdmaLastBit, 1) != 0;
  descriptor.is_first = sdma_field(first, kSdmaFirstBit, 1) != 0;
  descriptor.asks_for_head = sdma_field(second, kSdmaHeadBit, 1) != 0;
  descriptor.interrupts = sdma_field(second, kSdmaInterruptBit, 1) != 0;
  descriptor.generation = static_cast<std::uint8_t>(sdma_field(second, kSdmaGenerationBit, 2));
  return descriptor;
}

std::array<std::uint8_t, kSdmaDescriptorBytes> encode(const SdmaDescriptor& descriptor) {
  const auto bit = [](bool is_set, unsigned place) { return std::uint64_t{is_set} << place; };
  std::array<std::uint8_t, kSdmaDescriptorBytes> bytes;
  boost::endian::store_little_u64(
      bytes.data(), descriptor.address | std::uint64_t{descriptor.bytes} << kSdmaCountBit |
                        bit(descriptor.is_last, kSdmaLastBit) |
                        bit(descriptor.is_first, kSdmaFirstBit));
  boost::endian::store_little_u64(bytes.data() + kQwBytes,
                                  bit(descriptor.asks_for_head, kSdmaHeadBit) |
                                      bit(descriptor.interrupts, kSdmaInterruptBit) |
                                      std::uint64_t{descriptor.generation} << kSdmaGenerationBit);
  return bytes;
}

}  // namespace flitwise
