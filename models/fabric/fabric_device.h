// SPDX-License-Identifier: Apache-2.0
/// A device and a link of the fabric: what host software, scripts and watchers address there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cxl/cxl_agents.h"
#include "endpoint/device_sender.h"
#include "endpoint/dma_engine.h"
#include "endpoint/endpoint.h"
#include "endpoint/hostile_engine.h"
#include "endpoint/ring_engine.h"
#include "flitwise/config.h"
#include "flitwise/ids.h"
#include "flitwise/link_device.h"
#include "link/link.h"
#include "network/nic_port.h"
#include "root_complex/root_port.h"
#include "topology/graph.h"

namespace flitwise {

struct FabricLink {
  std::string name;  ///< "rp0-ep0", "rp0-sw0", "sw0-ep1": also that of the module
  std::unique_ptr<Link> link;
  NodeIndex lower = 0;  ///< the node at its lower end
};

struct FabricDevice {
  std::string name;
  NodeIndex node = 0;
  unsigned host = 0;
  Config config;  ///< with the overrides of the device and of its link
  Endpoint* endpoint = nullptr;
  LinkDevice* outer = nullptr;             ///< of a library user, between link and endpoint
  std::unique_ptr<DmaEngine> engine;       ///< null: it is hostile, or has a sender
  std::unique_ptr<DmaEngine> host_engine;  ///< of the host's cores, where they have their own
  std::unique_ptr<HostileEngine> hostile;  ///< once the engines start
  std::unique_ptr<RingEngine> ring;        ///< beside these, where it has one
  std::unique_ptr<DeviceSender> sender;    ///< in place of `engine` (fabric/engine_kinds.h)
  std::unique_ptr<NicPort> nic;            ///< of one that has a peer, or is one
  Component* receiver = nullptr;           ///< of one that is the peer of another
  CxlAgents cxl;
  std::size_t link = 0;            ///< index of its own link
  RootPort* root_port = nullptr;   ///< that it is below of
  bool is_below_switch = false;    ///< which others may use as well
  HostHandles* handles = nullptr;  ///< the host's end of its handles
  BusRange buses;
  HandleRange range;                   ///< of its handles, should it use any
  std::vector<Component*> components;  ///< its own, in the order of results
};

/// What of its workload's domains a device was given, what it takes beyond is an attack: the PASIDs
/// of host.dhi.granted at its root port where that binds, and the domains that these name; all of
/// them elsewhere.
struct DeviceShare {
  std::uint32_t first_pasid = 0, last_pasid = 0;
  bool may_omit_pasid = true;                      ///< requests of the function alone are its own
  std::uint32_t first_domain = 0, end_domain = 0;  ///< not included

  static DeviceShare of(const Config& config, const FabricDevice& device);
  bool has(OptionalId<Pasid> pasid) const {
    return pasid ? to_int(*pasid) >= first_pasid && to_int(*pasid) <= last_pasid : may_omit_pasid;
  }
};

/// Is it one of its own?
bool owns_function(const FabricDevice& device, Bdf function);

/// Neighbours in a list.
template <class T>
struct Range {
  const T* first = nullptr;
  const T* last = nullptr;
  const T* begin() const { return first; }
  const T* end() const { return last; }
  std::size_t size() const { return static_cast<std::size_t>(last - first); }
};
using DeviceRange = Range<FabricDevice>;

}  // namespace flitwise
