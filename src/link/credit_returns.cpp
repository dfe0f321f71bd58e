// SPDX-License-Identifier: Apache-2.0
// Receive half of flow control.
#include "link/credit_returns.h"

#include <algorithm>

namespace flitwise {
namespace {
constexpr std::size_t index_of(FcClass fc) {
  return static_cast<std::size_t>(fc);
}
}  // namespace

CreditReturns::CreditReturns(const LinkConfig& link, Time guideline) : guideline_(guideline) {
  due_.fill(Time::never());
  for (int i = 0; i < kFcClasses; ++i) {
    const Credits size = advertised_credits(link, static_cast<FcClass>(i));
    Pools& pools = pools_[static_cast<std::size_t>(i)];
    pools.header = CreditPool(size.header, CreditScale::header(link.credits.scaled, size.header));
    pools.data = CreditPool(size.data, CreditScale::data(link.credits.scaled, size.data));
    pools.header_low = 0;
    pools.data_low =
        static_cast<std::uint32_t>(link.mps / 16) - 1;  // less than the largest TLP needs
  }
}

bool CreditReturns::receive(const Tlp& tlp) {
  Pools& pools = pools_[index_of(fc_class(tlp.type))];
  const bool header = pools.header.receive(1);
  return pools.data.receive(data_credits(tlp)) && header;
}

void CreditReturns::free(const Tlp& tlp, Time now) {
  const std::size_t fc = index_of(fc_class(tlp.type));
  Pools& pools = pools_[fc];
  // Does the sender think that it has too little for its next TLP? Then it hears of this at once.
  // [LNK-8.13]
  const bool starved =
      (!pools.header.is_infinite() && pools.header.believed() <= pools.header_low) ||
      (!pools.data.is_infinite() && pools.data.believed() <= pools.data_low);
  pools.header.free(1);
  pools.data.free(data_credits(tlp));
  if (pools.header.unadvertised() > 0 || pools.data.unadvertised() > 0) {
    due_[fc] = std::min(due_[fc], starved ? now : now + guideline_);
  }
}

Dllp CreditReturns::dllp(DllpType type, FcClass fc) const {
  const Pools& pools = pools_[index_of(fc)];
  Dllp dllp;
  dllp.type = type;
  dllp.fc_class = fc;
  dllp.hdr_scale = pools.header.scale().code;
  dllp.data_scale = pools.data.scale().code;
  dllp.hdr_fc = static_cast<std::uint8_t>(pools.header.field());
  dllp.data_fc = static_cast<std::uint16_t>(pools.data.field());
  return dllp;
}

Dllp CreditReturns::take(Time now) {
  const auto fc =
      static_cast<std::size_t>(std::min_element(due_.begin(), due_.end()) - due_.begin());
  Pools& pools = pools_[fc];
  const Dllp update = dllp(DllpType::kUpdateFc, static_cast<FcClass>(fc));
  pools.header.advertised();
  pools.data.advertised();
  due_[fc] = now + kUpdateFcPeriod;
  return update;
}

void CreditReturns::activate(Time now) {
  for (std::size_t fc = 0; fc < pools_.size(); ++fc) {
    if (!pools_[fc].header.is_infinite() || !pools_[fc].data.is_infinite()) {
      due_[fc] = std::min(due_[fc], now + kUpdateFcPeriod);
    }
  }
}

void CreditReturns::reset() {
  for (Pools& pools : pools_) {
    pools.header = CreditPool(pools.header.size(), pools.header.scale());
    pools.data = CreditPool(pools.data.size(), pools.data.scale());
  }
  due_.fill(Time::never());
}

bool CreditReturns::is_conserved() const {
  return std::all_of(pools_.begin(), pools_.end(), [](const Pools& pools) {
    return pools.header.is_conserved() && pools.data.is_conserved();
  });
}

bool CreditReturns::has_unadvertised() const {
  return std::any_of(pools_.begin(), pools_.end(), [](const Pools& pools) {
    return pools.header.unadvertised() > 0 || pools.data.unadvertised() > 0;
  });
}

}  // namespace flitwise
