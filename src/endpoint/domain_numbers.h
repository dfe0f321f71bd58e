// SPDX-License-Identifier: Apache-2.0
/// Which function and PASID a domain of the workload is. Domain i belongs to function i mod F of F;
/// its PASID is i div F where each function numbers its own processes, and i where the host gives
/// each process a PASID that no other has. Without PASID each function is one domain.
#pragma once

#include <cstdint>
#include <optional>

#include "flitwise/config.h"
#include "flitwise/ids.h"

namespace flitwise {

class DomainNumbers {
 public:
  explicit DomainNumbers(const DeviceConfig& device)
      : DomainNumbers(device, device.functions.has_pasid) {}
  /// uses_pasid: whether domains of one function differ.
  DomainNumbers(const DeviceConfig& device, bool uses_pasid)
      : functions_(device.functions.count),
        uses_pasid_(uses_pasid),
        shares_(uses_pasid && device.functions.pasid_space == PasidSpace::kSystem) {}

  /// Domains with one PASID: they follow one another.
  std::uint32_t per_pasid() const { return shares_ ? 1 : functions_; }

  /// Domains that there can be, with so many bits of PASID.
  std::uint64_t limit(unsigned pasid_bits = kPasidBits) const {
    return uses_pasid_ ? std::uint64_t{per_pasid()} << pasid_bits : functions_;
  }

  /// base: of function 0. REQUIRES: the domain is below limit().
  DeviceIdentity identity(Bdf base, DomainId domain) const {
    const std::uint32_t i = to_int(domain);
    DeviceIdentity identity;
    identity.bdf = Bdf{static_cast<std::uint16_t>(base.value + i % functions_)};
    if (uses_pasid_) {
      identity.pasid = Pasid{i / per_pasid()};
    }
    return identity;
  }

  /// The domain of function and PASID, which may lie beyond those in use; none where there cannot
  /// be one.
  std::optional<DomainId> domain(unsigned function, OptionalId<Pasid> pasid) const {
    if (function >= functions_ || pasid.has_value() != uses_pasid_) {
      return std::nullopt;
    }
    const std::uint32_t process = pasid ? to_int(*pasid) : 0;
    const std::uint32_t i = process * per_pasid() + (shares_ ? 0 : function);
    if (i % functions_ != function) {
      return std::nullopt;
    }
    return DomainId{i};
  }

 private:
  std::uint32_t functions_;
  bool uses_pasid_, shares_;
};

}  // namespace flitwise
