// SPDX-License-Identifier: Apache-2.0
/// Software of the host that sends by SDMA: it puts a packet into memory, describes it in the ring
/// of an engine, and writes the tail. The threads of a device share it. [PIO-6.10]
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pio/pio_config.h"
#include "pio/sdma_sender.h"

namespace flitwise {

class SdmaDriver {
 public:
  /// What it needs from outside: host memory, and posted writes to BAR 0.
  struct Hooks {
    std::function<std::uint64_t(std::uint64_t address)> look;  ///< eight bytes
    std::function<void(std::uint64_t address, const std::uint8_t* bytes, std::size_t size)> store;
    std::function<void(std::uint64_t offset, const std::uint8_t* bytes, std::size_t size)> write;
    /// The device begins all its rings anew; false: it is not done with what was before.
    std::function<bool()> restart;
    std::function<void(std::uint64_t address)> set_to_0;  ///< eight bytes
  };
  SdmaDriver(const PioEngineConfig& config, Hooks hooks);

  /// Of a packet with so many bytes behind its PBC: its first 64 bytes, and the rest.
  static unsigned descriptors_of(std::uint32_t payload) {
    return payload + kQwBytes > kSendBlockBytes ? 2 : 1;
  }
  /// Packets of domain d go by engine d modulo engines.
  unsigned engine_of(unsigned domain) const {
    return domain % static_cast<unsigned>(senders_.size());
  }
  /// Writes a packet and its descriptors, and tells the device. False: the ring, or the memory for
  /// packets, has no room by the head that stands in memory.
  bool send(unsigned domain, std::uint32_t payload, unsigned vl);
  /// The device was reset, and has forgotten its rings: they begin anew with the next packet.
  void stop() { is_stopped_ = true; }

 private:
  bool restart();
  void write_packet(unsigned engine, std::uint32_t payload, unsigned vl);
  void describe(unsigned engine, std::uint32_t bytes);

  const PioEngineConfig config_;
  const Hooks hooks_;
  std::vector<SdmaSender> senders_;   // by engine
  std::vector<std::uint8_t> packet_;  // the one that is written
  bool is_stopped_ = false;
};

}  // namespace flitwise
