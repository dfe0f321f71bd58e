// SPDX-License-Identifier: Apache-2.0
#include "network/flow_hash.h"

#include <array>

namespace flitwise {
namespace {

constexpr std::uint32_t kCrc32cReversed = 0x82f63b78;
constexpr std::uint8_t kUdpProtocol = 17;

struct Crc32cTable {
  std::array<std::uint32_t, 256> by_byte{};

  constexpr Crc32cTable() {
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t crc = i;
      for (unsigned bit = 0; bit < 8; ++bit) {
        crc = (crc >> 1) ^ ((crc & 1U) != 0 ? kCrc32cReversed : 0);
      }
      by_byte[i] = crc;
    }
  }
};
constexpr Crc32cTable kCrc32c;

constexpr std::size_t kTupleBytes = 12;  // as they stand in packets: addresses, ports
using TupleBytes = std::array<std::uint8_t, kTupleBytes>;

constexpr TupleBytes bytes_of_tuple(const FiveTuple& tuple) {
  TupleBytes bytes{};
  for (unsigned i = 0; i < 4; ++i) {
    bytes[i] = static_cast<std::uint8_t>(tuple.source >> (24 - 8 * i));
    bytes[4 + i] = static_cast<std::uint8_t>(tuple.destination >> (24 - 8 * i));
  }
  for (unsigned i = 0; i < 2; ++i) {
    bytes[8 + i] = static_cast<std::uint8_t>(tuple.source_port >> (8 - 8 * i));
    bytes[10 + i] = static_cast<std::uint8_t>(tuple.destination_port >> (8 - 8 * i));
  }
  return bytes;
}

// The key of receive-side scaling that everybody has.
constexpr std::uint8_t kToeplitzKey[] = {
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
    0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
    0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};

// Either hash is linear over bits: what each byte at its place adds to it. Of crc32c the protocol
// and what it begins and ends with are constant.
struct TupleTables {
  std::array<std::array<std::uint32_t, 256>, kTupleBytes> crc{}, toeplitz{};
  std::uint32_t crc_of_zeros = 0;

  TupleTables() {
    const auto crc_of = [](const TupleBytes& bytes) {
      std::array<std::uint8_t, kTupleBytes + 1> all{};
      std::copy(bytes.begin(), bytes.end(), all.begin());
      all.back() = kUdpProtocol;
      return crc32c(all.data(), all.size());
    };
    crc_of_zeros = crc_of(TupleBytes{});
    for (std::size_t place = 0; place < kTupleBytes; ++place) {
      for (unsigned byte = 0; byte < 256; ++byte) {
        TupleBytes bytes{};
        bytes[place] = static_cast<std::uint8_t>(byte);
        crc[place][byte] = crc_of(bytes) ^ crc_of_zeros;
        for (unsigned bit = 0; bit < 8; ++bit) {
          toeplitz[place][byte] ^= (byte >> (7 - bit) & 1U) != 0 ? key_from(8 * place + bit) : 0;
        }
      }
    }
  }

 private:
  static std::uint32_t key_from(std::size_t bit) {
    std::uint64_t window = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      window = window << 8 | kToeplitzKey[bit / 8 + i];
    }
    return static_cast<std::uint32_t>(window >> (8 - bit % 8));
  }
};

std::uint32_t looked_up(const std::array<std::array<std::uint32_t, 256>, kTupleBytes>& tables,
                        const TupleBytes& bytes) {
  std::uint32_t sum = 0;
  for (std::size_t place = 0; place < kTupleBytes; ++place) {
    sum ^= tables[place][bytes[place]];
  }
  return sum;
}

constexpr std::uint64_t end_of(std::uint32_t address, std::uint16_t port) {
  return std::uint64_t{address} << 16 | port;
}

}  // namespace

std::uint32_t crc32c(const std::uint8_t* bytes, std::size_t count) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (std::size_t i = 0; i < count; ++i) {
    crc = (crc >> 8) ^ kCrc32c.by_byte[(crc ^ bytes[i]) & 0xffU];
  }
  return ~crc;
}

std::uint32_t hash_of(const FiveTuple& tuple, FlowHash hash, bool is_symmetric) {
  static const TupleTables kTables;
  if (is_symmetric &&
      end_of(tuple.destination, tuple.destination_port) < end_of(tuple.source, tuple.source_port)) {
    return hash_of({tuple.destination, tuple.source, tuple.destination_port, tuple.source_port},
                   hash);
  }
  switch (hash) {
    case FlowHash::kCrc32c:
      return looked_up(kTables.crc, bytes_of_tuple(tuple)) ^ kTables.crc_of_zeros;
    case FlowHash::kToeplitz: return looked_up(kTables.toeplitz, bytes_of_tuple(tuple));
    case FlowHash::kXorFold: break;
  }
  return tuple.source ^ tuple.destination ^
         (std::uint32_t{tuple.source_port} << 16 | tuple.destination_port) ^ kUdpProtocol;
}

std::vector<std::uint32_t> switch_seeds(const Random& stream, std::size_t switches,
                                        bool is_polarised) {
  Random random = stream.split("switch_seed");
  std::vector<std::uint32_t> seeds(switches);
  const auto draw = [&random] { return static_cast<std::uint32_t>(random.next() >> 32); };
  const std::uint32_t first = draw();
  for (std::size_t i = 0; i < switches; ++i) {
    seeds[i] = i == 0 || is_polarised ? first : draw();
  }
  return seeds;
}

}  // namespace flitwise
