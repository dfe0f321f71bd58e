// SPDX-License-Identifier: Apache-2.0
// Independent bit errors, drawn as the gaps between them.
#include "link/bit_errors.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace flitwise {

BitErrors::BitErrors(double rate, DirectionFaults faults, Random random)
    : rate_(rate),
      is_active_(rate > 0 || !faults.corrupt_tlps.empty() || !faults.corrupt_dllps.empty()),
      faults_(std::move(faults)),
      random_(random) {
  std::sort(faults_.corrupt_tlps.begin(), faults_.corrupt_tlps.end());
  std::sort(faults_.corrupt_dllps.begin(), faults_.corrupt_dllps.end());
  draw();
}

void BitErrors::draw() {
  bits_to_error_ = rate_ > 0 ? static_cast<double>(random_.geometric(rate_))
                             : std::numeric_limits<double>::infinity();
}

bool BitErrors::hit(std::uint32_t bits, const std::vector<std::uint64_t>& ordinals,
                    std::uint64_t& count, std::size_t& next) {
  ++count;
  bool damaged = false;
  while (next < ordinals.size() && ordinals[next] <= count) {
    damaged = damaged || ordinals[next] == count;
    ++next;
  }
  double left = bits;
  while (bits_to_error_ < left) {
    damaged = true;
    left -= bits_to_error_ + 1;
    draw();
  }
  bits_to_error_ -= left;
  return damaged;
}

}  // namespace flitwise
