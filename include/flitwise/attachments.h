// SPDX-License-Identifier: Apache-2.0
/// What a library user puts into a machine in place of its own parts.
#pragma once

#include <map>
#include <string>

#include <tlm>

#include "flitwise/device_engine.h"
#include "flitwise/link_device.h"

namespace flitwise {

/// Where host memory is bound: any target of the TLM-2.0 base protocol, 32 bits wide.
using MemorySocket =
    tlm::tlm_base_target_socket_b<32, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<>>;

/// All of them outlive the System. Devices by the name that they have in the configuration: "ep0".
struct Attachments {
  /// In place of the memory of the first host. poke() and peek() reach it through transport_dbg.
  /// host.memory.size and what else is set of the memory's time has no effect then, except on where
  /// buffers may lie.
  MemorySocket* memory = nullptr;
  /// In place of the device's DMA engine, whose workload.* keys have no effect then, except on
  /// where buffers lie and how many domains there are. REQUIRES: workload.via is dma.
  std::map<std::string, DeviceEngine*> engines;
  /// Between the link and the functions of the device, which has no DMA engine then.
  /// REQUIRES: likewise, and link.carrier is pcie.
  std::map<std::string, LinkDevice*> devices;
};

}  // namespace flitwise
