// SPDX-License-Identifier: Apache-2.0
// Packing of TLPs into flits.
#include "link/flit_packer.h"

#include <algorithm>
#include <array>

#include "tlp/wire_size.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kDwBits = 32;

// The parts of a TLP in the order in which they stand on the wire.
constexpr std::array<std::uint32_t WireSize::*, 5> kParts = {
    &WireSize::header, &WireSize::identity, &WireSize::payload, &WireSize::padding, &WireSize::crc};

}  // namespace

void FlitPacker::fill(Time now, Flit& flit, WireSize& size) {
  std::array<unsigned, 2> starts{};
  std::uint32_t dw = 0;
  while (dw < flit::kTlpDws) {
    if (rest_bits_ == 0) {
      const std::size_t half = dw < kSecondHalfDw ? 0 : 1;
      if (starts[half] == kMostStartsInHalf && half == 0) {
        size.idle += (kSecondHalfDw - dw) * kDwBits;
        dw = kSecondHalfDw;
        continue;
      }
      if (starts[half] == kMostStartsInHalf || !begin(now, flit)) {
        break;
      }
      ++starts[half];
    }
    const std::uint32_t room = (flit::kTlpDws - dw) * kDwBits;
    const std::uint32_t bits = std::min(rest_bits_, room);
    charge(bits, size);
    dw += bits / kDwBits;
    if (rest_bits_ == 0) {
      flit.ends.push_back(std::move(packet_));
    }
  }
  size.idle += (flit::kTlpDws - dw) * kDwBits;
  flit.has_payload = dw > 0;
}

// Takes the next TLP from the queues; false: none may go.
bool FlitPacker::begin(Time now, Flit& flit) {
  const std::optional<TransactionQueues::Position> position = queues_.choose(now);
  if (!position || queues_.is_mixed()) {
    queues_.note_stalls(now);
  }
  if (!position) {
    return false;
  }
  packet_ = queues_.take(*position);
  rest_ = size_in_flits(*packet_);
  rest_bits_ = rest_.total();
  flit.starts.push_back(packet_);
  return true;
}

void FlitPacker::charge(std::uint32_t bits, WireSize& size) {
  rest_bits_ -= bits;
  for (const auto part : kParts) {
    const std::uint32_t taken = std::min(rest_.*part, bits);
    rest_.*part -= taken;
    size.*part += taken;
    bits -= taken;
  }
}

}  // namespace flitwise
