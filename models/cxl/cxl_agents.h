// SPDX-License-Identifier: Apache-2.0
/// The agents of CXL.cache and CXL.mem at the link of one device, as far as it has any: who gets
/// which message and which engine, and what a link that goes down means to them.
#pragma once

#include <cstdint>

#include "cxl/cache_device.h"
#include "cxl/hdm_device.h"
#include "cxl/hdm_host.h"
#include "cxl/home.h"
#include "cxl/mem_device.h"
#include "cxl/mem_host.h"
#include "flitwise/config.h"

namespace flitwise {

/// Null where the device has no such agent.
struct CxlAgents {
  CxlMemHost* mem_host = nullptr;  ///< where the device has memory on CXL.mem
  CxlMemDevice* mem_device = nullptr;
  CxlHdmHost* hdm_host = nullptr;  ///< in their place where the device caches it as well
  CxlHdmDevice* hdm_device = nullptr;
  CxlCacheDevice* cache = nullptr;  ///< where it has one for lines of the host
  CxlHome* home = nullptr;          ///< of that cache
  std::uint8_t home_port = 0;       ///< at its home

  /// Whoever has the channel of this message sends it, as any of its own. False: nobody has.
  bool send(PacketRef message) const;
  /// The link is about to go down; it is up again. [CXL-3.9] [CXL-7.5] [CXL-8.5]
  void link_lost() const;
  void link_up() const;
  /// The agent that works for this kind of engine gets its work from it. `of_host`: the engine of
  /// the host's cores, where both ends have one. REQUIRES: there is such an agent.
  void attach(WorkloadVia via, Engine& engine, Engine* of_host) const;
  /// The engine of that agent has work again; that of the host's cores has.
  void wake(WorkloadVia via) const;
  void wake_host() const;
};

}  // namespace flitwise
