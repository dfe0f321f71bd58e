// SPDX-License-Identifier: Apache-2.0
/// Addresses of network ports, by number: 10.0.0.1 is that of number 0, with 02:00:00:00:00:01.
#pragma once

#include <cstdint>

namespace flitwise {

/// The last byte of an address is the number plus one.
inline constexpr unsigned kMostNetworkPorts = 254;

constexpr std::uint32_t ipv4_of_port(unsigned number) {
  return 0x0a000001 + number;
}
/// The last byte of either address.
constexpr std::uint8_t address_byte(unsigned number) {
  return static_cast<std::uint8_t>(number + 1);
}

}  // namespace flitwise
