// SPDX-License-Identifier: Apache-2.0
/// Registers by the names that their specifications give them, in place of offsets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flitwise {

/// A register of the translation agent. [IOM-1.1]
struct AgentRegister {
  struct Bit {
    const char* name;
    std::uint64_t mask;
  };
  const char* name;
  std::uint32_t offset;
  std::vector<Bit> bits;  ///< those that have names here
};
const std::vector<AgentRegister>& agent_registers();

/// A register of configuration space: of the header, or of a capability wherever that stands.
struct ConfigRegister {
  enum class Part : std::uint8_t { kHeader, kCapability, kExtended };
  const char* name;
  Part part;
  std::uint16_t capability;  ///< id, but for kHeader
  std::uint16_t offset;      ///< in bytes from the start of the part
  unsigned bytes;            ///< 1, 2 or 4
};
const std::vector<ConfigRegister>& config_registers();

}  // namespace flitwise
