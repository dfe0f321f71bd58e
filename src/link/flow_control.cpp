// SPDX-License-Identifier: Apache-2.0
// Credit arithmetic.
#include "link/flow_control.h"

#include "flitwise/error.h"

namespace flitwise {

CreditScale CreditScale::of_code(std::uint8_t code, const ByScale& counter_bits) {
  const std::size_t step = code == 0 ? 0 : code - 1U;
  return {code, kScaleShifts[step], counter_bits[step]};
}

CreditScale CreditScale::smallest(bool scaled, std::uint32_t advertised,
                                  const ByScale& counter_bits) {
  std::uint8_t code = scaled ? 1 : 0;
  while (scaled && code < counter_bits.size() &&
         advertised >= 1U << (counter_bits[code - 1U] - 1)) {
    ++code;
  }
  return of_code(code, counter_bits);
}

void CreditGate::initialise(std::uint32_t limit, CreditScale scale, Zero zero) {
  infinite_ = limit == 0 && zero == Zero::kInfinite;
  mask_ = (1U << scale.bits) - 1U;
  half_ = 1U << (scale.bits - 1);
  shift_ = scale.shift;
  initial_ = limit << shift_;
  limit_ = initial_ & mask_;
  consumed_ = 0;
}

CreditPool::CreditPool(std::uint32_t size, CreditScale scale, Zero zero)
    : is_infinite_(size == 0 && zero == Zero::kInfinite),
      size_(size >> scale.shift << scale.shift),  // what the DLLP cannot carry is not [LNK-8.4]
      scale_(scale),
      mask_((1U << scale.bits) - 1U),
      allocated_(size_),
      advertised_(size_) {
  FLITWISE_CHECK(size < (1U << (scale.bits - 1)), "credits advertised exceed half the counter");
}

bool CreditPool::receive(std::uint32_t amount) {
  if (is_infinite()) {
    return true;
  }
  const bool within = ((advertised_ - (received_ + amount)) & mask_) <= mask_ / 2 + 1;
  received_ = (received_ + amount) & mask_;
  return within;
}

std::uint32_t CreditPool::field() const {
  return is_infinite() ? 0 : allocated_ >> scale_.shift;
}

}  // namespace flitwise
