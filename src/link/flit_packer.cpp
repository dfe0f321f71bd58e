// SPDX-License-Identifier: Apache-2.0
// Packing of TLPs into flits.
#include "link/flit_packer.h"

#include <array>

#include "link/shared_credits.h"
#include "tlp/wire_size.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kDwBits = 32;

}  // namespace

void FlitPacker::fill(Time now, Flit& flit, WireSize& size) {
  std::array<unsigned, 2> starts{};
  std::uint32_t dw = 0;
  while (dw < flit::kTlpDws) {
    if (rest_.empty()) {
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
    dw += rest_.take((flit::kTlpDws - dw) * kDwBits, size) / kDwBits;
    if (rest_.empty()) {
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
  WireSize size = size_in_flits(*packet_);
  if (queues_.shares_credits() && packet_->uses_dedicated_credits) {
    (packet_->purpose == HandlePurpose::kNone ? size.header : size.identity) += kLocalPrefixBits;
    ++flit.local_prefixes;
  }
  rest_ = CutSize(size);
  flit.starts.push_back(packet_);
  return true;
}

}  // namespace flitwise
