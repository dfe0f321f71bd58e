// SPDX-License-Identifier: Apache-2.0
/// Lines of a script that drive PIO send memory in untimed order of events: arrays such as
/// ["fill", 3, 1, 0, false]. docs/pio.md shows them all.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/json_value.h"

namespace flitwise {

class PioScript;
struct PioLine;

/// What stands behind the verb at one place.
struct PioArgument {
  enum class Kind : std::uint8_t {
    kNumber,   ///< least to most
    kPower,    ///< of two, least to most
    kAddress,  ///< of 64 bytes
    kFlag,     ///< true, false, 1, 0
    kHex,      ///< up to `most` bytes
    kList,     ///< exactly `count` numbers
    kPairs     ///< up to `count` pairs of numbers, filled up with pairs of 0
  };
  const char* name;
  Kind kind = Kind::kNumber;
  std::uint64_t least = 0, most = 0;
  unsigned count = 0;
  std::uint64_t most_second = 0;  ///< of a pair
};
struct PioVerb {
  const char* name;
  std::vector<PioArgument> arguments;
  void (*apply)(PioScript& script, const PioLine& line);
};
std::vector<PioVerb> pio_device_verbs();  ///< what the device is told
std::vector<PioVerb> pio_host_verbs();    ///< what cores and software of the host do
std::vector<PioVerb> pio_sdma_verbs();    ///< rings of SDMA, and the memory that they are in
/// All that parse_pio_line() takes.
const std::vector<PioVerb>& pio_verbs();

struct PioLine {
  const PioVerb* verb = nullptr;
  std::vector<std::uint64_t> numbers;  ///< one behind the other; a flag is 0 or 1
  std::vector<std::uint8_t> bytes;     ///< of kHex
};

/// Throws ConfigError with every problem: no verb, an unknown one and the nearest, too few or too
/// many arguments, values out of range.
PioLine parse_pio_line(const Json& array, int number);

}  // namespace flitwise
