// SPDX-License-Identifier: Apache-2.0
#include "rdma/dcqcn.h"

#include <algorithm>

namespace flitwise {
namespace {

constexpr double kNoAlpha = 1e-9;  // from here on it is 0

}  // namespace

DcqcnParameters DcqcnParameters::of_one(unsigned n) const {
  DcqcnParameters one = *this;
  one.initial_rate = (initial_rate > 0 ? initial_rate : line_rate) / n;
  one.additive /= n;
  one.hyper /= n;
  return one;
}

DcqcnRate::DcqcnRate(const DcqcnParameters& parameters)
    : p_(parameters),
      current_(parameters.initial_rate > 0 ? parameters.initial_rate : parameters.line_rate),
      target_(current_),
      alpha_(parameters.initial_alpha) {
  p_.additive *= p_.scale;
  p_.hyper *= p_.scale;
}

// Rt <- Rc, Rc <- Rc (1 - alpha / 2), alpha <- (1 - g) alpha + g; all timers begin anew.
void DcqcnRate::notified(Time now) {
  catch_up(now);
  if (has_cut_ && now < cut_at_ + p_.cut_time) {
    return;
  }
  target_ = current_;
  current_ = std::max(p_.least_rate, current_ * (1 - std::min(alpha_ / 2, p_.most_cut)));
  alpha_ += p_.gain * (1 - alpha_);
  alpha_at_ = now + p_.alpha_time;
  rate_at_ = now + p_.rate_time;
  time_steps_ = byte_steps_ = 0;
  bytes_ = 0;
  cut_at_ = now;
  has_cut_ = true;
  ++cuts_;
}

void DcqcnRate::sent(std::uint64_t bytes, Time now) {
  catch_up(now);
  if (p_.rate_bytes == 0 || current_ >= p_.line_rate) {
    return;
  }
  for (bytes_ += bytes; bytes_ >= p_.rate_bytes; bytes_ -= p_.rate_bytes) {
    ++byte_steps_;
    step();
  }
}

double DcqcnRate::rate(Time now) {
  catch_up(now);
  return current_;
}

// The two timers do not touch the same numbers: each may be done for itself.
void DcqcnRate::catch_up(Time now) {
  while (alpha_at_ <= now) {
    alpha_ *= 1 - p_.gain;
    alpha_at_ += p_.alpha_time;
    if (alpha_ < kNoAlpha) {
      alpha_ = 0;
      alpha_at_ = Time::never();
    }
  }
  if (rate_at_ == Time::never() && current_ < p_.line_rate) {
    rate_at_ = now + p_.rate_time;  // it began below the line rate
  }
  while (rate_at_ <= now) {
    ++time_steps_;
    step();
    rate_at_ = current_ < p_.line_rate ? rate_at_ + p_.rate_time : Time::never();
  }
}

// Fast recovery for F steps, then additive increase; hyper increase where both the timer and the
// byte counter have done more than F.
void DcqcnRate::step() {
  constexpr double kNear = 1 - 1e-6;  // of the line rate
  if (std::min(time_steps_, byte_steps_) > p_.recovery_steps) {
    target_ += p_.hyper;
  } else if (std::max(time_steps_, byte_steps_) > p_.recovery_steps) {
    target_ += p_.additive;
  }
  target_ = std::min(target_, p_.line_rate);
  current_ = (current_ + target_) / 2;
  current_ = current_ > kNear * p_.line_rate ? p_.line_rate : current_;
}

void CnpSource::reset() {
  next_.clear();
}

bool CnpSource::marked(std::uint16_t session, Time now) {
  if (mode_ == CnpMode::kNone) {
    return false;
  }
  const std::uint16_t key = mode_ == CnpMode::kSession ? session : 0;
  const auto found =
      std::find_if(next_.begin(), next_.end(), [&](const Next& one) { return one.session == key; });
  if (found == next_.end()) {
    next_.push_back({key, now + interval_});
    return true;
  }
  const bool is_due = now >= found->at;
  found->at = is_due ? now + interval_ : found->at;
  return is_due;
}

}  // namespace flitwise
