// SPDX-License-Identifier: Apache-2.0
/// What links and switches of a network go by, as a configuration says it.
#pragma once

#include <cstdint>

#include "flitwise/config.h"
#include "network/path_choice.h"
#include "network/pfc.h"
#include "network/red.h"

namespace flitwise {

/// That have to be there before a cut-through switch decides: preamble and headers up to UDP.
inline constexpr std::uint32_t kSwitchedHeaderBytes = 8 + 14 + 20 + 8;

struct PacketFabricRules {
  PathRules path;
  RedRules red;
  FlowHash hash = FlowHash::kCrc32c;
  bool is_symmetric = false, is_polarised = false, is_cut_through = false;
  std::uint64_t room = std::uint64_t{1} << 20;  ///< bytes of each output port of a switch
  Time detect = Time::from_us(1'000);
  Time util_window = Time::from_us(10);
  PfcRules pfc;
  bool keeps_waits = false;  ///< by port, for explanations
};
/// is_adaptive: some hosts send packets of the class for adaptive routing. mtu: of all of them.
PacketFabricRules fabric_rules(const NetworkConfig& network, const NetworkPlan& plan,
                               bool is_adaptive, std::uint32_t mtu);

}  // namespace flitwise
