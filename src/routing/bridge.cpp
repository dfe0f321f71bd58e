// SPDX-License-Identifier: Apache-2.0
// Decoding of type 1 headers, and registers of the ACS capability.
#include "routing/bridge.h"

#include <algorithm>

#include "config_space/registers.h"

namespace flitwise {

namespace {
constexpr std::uint64_t kWindowGranule = std::uint64_t{1} << 20;

/// Base and limit are addresses in units of 1 MiB, both inside; base above limit: closed.
AddressRange window(std::uint64_t base, std::uint64_t limit) {
  if (base > limit) {
    return {};
  }
  // All addresses have no size in 64 bits; without the last byte they do.
  const std::uint64_t size = limit - base + kWindowGranule;
  return {base, size == 0 ? ~std::uint64_t{0} : size};
}
}  // namespace

Bridge decode_bridge(const ConfigSpace& space) {
  Bridge bridge;
  const std::uint32_t buses = space.read(cfg::kBusNumbers);
  bridge.primary = static_cast<std::uint8_t>(buses);
  bridge.secondary = static_cast<std::uint8_t>(buses >> 8);
  bridge.subordinate = static_cast<std::uint8_t>(buses >> 16);
  bridge.memory_enabled = space.memory_space_enabled();
  bridge.bus_master = space.bus_master_enabled();

  const std::uint32_t memory = space.read(cfg::kMemoryWindow);
  bridge.memory = window(std::uint64_t{memory & 0xfff0U} << 16, memory & 0xfff00000U);
  const std::uint32_t prefetch = space.read(cfg::kPrefetchWindow);
  const std::uint64_t base_upper = space.read(cfg::kPrefetchBaseUpper);
  const std::uint64_t limit_upper = space.read(cfg::kPrefetchLimitUpper);
  bridge.prefetchable = window(base_upper << 32 | (prefetch & 0xfff0U) << 16,
                               limit_upper << 32 | (prefetch & 0xfff00000U));

  const auto pcie = space.find(cfg::kCapPcie);
  if (pcie) {
    const std::uint32_t control2 =
        space.read(static_cast<std::uint16_t>(*pcie + cfg::pcie::kDeviceControl2));
    bridge.ari_forwarding = (control2 & cfg::pcie::kAriForwarding) != 0;
  }
  const auto acs = space.find_extended(cfg::kExtAcs);
  if (acs) {
    const std::uint32_t registers =
        space.read(static_cast<std::uint16_t>(*acs + cfg::acs::kControl));
    const std::uint32_t control = registers >> 16;
    bridge.source_validation = (control & cfg::acs::kSourceValidation) != 0;
    bridge.p2p_request_redirect = (control & cfg::acs::kP2pRequestRedirect) != 0;
    bridge.p2p_completion_redirect = (control & cfg::acs::kP2pCompletionRedirect) != 0;
    bridge.upstream_forwarding = (control & cfg::acs::kUpstreamForwarding) != 0;
    bridge.p2p_egress_control = (control & cfg::acs::kP2pEgressControl) != 0;
    bridge.direct_translated_p2p = (control & cfg::acs::kDirectTranslatedP2p) != 0;
    const unsigned peers = registers >> cfg::acs::kVectorSizeShift & 0xffU;
    for (unsigned port = 0; port < peers; ++port) {
      const auto at = static_cast<std::uint16_t>(*acs + cfg::acs::kEgressVector + port / 32 * 4);
      bridge.egress_blocked[port] = (space.read(at) >> port % 32 & 1U) != 0;
    }
  }
  return bridge;
}

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
