// SPDX-License-Identifier: Apache-2.0
// Credit arithmetic.
#include "link/flow_control.h"

#include <array>

#include "flitwise/error.h"

namespace flitwise {
namespace {

// Without scaling, x4 and x16; unverified, hence named. [LNK-8.4] [LNK-8.8]
constexpr std::array<std::uint8_t, 3> kHeaderCounterBits = {8, 10, 12},
                                      kDataCounterBits = {12, 14, 16}, kScaleShifts = {0, 2, 4};

struct ScaleStep {
  std::uint8_t code, shift, header_bits, data_bits;
};
constexpr ScaleStep scale_step(std::uint8_t i) {
  return {static_cast<std::uint8_t>(i + 1), kScaleShifts[i], kHeaderCounterBits[i],
          kDataCounterBits[i]};
}
constexpr ScaleStep kSteps[] = {scale_step(0), scale_step(1), scale_step(2)};

template <class BitsOf>
CreditScale smallest_scale(bool scaled, std::uint32_t advertised, BitsOf bits_of) {
  if (!scaled) {
    return {0, 0, bits_of(kSteps[0])};
  }
  for (const ScaleStep& step : kSteps) {
    if (advertised < (1U << (bits_of(step) - 1))) {
      return {step.code, step.shift, bits_of(step)};
    }
  }
  const ScaleStep& largest = kSteps[2];
  return {largest.code, largest.shift, bits_of(largest)};
}

}  // namespace

CreditScale CreditScale::header(bool scaled, std::uint32_t advertised) {
  return smallest_scale(scaled, advertised, [](const ScaleStep& step) { return step.header_bits; });
}

CreditScale CreditScale::data(bool scaled, std::uint32_t advertised) {
  return smallest_scale(scaled, advertised, [](const ScaleStep& step) { return step.data_bits; });
}

CreditScale CreditScale::of_header_code(std::uint8_t code) {
  const ScaleStep& step = kSteps[code == 0 ? 0 : code - 1];
  return {code, step.shift, step.header_bits};
}

CreditScale CreditScale::of_data_code(std::uint8_t code) {
  const ScaleStep& step = kSteps[code == 0 ? 0 : code - 1];
  return {code, step.shift, step.data_bits};
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

void CreditGate::update(std::uint32_t field) {
  if (!infinite_) {
    limit_ = (field << shift_) & mask_;
  }
}

void CreditGate::extend(std::uint32_t low_bits, unsigned bits) {
  const std::uint32_t step = (low_bits - (limit_ >> shift_)) & ((1U << bits) - 1U);
  limit_ = (limit_ + (step << shift_)) & mask_;
}

CreditPool::CreditPool(std::uint32_t size, CreditScale scale, Zero zero)
    : is_infinite_(size == 0 && zero == Zero::kInfinite),
      size_(size),
      scale_(scale),
      mask_((1U << scale.bits) - 1U),
      allocated_(size) {
  FLITWISE_CHECK(size < (1U << (scale.bits - 1)), "credits advertised exceed half the counter");
  // What the DLLP cannot carry is not advertised. [LNK-8.4]
  size_ = size >> scale.shift << scale.shift;
  allocated_ = size_;
  advertised_ = size_;
}

bool CreditPool::receive(std::uint32_t amount) {
  if (is_infinite()) {
    return true;
  }
  const bool within = ((advertised_ - (received_ + amount)) & mask_) <= mask_ / 2 + 1;
  received_ = (received_ + amount) & mask_;
  return within;
}

void CreditPool::free(std::uint32_t amount) {
  if (!is_infinite()) {
    allocated_ = (allocated_ + amount) & mask_;
  }
}

std::uint32_t CreditPool::field() const {
  return is_infinite() ? 0 : allocated_ >> scale_.shift;
}

Credits advertised_credits(const LinkConfig& link, FcClass fc_class) {
  switch (fc_class) {
    case FcClass::kPosted:
      return {link.credits.posted_headers, link.credits.posted_data};
    case FcClass::kNonPosted:
      return {link.credits.nonposted_headers, link.credits.nonposted_data};
    case FcClass::kCompletion:
      return {link.credits.completion_headers, link.credits.completion_data};
  }
  return {};
}

}  // namespace flitwise
