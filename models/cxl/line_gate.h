// SPDX-License-Identifier: Apache-2.0
/// The check in front of a home: whose a D2H Req is, and whether the host serves that domain there.
/// It asks what CXL.io of the same link is asked at its root port. [CXL-7.7] [DHI-35]
#pragma once

#include <vector>

#include "coherence/cache_rules.h"
#include "cxl/domain_field.h"
#include "flitwise/config.h"
#include "flitwise/packet.h"
#include "iommu/walk.h"
#include "root_complex/host_handles.h"
#include "root_complex/port_seams.h"
#include "routing/request_rules.h"

namespace flitwise {

class LineGate {
 public:
  /// `host`: with the overrides of the root port. Both outlive the gate.
  LineGate(const CxlDomainField& field, const HostConfig& host, HostHandles& handles,
           DownstreamPort& port)
      : field_(field),
        rules_(host),
        checks_requester_(host.requester_check),
        checks_capabilities_(host.dhi.check_capabilities),
        handles_(handles),
        port_(port) {}

  /// A request can be refused here, or takes time.
  bool has_work() const {
    return field_.is_there() || checks_capabilities_ || rules_.checks_windows() ||
           handles_.checks_grants();
  }

  struct Verdict {
    const char* refusal = nullptr;  ///< null: it is served
    bool is_disabled = false;       ///< it has a handle, and the host's end is not enabled
    DeviceIdentity domain;          ///< whose it is; behind an invalid handle, the device's first
    DomainStanding standing;
    Time latency{};  ///< of the look-up
  };
  /// What the translation agent is asked of one that is served, by who it is. [CXL-7.10]
  static WalkRequest permission_request(const Verdict& verdict, std::uint64_t address,
                                        LineRights needed);
  /// Of a request that names a domain. A handle without valid entry may have ERROR go down.
  Verdict check(const Packet& packet, Time now);

 private:
  void find_domain(const Packet& packet, Time now, Verdict& verdict);

  const CxlDomainField field_;
  const HostRules rules_;
  const bool checks_requester_, checks_capabilities_;
  HostHandles& handles_;
  DownstreamPort& port_;            // of the same link
  std::vector<PacketRef> answers_;  // scratch
};

}  // namespace flitwise
