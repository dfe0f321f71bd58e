// SPDX-License-Identifier: Apache-2.0
#include "pio/hostile_writes.h"

#include <algorithm>
#include <iterator>

#include "pio/pbc.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kPageBytes = 1U << 16;  // of a context, for each value of SOP

}  // namespace

void HostileWrites::restart() {
  block_ = left_ = 0;
  is_wild_ = random_.chance(0.3);
}

HostileWrite HostileWrites::next() {
  return random_.chance(is_wild_ ? 0.5 : 0.02) ? next_anything() : next_block();
}

HostileWrite HostileWrites::next_anything() {
  constexpr unsigned kSizes[] = {4, 8, 12, 16, kSendBlockBytes, HostileWrite::kMostBytes};
  const std::uint64_t shape = random_.below(2 * std::size(kSizes));
  HostileWrite write;
  write.bytes = shape < std::size(kSizes)
                    ? kSizes[shape]
                    : 1 + static_cast<unsigned>(random_.below(HostileWrite::kMostBytes));
  auto offset = static_cast<std::uint32_t>(random_.below(kPageBytes - write.bytes + 1));
  offset -= random_.chance(0.5) ? offset % kQwBytes : 0;
  write.offset = encode_window({random_.chance(0.5), context_, 0, 0}) + offset;
  for (unsigned i = 0; i < write.bytes; ++i) {
    write.data[i] = static_cast<std::uint8_t>(random_.next());
  }
  return write;
}

// Packets of up to three blocks, one behind the other, but for some whose length, VL or SOP is
// wrong, and for blocks that come twice.
HostileWrite HostileWrites::next_block() {
  constexpr double kRarely = 0.03;
  const bool is_first = left_ == 0;
  Pbc pbc;
  if (is_first) {
    constexpr unsigned kMostDws = 3 * kSendBlockBytes / 4;
    pbc.length_dws =
        static_cast<std::uint16_t>(random_.chance(kRarely) ? random_.below(Pbc::kMostLengthDws + 1)
                                                           : 1 + random_.below(kMostDws));
    pbc.vl = static_cast<std::uint8_t>(random_.below(random_.chance(kRarely) ? 16 : 8));
    left_ = std::max(pbc.blocks(), 1U);
  }
  HostileWrite write;
  write.bytes = kSendBlockBytes;
  write.offset = encode_window({is_first != random_.chance(kRarely), context_, block_, 0});
  for (unsigned i = 0; i < write.bytes; ++i) {
    write.data[i] = static_cast<std::uint8_t>(i < kQwBytes ? encode(pbc) >> 8 * i : random_.next());
  }
  if (!random_.chance(kRarely)) {
    block_ = (block_ + 1) % depth_;
    --left_;
  }
  return write;
}

}  // namespace flitwise
