// SPDX-License-Identifier: Apache-2.0
/// A device with an RDMA adapter, and the software of its host that posts work requests: here they
/// are joined to each other, to the way from the host to the device, and to host memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "endpoint/device_sender.h"
#include "endpoint/endpoint.h"
#include "host/host_bridge.h"
#include "memory/memory_port.h"
#include "rdma/eps.h"
#include "rdma/hca.h"
#include "rdma/verbs_driver.h"

namespace flitwise {

class RdmaSender final : public DeviceSender {
 public:
  /// Where it is put: all of it outlives the simulation.
  struct Site {
    std::string name;  ///< of the device
    Endpoint& endpoint;
    HostBridge& bridge;
    MemoryPort& memory;
    MemoryPort& peer_memory;                                  ///< of the one that it asks
    std::size_t index;                                        ///< of the device, for these:
    const std::function<std::uint64_t(std::size_t)>& bar;     ///< BAR 0, once it has one
    const std::function<void(std::size_t)>& counting_starts;  ///< with the next request
    const std::function<void()>& work_ended;
    /// Where in host memory the device's buffers begin, and those of the one that it asks, once
    /// tables are made.
    std::function<std::uint64_t()> buffers, peer_buffers;
  };
  RdmaSender(const Site& site, const VerbsDriverConfig& config, const WorkloadConfig& workload,
             const DeviceConfig& device, const RunConfig& run);

  void start(Time now) override;
  Hca& hca() { return hca_; }
  VerbsDriver& driver() { return driver_; }
  /// Null: no structure is translated ahead of use.
  Eps* eps() { return eps_ ? &*eps_ : nullptr; }

 private:
  VerbsDriver::Hooks hooks();
  void add_eps();
  void write_registers();
  void ring(Doorbell bell);
  void store(const std::uint8_t* bytes, std::size_t size);
  static VerbsDriver::Memory memory_of(MemoryPort& memory, const std::uint64_t& shift);

  const Site site_;
  const VerbsDriverConfig config_;
  const std::uint64_t warmup_;                // requests
  std::uint64_t shift_ = 0, peer_shift_ = 0;  // from addresses of devices to those of memory
  SeenWords* seen_ = nullptr;                 // entries of completion queues
  Hca hca_;
  std::optional<Eps> eps_;
  VerbsDriver driver_;
  std::uint64_t begun_ = 0;  // requests
};

}  // namespace flitwise
