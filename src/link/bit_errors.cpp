// SPDX-License-Identifier: Apache-2.0
// Independent bit errors, drawn as the gaps between them.
#include "link/bit_errors.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace flitwise {

namespace {

constexpr double kBitsOfFlit = flit::kBytes * 8;

}  // namespace

BitErrors::BitErrors(double rate, DirectionFaults faults, Random random, unsigned burst)
    : rate_(rate),
      burst_(burst),
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

// One more transmission; do the ordinals name it?
bool BitErrors::is_named(const std::vector<std::uint64_t>& ordinals, std::uint64_t& count,
                         std::size_t& next) const {
  ++count;
  bool named = false;
  while (next < ordinals.size() && ordinals[next] <= count) {
    named = named || ordinals[next] == count;
    ++next;
  }
  return named;
}

bool BitErrors::hit(std::uint32_t bits, const std::vector<std::uint64_t>& ordinals,
                    std::uint64_t& count, std::size_t& next) {
  bool damaged = is_named(ordinals, count, next);
  double left = bits;
  while (bits_to_error_ < left) {
    damaged = true;
    left -= bits_to_error_ + 1;
    draw();
  }
  bits_to_error_ -= left;
  return damaged;
}

// Two wrong bytes in one group are too many; two wrong bits in one byte count once.
FlitDamage BitErrors::draw_flit(bool has_payload) {
  const bool is_struck = has_payload ? is_named(faults_.corrupt_tlps, tlps_, next_tlp_)
                                     : is_named(faults_.corrupt_dllps, dllps_, next_dllp_);
  first_wrong_byte_ = is_struck ? 0 : flit::kBytes;
  FlitDamage damage = is_struck ? FlitDamage::kUncorrectable : FlitDamage::kNone;
  std::array<int, flit::kFecGroups> wrong_byte{};
  wrong_byte.fill(-1);
  double at = 0;
  while (bits_to_error_ < kBitsOfFlit - at) {
    at += bits_to_error_;
    const auto first = static_cast<int>(at) / 8;
    first_wrong_byte_ = std::min(first_wrong_byte_, static_cast<std::uint32_t>(first));
    const auto last = static_cast<int>(std::min(at + burst_ - 1, kBitsOfFlit - 1)) / 8;
    for (int byte = first; byte <= last; ++byte) {
      int& wrong = wrong_byte[static_cast<unsigned>(byte) % flit::kFecGroups];
      const bool is_second = wrong >= 0 && wrong != byte;
      damage = is_second ? FlitDamage::kUncorrectable : std::max(damage, FlitDamage::kCorrected);
      wrong = byte;
    }
    at += 1;
    draw();
  }
  bits_to_error_ -= kBitsOfFlit - at;
  return damage;
}

}  // namespace flitwise
