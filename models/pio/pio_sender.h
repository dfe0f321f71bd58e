// SPDX-License-Identifier: Apache-2.0
/// A device that sends by PIO, with the half of it that is software: its engine, the cores of the
/// host whose threads write packets, and the SDMA driver that these share. Here they are joined to
/// each other, to the way from the host to the device, and to host memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "endpoint/device_sender.h"
#include "endpoint/endpoint.h"
#include "host/host_bridge.h"
#include "memory/memory_port.h"
#include "memory/seen_words.h"
#include "pio/pio_core.h"
#include "pio/pio_engine.h"
#include "pio/sdma_driver.h"
#include "root_complex/root_port.h"

namespace flitwise {

class PioSender final : public DeviceSender {
 public:
  /// Where it is put: all of it outlives the simulation.
  struct Site {
    std::string name;  ///< of the device
    Endpoint& endpoint;
    RootPort& port;  ///< above the device: the IIO
    HostBridge& bridge;
    MemoryPort& memory;
    std::size_t index;  ///< of the device, for these:
    /// BAR 0 of a function, once it has one.
    const std::function<std::uint64_t(std::size_t, unsigned)>& bar;
    const std::function<void(std::size_t)>& counting_starts;  ///< with the next packet
    const std::function<void()>& work_ended;                  ///< of a core
  };
  /// config: of the first core.
  PioSender(const Site& site, const PioCoreConfig& config, const WorkloadConfig& workload,
            const DeviceConfig& device, const RunConfig& run);

  void start(Time now) override;
  PioEngine& engine() { return engine_; }
  const std::vector<std::unique_ptr<PioCore>>& cores() const { return cores_; }

 private:
  PioCore::Hooks hooks_of_cores();
  SdmaDriver::Hooks hooks_of_driver();
  bool send_by_sdma(unsigned domain, std::uint32_t payload, unsigned vl, Time when);
  std::uint64_t look(std::uint64_t address);
  void write(std::uint64_t offset, const std::uint8_t* bytes, std::size_t size);
  void count();
  bool wake_next();
  void interrupt(const Packet& packet, Time when);
  PioSent sent() const;
  void device_was_reset();

  const Site site_;
  const PioCoreConfig config_;
  const std::uint64_t warmup_;  // packets
  SeenWords& seen_;  // what the device has written for software: credits and heads of rings
  PioEngine engine_;
  std::optional<SdmaDriver> driver_;
  std::vector<std::unique_ptr<PioCore>> cores_;
  std::uint64_t begun_ = 0;  // packets
  std::size_t turn_ = 0;     // core that had room last
};

}  // namespace flitwise
