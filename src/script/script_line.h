// SPDX-License-Identifier: Apache-2.0
/// One line of a script as an operation. docs/script.md shows them all.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "flitwise/ids.h"
#include "flitwise/time.h"
#include "flitwise/tlp.h"

namespace flitwise {

struct PokeOp {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
};
struct PeekOp {
  std::uint64_t address = 0;
  std::uint64_t bytes = 8;
};
struct TlpOp {
  std::string port = "ep0";
  std::vector<std::uint8_t> bytes;
};
struct DmaOp {
  std::string port = "ep0";
  std::optional<Bdf> requester_id;  ///< absent: the device's own
  OptionalId<Pasid> pasid;
  AddressType at = AddressType::kUntranslated;
  bool is_write = false;
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::vector<std::uint8_t> data;  ///< of a write
  bool no_write = false;
  bool execute = false;
  bool privileged = false;
};
struct RunOp {
  std::optional<Time> span;  ///< absent: until nothing is under way
};
/// Software at the host reads or writes a BAR of a device.
struct MmioOp {
  bool is_write = false;
  std::uint64_t address = 0;
  std::uint32_t bytes = 4;         ///< a read: 1..4096 that cross no 4 KiB boundary
  std::vector<std::uint8_t> data;  ///< of a write
};
/// Software at the host reads or writes a configuration register.
struct CfgOp {
  bool is_write = false;
  Bdf target;
  std::uint16_t offset = 0;  ///< the register lies within one DW
  unsigned bytes = 4;        ///< 1, 2 or 4
  std::uint32_t value = 0;   ///< of a write
};
/// Part of the script language, but not of the machine yet.
struct NotModelledOp {
  std::string what;
};

struct ScriptLine {
  nlohmann::ordered_json id;  ///< null where there is none
  std::variant<PokeOp, PeekOp, TlpOp, DmaOp, RunOp, MmioOp, CfgOp, NotModelledOp> op;
};

inline constexpr std::uint32_t kPageBytes = 4096;
inline constexpr std::uint64_t kMostScriptBytes = std::uint64_t{1} << 20;  ///< of one poke or peek

/// Reads a JSON object. Throws ConfigError with every problem: no op, an unknown one and the
/// nearest, unknown keys, values out of range.
ScriptLine parse_script_line(const nlohmann::ordered_json& object, int line);

}  // namespace flitwise
