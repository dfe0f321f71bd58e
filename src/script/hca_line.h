// SPDX-License-Identifier: Apache-2.0
/// Lines of a script that drive the QP-state cache and the pre-translation of a host channel
/// adapter in untimed order of events: arrays such as ["access", 1, "CQ", 0, 64]. docs/rdma.md
/// shows them all.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/json_value.h"
#include "hca/pretranslation.h"

namespace flitwise {

class HcaScript;
struct HcaLine;

/// What stands behind the verb at one place.
enum class HcaArgument : std::uint8_t {
  kSetup,
  kFunction,   ///< 0: the physical one
  kStructure,  ///< "CQ"
  kQpn,        ///< 24 bits
  kNumber,     ///< 32 bits
  kAddress,    ///< 64 bits
  kRange,      ///< bytes: a power of two from 4096 on
  kFlag,
  kRights,  ///< "rw", "r", "w" or "none"
  kPasids   ///< a PASID, "none" or "all"
};
struct HcaVerb {
  const char* name;
  std::vector<HcaArgument> arguments;
  void (*apply)(HcaScript& script, const HcaLine& line);
};
/// All that parse_hca_line() takes.
const std::vector<HcaVerb>& hca_verbs();

struct HcaScriptSetup {
  PretranslationSetup pretranslation;
  unsigned entries = 128, ways = 0;  ///< of the QP-state cache
  bool starts = true;                ///< the drivers of all functions
};

struct HcaLine {
  const HcaVerb* verb = nullptr;
  std::uint32_t function = 0;
  StaticStructure structure = StaticStructure::kQpStateArray;
  std::vector<std::uint64_t> numbers;  ///< numbers, addresses and flags, in order
  std::uint8_t range_bits = kSmallestRangeBits;
  bool reads = false, writes = false;  ///< of kRights
  InvalidationScope scope;
  HcaScriptSetup setup;
};

/// Is it the line that sets an adapter up? Other arrays are lines of it from then on.
bool begins_hca(const Json& array);
/// Throws ConfigError with every problem: no verb, an unknown one and the nearest, too few or too
/// many arguments, unknown keys, values out of range.
HcaLine parse_hca_line(const Json& array, int number);

}  // namespace flitwise
