// SPDX-License-Identifier: Apache-2.0
// Header: op, bar, two bytes reserved, size, address. The guest's byte order is that of this
// machine, and only little-endian machines run such guests.
#include "uml/pcidev_message.h"

#include <boost/endian/conversion.hpp>

namespace flitwise {
namespace {

using namespace boost::endian;

constexpr std::size_t kHeader = 16;
constexpr std::uint32_t kMostSize = 1 << 20;

}  // namespace

std::optional<PciCommand> decode_pci_command(const std::vector<std::uint8_t>& bytes,
                                             std::size_t room) {
  if (bytes.size() < kHeader) {
    return std::nullopt;
  }
  PciCommand command;
  command.op = PciOp{bytes[0]};
  command.bar = bytes[1];
  command.size = load_little_u32(bytes.data() + 4);
  command.address = load_little_u64(bytes.data() + 8);
  const std::size_t has = bytes.size() - kHeader;
  const auto data = bytes.begin() + kHeader;
  if (command.size == 0 || command.size > kMostSize) {
    return std::nullopt;
  }
  switch (command.op) {
    case PciOp::kConfigRead:
    case PciOp::kMmioRead:
      return command.size <= room ? std::optional<PciCommand>(command) : std::nullopt;
    case PciOp::kConfigWrite:
    case PciOp::kMmioWrite:
      if (command.size > has) {
        return std::nullopt;
      }
      command.data.assign(data, data + command.size);
      return command;
    case PciOp::kMmioSet:
      if (has == 0) {
        return std::nullopt;
      }
      command.data.assign(command.size, *data);
      command.op = PciOp::kMmioWrite;
      return command;
    default: return std::nullopt;
  }
}

std::vector<std::uint8_t> encode_msi(std::uint64_t address, std::uint32_t data) {
  std::vector<std::uint8_t> bytes(kHeader + 4);
  bytes[0] = static_cast<std::uint8_t>(PciOp::kMsi);
  store_little_u32(bytes.data() + 4, 4);
  store_little_u64(bytes.data() + 8, address);
  store_little_u32(bytes.data() + kHeader, data);
  return bytes;
}

}  // namespace flitwise
