// SPDX-License-Identifier: Apache-2.0
/// Descriptors of SDMA: 16 bytes of host memory, little-endian, which name one fragment of a
/// packet. [PIO-6.11]
#pragma once

#include <array>
#include <cstdint>

namespace flitwise {

inline constexpr unsigned kSdmaDescriptorBytes = 16;
inline constexpr unsigned kMostSdmaFragments = 64;        ///< of a packet [PIO-6.13]
inline constexpr unsigned kMostSdmaPacketBytes = 0x3fff;  ///< PBC and packet [PIO-6.13]
inline constexpr unsigned kSdmaGenerations = 4;           ///< rounds that a descriptor tells apart

struct SdmaDescriptor {
  std::uint64_t address = 0;    ///< of the fragment, 48 bits
  std::uint16_t bytes = 0;      ///< 0..16383
  bool is_first = false;        ///< of its packet
  bool is_last = false;         ///< of its packet
  std::uint8_t generation = 0;  ///< round of the ring, modulo 4
  bool asks_for_head = false;   ///< the head is written to host memory when its packet is done
  bool interrupts = false;      ///< with that write
};

/// REQUIRES: kSdmaDescriptorBytes bytes. Flags that update headers are not looked at.
SdmaDescriptor decode_sdma_descriptor(const std::uint8_t* bytes);
std::array<std::uint8_t, kSdmaDescriptorBytes> encode(const SdmaDescriptor& descriptor);

}  // namespace flitwise
