// SPDX-License-Identifier: Apache-2.0
// Registers of the ACS capability.
#include "routing/access_control.h"

#include <algorithm>

#include "config_space/registers.h"

namespace flitwise {

AccessControl access_control(const AcsConfig& acs, const std::vector<unsigned>& egress) {
  const auto bit = [](bool is_set, std::uint32_t which) { return is_set ? which : 0U; };
  AccessControl access;
  access.control =
      bit(acs.source_validation, cfg::acs::kSourceValidation) |
      bit(acs.p2p_request == PeerRoute::kRedirect, cfg::acs::kP2pRequestRedirect) |
      bit(acs.p2p_completion == PeerRoute::kRedirect, cfg::acs::kP2pCompletionRedirect) |
      bit(!egress.empty(), cfg::acs::kP2pEgressControl) |
      bit(acs.direct_translated, cfg::acs::kDirectTranslatedP2p) | cfg::acs::kUpstreamForwarding;
  for (const unsigned port : egress) {
    access.egress.resize(std::max<std::size_t>(access.egress.size(), port / 32 + 1));
    access.egress[port / 32] |= 1U << port % 32;
  }
  return access;
}

}  // namespace flitwise
