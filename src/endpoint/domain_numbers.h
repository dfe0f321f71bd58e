// SPDX-License-Identifier: Apache-2.0
/// Which function, PASID and context a domain of the workload is. Domain i belongs to function
/// i mod F of the F that carry the workload; its PASID is i div F where each function numbers its
/// own processes, and i where the host gives each process a PASID that no other has. Without PASID
/// each function is one domain. Where domains are contexts, i div F is the number of the context in
/// its function, and so many that follow one another there are of one process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "flitwise/config.h"
#include "flitwise/ids.h"

namespace flitwise {

/// Numbers of the functions that carry the workload, rising. [workload.functions]
inline std::vector<unsigned> workload_functions(const DeviceConfig& device) {
  const std::vector<unsigned>& carriers = device.functions.carriers;
  if (carriers != kAllFunctions && carriers != kVirtualFunctions) {
    return carriers;
  }
  std::vector<unsigned> all;
  for (unsigned f = carriers == kAllFunctions ? 0 : 1; f < device.functions.count; ++f) {
    all.push_back(f);
  }
  return all;
}

class DomainNumbers {
 public:
  explicit DomainNumbers(const DeviceConfig& device)
      : DomainNumbers(device, device.functions.has_pasid) {}
  /// uses_pasid: whether domains of one function differ.
  DomainNumbers(const DeviceConfig& device, bool uses_pasid)
      : functions_(workload_functions(device)),
        uses_pasid_(uses_pasid),
        kind_(device.functions.context_kind),
        per_process_(kind_ == ContextKind::kProcess ? 1 : device.functions.contexts_per_process),
        shares_(uses_pasid && device.functions.pasid_space == PasidSpace::kSystem) {}

  /// Domains with one PASID: they follow one another.
  std::uint32_t per_pasid() const { return (shares_ ? 1 : functions()) * per_process_; }
  /// Domains of one process.
  std::uint32_t per_process() const { return per_process_; }
  /// Functions that carry the workload.
  std::uint32_t functions() const { return static_cast<std::uint32_t>(functions_.size()); }

  /// Domains that there can be, with so many bits of PASID.
  std::uint64_t limit(unsigned pasid_bits = kPasidBits) const {
    return uses_pasid_ ? std::uint64_t{per_pasid()} << pasid_bits
                       : std::uint64_t{functions()} * per_process_;
  }

  /// base: of function 0. REQUIRES: the domain is below limit().
  DeviceIdentity identity(Bdf base, DomainId domain) const {
    const std::uint32_t i = to_int(domain);
    DeviceIdentity identity;
    identity.bdf = Bdf{static_cast<std::uint16_t>(base.value + functions_[i % functions()])};
    if (uses_pasid_) {
      identity.pasid = Pasid{i / per_pasid()};
    }
    return identity;
  }

  /// None where domains are processes.
  ContextId context(DomainId domain) const {
    return kind_ == ContextKind::kProcess ? ContextId()
                                          : ContextId(kind_, to_int(domain) / functions());
  }

  /// The domain of function and PASID, the first one where they have several, which may lie beyond
  /// those in use; none where there cannot be one.
  std::optional<DomainId> domain(unsigned function, OptionalId<Pasid> pasid) const {
    const auto carrier = std::lower_bound(functions_.begin(), functions_.end(), function);
    if (carrier == functions_.end() || *carrier != function || pasid.has_value() != uses_pasid_) {
      return std::nullopt;
    }
    const auto place = static_cast<std::uint32_t>(carrier - functions_.begin());
    const std::uint32_t process = pasid ? to_int(*pasid) : 0;
    const std::uint64_t i = std::uint64_t{process} * per_pasid() + (shares_ ? 0 : place);
    if (i % functions() != place || i > UINT32_MAX) {
      return std::nullopt;
    }
    return DomainId{static_cast<std::uint32_t>(i)};
  }
  /// The same of a context, which has to be one of that process.
  std::optional<DomainId> domain(unsigned function, OptionalId<Pasid> pasid,
                                 ContextId context) const {
    const std::optional<DomainId> first = domain(function, pasid);
    if (!first || (kind_ != ContextKind::kProcess) != static_cast<bool>(context) ||
        (context && context.kind() != kind_)) {
      return std::nullopt;
    }
    if (!context) {
      return first;
    }
    const std::uint32_t place = to_int(*first) / functions();
    if (context.number() < place || context.number() - place >= per_process_) {
      return std::nullopt;
    }
    return DomainId{to_int(*first) + (context.number() - place) * functions()};
  }

 private:
  std::vector<unsigned> functions_;
  bool uses_pasid_;
  ContextKind kind_;
  std::uint32_t per_process_;
  bool shares_;
};

}  // namespace flitwise
