// SPDX-License-Identifier: Apache-2.0
/// What a guest asks of a PCI device over virtio, and what it is told
/// (include/uapi/linux/virtio_pcidev.h of the kernel): a header of 16 bytes, and data.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace flitwise {

enum class PciOp : std::uint8_t {
  kConfigRead = 1,
  kConfigWrite = 2,
  kMmioRead = 3,
  kMmioWrite = 4,
  kMmioSet = 5,  ///< one byte, many times
  kInterrupt = 6,
  kMsi = 7,
  kPowerEvent = 8,
};

struct PciCommand {
  PciOp op = PciOp::kConfigRead;
  std::uint8_t bar = 0;
  std::uint32_t size = 0;  ///< bytes
  std::uint64_t address = 0;
  std::vector<std::uint8_t> data;  ///< of writes: `size` bytes

  bool is_read() const { return op == PciOp::kConfigRead || op == PciOp::kMmioRead; }
};

/// As it came; nothing where it is no read or write, or cut short. room: bytes that the guest has
/// left for the answer.
std::optional<PciCommand> decode_pci_command(const std::vector<std::uint8_t>& bytes,
                                             std::size_t room);
/// The bytes that tell a guest of a message signalled interrupt.
std::vector<std::uint8_t> encode_msi(std::uint64_t address, std::uint32_t data);

}  // namespace flitwise
