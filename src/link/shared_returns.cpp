// SPDX-License-Identifier: Apache-2.0
// Receive half of shared credits.
#include "link/shared_returns.h"

#include <algorithm>

#include "link/credit_returns.h"
#include "link/optimized_update_fc.h"
#include "link/shared_credits.h"

namespace flitwise {

SharedReturns::SharedReturns(const LinkConfig& link, Time guideline)
    : guideline_(guideline),
      data_low_(static_cast<std::uint32_t>(link.mps / 16) - 1),
      is_merged_(link.shared_credits.merged) {
  for (int i = 0; i < kFcClasses; ++i) {
    const Credits size = shared_credits(link, static_cast<FcClass>(i));
    Pools& pools = pools_[static_cast<std::size_t>(i)];
    pools.header =
        CreditPool(size.header, CreditScale::header(link.credits.scaled, size.header), Zero::kNone);
    pools.data =
        CreditPool(size.data, CreditScale::data(link.credits.scaled, size.data), Zero::kNone);
  }
}

const SharedReturns::Pools& SharedReturns::pools_of(const Tlp& tlp) const {
  return pools_[index_of(shared_class(fc_class(tlp.type), is_merged_))];
}

SharedReturns::Pools& SharedReturns::pools_of(const Tlp& tlp) {
  return pools_[index_of(shared_class(fc_class(tlp.type), is_merged_))];
}

bool SharedReturns::claim(const Packet& packet) {
  if (pools_of(packet.tlp).header.size() == 0) {
    return false;
  }
  if (packet.uses_dedicated_credits) {
    on_dedicated_.push_back(packet.uid);
  }
  return !packet.uses_dedicated_credits;
}

bool SharedReturns::release(const Packet& packet) {
  if (pools_of(packet.tlp).header.size() == 0) {
    return false;
  }
  const auto found = std::find(on_dedicated_.begin(), on_dedicated_.end(), packet.uid);
  if (found == on_dedicated_.end()) {
    return true;
  }
  on_dedicated_.erase(found);
  return false;
}

bool SharedReturns::receive(const Tlp& tlp) {
  Pools& pools = pools_of(tlp);
  const bool header = pools.header.receive(1);
  return pools.data.receive(data_credits(tlp)) && header;
}

// What may be too little for the next TLP is told at once. [LNK-8.13]
void SharedReturns::free(const Tlp& tlp, Time now) {
  Pools& pools = pools_of(tlp);
  const bool starved =
      pools.header.believed() == 0 || (pools.data.size() > 0 && pools.data.believed() <= data_low_);
  pools.header.free(1);
  pools.data.free(data_credits(tlp));
  if (pools.has_news()) {
    pools.due = std::min(pools.due, starved ? now : now + guideline_);
  }
}

Dllp SharedReturns::dllp(DllpType type, FcClass fc_class) const {
  const Pools& pools = pools_[index_of(fc_class)];
  Dllp dllp;
  dllp.type = type;
  dllp.fc_class = fc_class;
  dllp.is_shared = true;
  dllp.hdr_scale = pools.header.scale().code;
  dllp.data_scale = pools.data.scale().code;
  dllp.hdr_fc = static_cast<std::uint8_t>(pools.header.field());
  dllp.data_fc = static_cast<std::uint16_t>(pools.data.field());
  return dllp;
}

Time SharedReturns::deadline() const {
  Time first = Time::never();
  for (const Pools& pools : pools_) {
    first = std::min({first, pools.due, pools.period});
  }
  return first;
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
  Dllp dllp;
  dllp.type = DllpType::kOptimizedUpdateFc;
  dllp.raw = encode(update);
  return dllp;
}

// What an Optimized_Update_FC says counts from what was told before, so that one that is lost may
// leave the other end behind until the next UpdateFC: these come at their times all the same.
Dllp SharedReturns::take(Time now) {
  const auto first = [](const Pools& a, const Pools& b) {
    return std::min(a.due, a.period) < std::min(b.due, b.period);
  };
  const auto one = std::min_element(pools_.begin(), pools_.end(), first);
  if (one->period > now && fits_one_for_all()) {
    return take_one_for_all();
  }
  const Dllp update = dllp(DllpType::kUpdateFc, static_cast<FcClass>(one - pools_.begin()));
  one->told();
  one->period = now + kUpdateFcPeriod;
  return update;
}

void SharedReturns::activate(Time now) {
  for (Pools& pools : pools_) {
    if (pools.header.size() > 0) {
      pools.period = std::min(pools.period, now + kUpdateFcPeriod);
    }
  }
}

void SharedReturns::reset() {
  for (Pools& pools : pools_) {
    pools.header = CreditPool(pools.header.size(), pools.header.scale(), Zero::kNone);
    pools.data = CreditPool(pools.data.size(), pools.data.scale(), Zero::kNone);
    pools.due = pools.period = Time::never();
  }
  on_dedicated_.clear();
}

bool SharedReturns::is_conserved() const {
  return std::all_of(pools_.begin(), pools_.end(), [](const Pools& pools) {
    return pools.header.is_conserved() && pools.data.is_conserved();
  });
}

bool SharedReturns::has_unadvertised() const {
  return std::any_of(pools_.begin(), pools_.end(),
                     [](const Pools& pools) { return pools.has_news(); });
}

}  // namespace flitwise
