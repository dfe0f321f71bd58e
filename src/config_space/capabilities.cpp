// SPDX-License-Identifier: Apache-2.0
// Capabilities of a few registers: power management, MSI-X, ARI, ACS, DVSEC.
#include "config_space/capabilities.h"

#include <string>
#include <utility>

#include "flitwise/error.h"

namespace flitwise {

// D0 and D3hot as a field; the model has no power states.
Capability power_management_capability() {
  // Version 3. No_Soft_Reset; PowerState.
  Capability capability = Capability::standard(
      cfg::kCapPowerManagement, 8, {{0x00, 0x3U << 16}, {cfg::pm::kControlStatus, 1U << 3, 0x3}});
  capability.on_write = [](const RegisterWrite& write, WriteEffect& effect) {
    effect.power_state_changed |=
        write.offset == cfg::pm::kControlStatus && ((write.before ^ write.after) & 0x3U) != 0;
  };
  return capability;
}

// Where table and pending bits stand, and the two enables.
Capability msix_capability(const MsixOptions& options) {
  FLITWISE_CHECK(options.vectors >= 1 && options.vectors <= 2048 && options.bar <= 5,
                 "MSI-X vectors " + std::to_string(options.vectors));
  Capability capability =
      Capability::standard(cfg::kCapMsix, 12,
                           {{cfg::msix::kControlDw, (options.vectors - 1) << 16,
                             cfg::msix::kEnable | cfg::msix::kFunctionMask},
                            {cfg::msix::kTable, (options.table_offset & ~7U) | options.bar},
                            {cfg::msix::kPba, (options.pba_offset & ~7U) | options.bar}});
  capability.on_write = told_as(&WriteEffect::msix_changed);
  return capability;
}

// Functions 0..255 of one device. [LNK-2.3]
Capability ari_capability(std::uint8_t next_function) {
  return Capability::extended(cfg::kExtAri, 8, {{0x04, std::uint32_t{next_function} << 8}});
}

// Of root ports and switch downstream ports. [DHI S1]
Capability acs_capability(unsigned peers) {
  constexpr std::uint32_t kOfAll = cfg::acs::kSourceValidation | cfg::acs::kP2pRequestRedirect |
                                   cfg::acs::kP2pCompletionRedirect | cfg::acs::kUpstreamForwarding;
  constexpr std::uint32_t kAmongPeers =
      cfg::acs::kP2pEgressControl | cfg::acs::kDirectTranslatedP2p;
  const std::uint32_t supported = peers > 0 ? kOfAll | kAmongPeers : kOfAll;
  Capability capability = Capability::extended(
      cfg::kExtAcs, 8,
      {{cfg::acs::kControl, supported | peers << cfg::acs::kVectorSizeShift, supported << 16}});
  for (unsigned first = 0; first < peers; first += 32) {
    const unsigned bits = peers - first;
    const std::uint32_t writable = bits >= 32 ? ~0U : (1U << bits) - 1;
    capability.registers.push_back({capability.size, 0, writable});
    capability.size = static_cast<std::uint16_t>(capability.size + 4);
  }
  capability.on_write = told_as(&WriteEffect::acs_changed);
  return capability;
}

// The header; registers are with their owner. [DHI D5]
Capability dvsec_capability(DvsecOptions options) {
  Capability capability = Capability::extended(cfg::kExtDvsec, options.size, {});
  capability.owner = std::move(options.owner);
  return capability;
}

std::optional<std::uint16_t> find_dvsec(const ConfigSpace& space, std::uint16_t vendor,
                                        std::uint16_t dvsec_id) {
  std::uint16_t start = cfg::kExtendedStart;
  while (start != 0) {
    const std::uint32_t header = space.read(start);
    const auto low_half = [&](unsigned offset) {
      return space.read(register_at(start, offset)) & 0xffffU;
    };
    if ((header & 0xffffU) == cfg::kExtDvsec && low_half(cfg::dvsec::kHeader1) == vendor &&
        low_half(cfg::dvsec::kHeader2) == dvsec_id) {
      return start;
    }
    start = static_cast<std::uint16_t>(header >> 20);
  }
  return std::nullopt;
}

}  // namespace flitwise
