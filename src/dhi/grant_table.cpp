// SPDX-License-Identifier: Apache-2.0
// Checks an ALLOC or a domain against what its function was granted. [DHI S3]
#include "dhi/grant_table.h"

#include <algorithm>

namespace flitwise {
namespace {
constexpr std::size_t kFunctions = 65536;

bool is_granted(const Grant& grant, OptionalId<Pasid> pasid) {
  if (!pasid) {
    return grant.without_pasid;
  }
  return std::any_of(grant.pasids.begin(), grant.pasids.end(), [&](const PasidRange& range) {
    return to_int(*pasid) >= to_int(range.lower) && to_int(*pasid) <= to_int(range.upper);
  });
}
}  // namespace

Grant Grant::any() {
  Grant grant;
  grant.pasids = {{Pasid{0}, Pasid{(1U << kPasidBits) - 1U}}};
  grant.capabilities = 0xffff;
  return grant;
}

GrantTable::GrantTable() : grants_(1), index_(kFunctions, 0) {}

GrantTable::GrantTable(const Grant& unlisted)
    : grants_{unlisted}, index_(kFunctions, 0), unlisted_allowed_(true) {}

void GrantTable::set(Bdf function, const Grant& grant) {
  std::uint32_t& index = index_[function.value];
  if (index == 0) {
    index = static_cast<std::uint32_t>(grants_.size());
    grants_.emplace_back();
  }
  grants_[index] = grant;
}

HandleStatus GrantTable::check(const DeviceIdentity& identity) const {
  const std::uint32_t index = index_[identity.bdf.value];
  if (index == 0 && !unlisted_allowed_) {
    return HandleStatus::kFunctionNotGranted;
  }
  return is_granted(grants_[index], identity.pasid) ? HandleStatus::kOk
                                                    : HandleStatus::kPasidNotGranted;
}

HandleStatus GrantTable::check(const AllocMessage& message) const {
  const HandleStatus domain = check(message.identity);
  if (domain != HandleStatus::kOk) {
    return domain;
  }
  const Grant& grant = grants_[index_[message.identity.bdf.value]];
  if (message.is_trusted && !grant.trusted) {
    return HandleStatus::kTrustNotGranted;
  }
  if ((message.capabilities & ~static_cast<unsigned>(grant.capabilities)) != 0) {
    return HandleStatus::kCapabilityNotGranted;
  }
  return HandleStatus::kOk;
}

}  // namespace flitwise
