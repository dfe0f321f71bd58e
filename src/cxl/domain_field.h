// SPDX-License-Identifier: Apache-2.0
/// What a D2H Req says of its domain, where it says anything: BDF and PASID, a handle, or one of
/// both. [CXL-7.4] [DHI D24]
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "cxl/channels.h"
#include "flitwise/config.h"
#include "flitwise/ids.h"

namespace flitwise {

class CxlDomainField {
 public:
  CxlDomainField() = default;
  /// Bits of a handle, and what the device has: a request of it may have to go without handle.
  CxlDomainField(CxlIdentity form, std::uint32_t handle_bits, const DeviceConfig& device)
      : form_(form),
        handle_bits_(handle_bits),
        has_both_(form == CxlIdentity::kDhiAdded && device.dhi.on_miss == OnMiss::kBypass),
        has_pasid_(device.functions.has_pasid) {}
  static CxlDomainField of(const Config& config) {
    return {config.link.cxl.identity, config.cxl_handle_bits(), config.device};
  }

  bool is_there() const { return form_ != CxlIdentity::kSpec; }
  bool takes_handles() const { return form_ == CxlIdentity::kDhiAdded; }
  /// There is room for BDF and PASID.
  bool takes_identities() const { return form_ == CxlIdentity::kFullAdded || has_both_; }
  /// On the wire. Where it may hold both, bit 0 says which: set, it is BDF and PASID.
  std::uint32_t bits() const {
    return has_both_                          ? std::max(handle_bits_, kFullIdentityBits) + 1
           : form_ == CxlIdentity::kFullAdded ? kFullIdentityBits
           : form_ == CxlIdentity::kDhiAdded  ? handle_bits_
                                              : 0;
  }

  /// REQUIRES: takes_handles().
  std::uint64_t of(Dhi handle) const {
    return has_both_ ? std::uint64_t{to_int(handle)} << 1 : to_int(handle);
  }
  /// BDF below the PASID, which is 0 where there is none. REQUIRES: takes_identities().
  std::uint64_t of(const DeviceIdentity& identity) const {
    const std::uint64_t pasid = identity.pasid ? to_int(*identity.pasid) : 0;
    const std::uint64_t full = pasid << 16 | identity.bdf.value;
    return has_both_ ? full << 1 | 1U : full;
  }

  /// What a field says; neither where there is none. A handle may be wider than any that exists.
  struct Named {
    std::optional<std::uint64_t> handle;
    std::optional<DeviceIdentity> full;
  };
  Named named_by(std::uint64_t field) const {
    const std::uint64_t value = has_both_ ? field >> 1 : field;
    if (!is_there()) {
      return {};
    }
    if (takes_handles() && !(has_both_ && (field & 1U) != 0)) {
      return {value, std::nullopt};
    }
    DeviceIdentity identity(Bdf{static_cast<std::uint16_t>(value)});
    if (has_pasid_) {
      identity.pasid = Pasid{static_cast<std::uint32_t>(value >> 16) & ((1U << kPasidBits) - 1U)};
    }
    return {std::nullopt, identity};
  }

 private:
  CxlIdentity form_ = CxlIdentity::kSpec;
  std::uint32_t handle_bits_ = 0;
  bool has_both_ = false, has_pasid_ = false;
};

}  // namespace flitwise
