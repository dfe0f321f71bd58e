// SPDX-License-Identifier: Apache-2.0
// Independent bit errors, drawn as the gaps between them.
#include "link/bit_errors.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace flitwise {
namespace {
constexpr double kBitsOfFlit = flit::kBytes * 8;
}  // namespace

BitErrors::BitErrors(double rate, DirectionFaults faults, Random random, unsigned burst)
    : rate_(rate),
      burst_(burst),
      is_active_(rate > 0 || !faults.corrupt_tlps.empty() || !faults.corrupt_dllps.empty()),
      random_(random),
      tlps_(std::move(faults.corrupt_tlps)),
      dllps_(std::move(faults.corrupt_dllps)) {
  draw();
}

BitErrors::Ordinals::Ordinals(std::vector<std::uint64_t> named) : left(std::move(named)) {
  std::sort(left.begin(), left.end(), std::greater<>());
}

// One more transmission; do the ordinals name it?
bool BitErrors::Ordinals::names_next() {
  ++count;
  bool named = false;
  while (!left.empty() && left.back() <= count) {
    named = named || left.back() == count;
    left.pop_back();
  }
  return named;
}

bool BitErrors::hit(std::uint32_t bits, Ordinals& ordinals) {
  bool damaged = ordinals.names_next();
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
  const bool is_struck = (has_payload ? tlps_ : dllps_).names_next();
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
