// SPDX-License-Identifier: Apache-2.0
/// Access Control Services as software sets them at a downstream port.
#pragma once

#include <cstdint>

#include "config_space/registers.h"
#include "flitwise/config.h"

namespace flitwise {

/// The ACS Control register.
constexpr std::uint32_t acs_control(bool source_validation, PeerRoute request,
                                    PeerRoute completion) {
  return (source_validation ? cfg::acs::kSourceValidation : 0U) |
         (request == PeerRoute::kRedirect ? cfg::acs::kP2pRequestRedirect : 0U) |
         (completion == PeerRoute::kRedirect ? cfg::acs::kP2pCompletionRedirect : 0U) |
         cfg::acs::kUpstreamForwarding;
}
inline std::uint32_t acs_control(const AcsConfig& acs) {
  return acs_control(acs.source_validation, acs.p2p_request, acs.p2p_completion);
}

}  // namespace flitwise
