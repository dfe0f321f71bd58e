// SPDX-License-Identifier: Apache-2.0
/// What a type 1 header says about the way of packets: bus range, memory windows, enables, ACS.
#pragma once

#include <bitset>
#include <cstdint>
#include <vector>

#include "config_space/config_space.h"
#include "config_space/enumeration.h"
#include "flitwise/config.h"

namespace flitwise {

/// Decoded once per configuration write, asked once per packet.
struct Bridge {
  std::uint8_t primary = 0;
  std::uint8_t secondary = 0;  ///< 0: no bus numbers assigned, nothing is forwarded by ID
  std::uint8_t subordinate = 0;
  bool memory_enabled = false;  ///< Memory Space Enable: windows forward downstream
  bool bus_master = false;      ///< Bus Master Enable: memory requests are forwarded upstream
  AddressRange memory;          ///< non-prefetchable window; empty when base > limit
  AddressRange prefetchable;
  bool ari_forwarding = false;  ///< device numbers behind the port are function numbers
  bool source_validation = false;
  bool p2p_request_redirect = false;
  bool p2p_completion_redirect = false;
  bool upstream_forwarding = false;
  bool p2p_egress_control = false;
  bool direct_translated_p2p = false;
  std::bitset<256> egress_blocked;  ///< by downstream port

  bool owns_bus(unsigned bus) const {
    return secondary != 0 && bus >= secondary && bus <= subordinate;
  }
  bool owns_address(std::uint64_t address) const {
    return memory_enabled && (memory.contains(address) || prefetchable.contains(address));
  }
};

/// REQUIRES: space has a type 1 header.
Bridge decode_bridge(const ConfigSpace& space);

/// Access Control Services as software sets them at a downstream port. egress: ports that no peer
/// may send requests to, by number.
AccessControl access_control(const AcsConfig& acs, const std::vector<unsigned>& egress = {});

}  // namespace flitwise
