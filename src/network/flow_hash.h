// SPDX-License-Identifier: Apache-2.0
/// Hashes of UDP 5-tuples by which switches spread flows over their ports. [NW-2]
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/random.h"
#include "common/ranges.h"
#include "flitwise/config.h"

namespace flitwise {

/// What a switch tells flows apart by; the protocol is UDP. The first two are addresses of IPv4.
struct FiveTuple {
  std::uint32_t source = 0, destination = 0;
  std::uint16_t source_port = 0, destination_port = 0;

  friend constexpr bool operator==(const FiveTuple& a, const FiveTuple& b) {
    return a.source == b.source && a.destination == b.destination &&
           a.source_port == b.source_port && a.destination_port == b.destination_port;
  }
};

constexpr const char* name_of(FlowHash hash) {
  constexpr const char* kNames[] = {"crc32c", "toeplitz", "xor_fold"};
  return name_in(kNames, hash);
}

/// Of bytes, as iSCSI has it: that of "123456789" is 0xe3069283.
std::uint32_t crc32c(const std::uint8_t* bytes, std::size_t count);

/// 32 bits of the tuple alone, the same at each switch: whoever makes packets of a flow may keep
/// it. crc32c: of addresses, ports and protocol, 13 bytes; toeplitz: that of receive-side scaling
/// with its usual key, over addresses and ports; xor_fold: both addresses, both ports as one word
/// and the protocol. is_symmetric: both directions have one hash, that of the direction whose
/// source (address, then port) is the lower one. Some 10 ns: a dozen look-ups.
std::uint32_t hash_of(const FiveTuple& tuple, FlowHash hash, bool is_symmetric = false);

/// The hash with the seed of a switch. crc32c and toeplitz are linear: with a seed put before the
/// bytes, flows that share a port at one switch would share one at the next. So the seed is mixed
/// in behind, by multiplications. A few ns.
constexpr std::uint32_t with_seed(std::uint32_t hash, std::uint32_t seed) {
  std::uint64_t z = (std::uint64_t{seed} << 32 | hash) + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return static_cast<std::uint32_t>(z >> 32);
}

/// Of each of so many switches, from a stream such as `ecmp`. is_polarised: all have the first
/// one's. [NW-3]
std::vector<std::uint32_t> switch_seeds(const Random& stream, std::size_t switches,
                                        bool is_polarised);

}  // namespace flitwise
