// SPDX-License-Identifier: Apache-2.0
// Receive half of flow control.
#include "link/credit_returns.h"

#include <algorithm>

namespace flitwise {
namespace {

// What is configured for one class: of link.credits or link.shared_credits.
template <class Configured>
Credits credits_of(const Configured& link, std::size_t fc) {
  const std::array<Credits, kFcClasses> all = {{{link.posted_headers, link.posted_data},
                                                {link.nonposted_headers, link.nonposted_data},
                                                {link.completion_headers, link.completion_data}}};
  return all[fc];
}

}  // namespace

CreditReturns::CreditReturns(const LinkConfig& link, Time guideline, bool is_shared)
    : guideline_(guideline),
      data_low_(static_cast<std::uint32_t>(link.mps / 16) - 1),  // less than the largest TLP needs
      is_shared_(is_shared),
      is_merged_(is_shared && link.shared_credits.merged) {
  due_.fill(Time::never());
  const bool scaled = link.credits.scaled;
  const Zero zero = is_shared ? Zero::kNone : Zero::kInfinite;
  for (std::size_t fc = 0; fc < pools_.size(); ++fc) {
    const Credits size =
        is_shared ? credits_of(link.shared_credits, fc) : credits_of(link.credits, fc);
    pools_[fc].header = CreditPool(size.header, CreditScale::header(scaled, size.header), zero);
    pools_[fc].data = CreditPool(size.data, CreditScale::data(scaled, size.data), zero);
  }
}

void CreditReturns::free(const Tlp& tlp, Time now) {
  const std::size_t fc = class_of(tlp);
  Pools& pools = pools_[fc];
  // Does the sender think that it has too little for its next TLP? Then it hears of this at once.
  // [LNK-8.13]
  const bool starved = (pools.header.size() > 0 && pools.header.believed() == 0) ||
                       (pools.data.size() > 0 && pools.data.believed() <= data_low_);
  pools.header.free(1);
  pools.data.free(data_credits(tlp));
  if (pools.has_news()) {
    due_[fc] = std::min(due_[fc], starved ? now : now + guideline_);
  }
}

Dllp CreditReturns::dllp(DllpType type, FcClass fc) const {
  const Pools& pools = pools_[static_cast<std::size_t>(fc)];
  Dllp dllp;
  dllp.type = type;
  dllp.fc_class = fc;
  dllp.is_shared = is_shared_;
  dllp.hdr_scale = pools.header.scale().code;
  dllp.data_scale = pools.data.scale().code;
  dllp.hdr_fc = static_cast<std::uint8_t>(pools.header.field());
  dllp.data_fc = static_cast<std::uint16_t>(pools.data.field());
  return dllp;
}

std::size_t CreditReturns::first_due() const {
  return static_cast<std::size_t>(std::min_element(due_.begin(), due_.end()) - due_.begin());
}

Dllp CreditReturns::take(Time now) {
  const std::size_t fc = first_due();
  const Dllp update = dllp(DllpType::kUpdateFc, static_cast<FcClass>(fc));
  pools_[fc].told();
  due_[fc] = now + kUpdateFcPeriod;
  return update;
}

void CreditReturns::activate(Time now) {
  for (std::size_t fc = 0; fc < pools_.size(); ++fc) {
    if (pools_[fc].is_used()) {
      due_[fc] = std::min(due_[fc], now + kUpdateFcPeriod);
    }
  }
}

void CreditReturns::reset() {
  for (Pools& pools : pools_) {
    pools.header.reset();
    pools.data.reset();
  }
  due_.fill(Time::never());
}

SharedReturns::SharedReturns(const LinkConfig& link, Time guideline)
    : CreditReturns(link, guideline, true) {
  periods_.fill(Time::never());
}

bool SharedReturns::claim(const Packet& packet) {
  if (!has_pool(packet)) {
    return false;
  }
  if (packet.uses_dedicated_credits) {
    on_dedicated_.push_back(packet.uid);
  }
  return !packet.uses_dedicated_credits;
}

bool SharedReturns::release(const Packet& packet) {
  if (!has_pool(packet)) {
    return false;
  }
  const auto found = std::find(on_dedicated_.begin(), on_dedicated_.end(), packet.uid);
  if (found == on_dedicated_.end()) {
    return true;
  }
  on_dedicated_.erase(found);
  return false;
}

// More than one class has news, and what they have fits. [LNK-11.27]
bool SharedReturns::fits_one_for_all() const {
  const auto fits = [](const Pools& pools) {
    return pools.header.untold_steps() < 1U << kOptimizedHeaderBits &&
           pools.data.untold_steps() < 1U << kOptimizedDataBits;
  };
  return std::count_if(pools_.begin(), pools_.end(),
                       [](const Pools& pools) { return pools.has_news(); }) > 1 &&
         std::all_of(pools_.begin(), pools_.end(), fits);
}

Dllp SharedReturns::take_one_for_all() {
  OptimizedUpdateFc update;
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    update.classes[i] = {pools_[i].header.field(), pools_[i].data.field()};
    pools_[i].told();
  }
  due_ = periods_;
  Dllp dllp;
  dllp.type = DllpType::kOptimizedUpdateFc;
  dllp.raw = encode(update);
  return dllp;
}

// What an Optimized_Update_FC says counts from what was told before, so that one that is lost may
// leave the other end behind until the next UpdateFC: these come at their times all the same.
Dllp SharedReturns::take(Time now) {
  Time& period = periods_[first_due()];
  if (period > now && fits_one_for_all()) {
    return take_one_for_all();
  }
  period = now + kUpdateFcPeriod;
  return CreditReturns::take(now);
}

void SharedReturns::activate(Time now) {
  CreditReturns::activate(now);
  for (std::size_t fc = 0; fc < pools_.size(); ++fc) {
    if (pools_[fc].is_used()) {
      periods_[fc] = std::min(periods_[fc], now + kUpdateFcPeriod);
    }
  }
}

}  // namespace flitwise
