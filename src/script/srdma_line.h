// SPDX-License-Identifier: Apache-2.0
/// Lines of a script that drive two ends of session groups and the network between them, in the
/// order of the lines: arrays such as ["connect", 0, {"sessions": 4}]. docs/srdma.md shows them
/// all.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "codec/json_value.h"
#include "srdma/srdma_end.h"

namespace flitwise {

class SrdmaScript;
struct SrdmaLine;

/// What stands behind the verb at one place.
enum class SrdmaArgument : std::uint8_t {
  kSetup,    ///< of both ends
  kEnd,      ///< 0 or 1; 1 has the higher address
  kGroup,    ///< its place at that end, as events name it
  kSession,  ///< its id
  kQpn,      ///< 24 bits
  kPort,     ///< 16 bits
  kNumber,   ///< 32 bits
  kFlag,
  kKind,     ///< of a control message: "REFRESH_REQ"
  kConnect,  ///< what a group is to have
  kFields    ///< of a frame
};
struct SrdmaVerb {
  const char* name;
  std::vector<SrdmaArgument> arguments;
  void (*apply)(SrdmaScript& script, const SrdmaLine& line);
};
/// All that parse_srdma_line() takes.
const std::vector<SrdmaVerb>& srdma_verbs();

struct SrdmaScriptSetup {
  std::array<SrdmaEndSetup, 2> ends;
  Time latency = Time::from_us(5);  ///< of the network, where time passes
};

/// Fields of a frame that are changed, or made up; absent: as they are.
struct SrdmaFrameFields {
  std::optional<std::uint64_t> source, destination, ttl, ecn;  // IP
  std::optional<std::uint64_t> source_port, destination_port, udp_length;
  std::optional<std::uint64_t> opcode, version, pair, psn;  // BTH
  bool seals = true;        ///< ICRC and checksums are made right again
  bool is_secured = false;  ///< a made-up one looks secured, by a key of zeros
};

struct SrdmaLine {
  const SrdmaVerb* verb = nullptr;
  unsigned end = 0;
  GroupSlot group = 0;
  SessionId session = 0;
  std::vector<std::uint64_t> numbers;  ///< queue pairs, ports, numbers and flags, in order
  CmKind kind = CmKind::kConnectRequest;
  ConnectRequest connect;
  SrdmaFrameFields fields;
  SrdmaScriptSetup setup;
};

/// Is it the line that sets two ends up? Other arrays are lines of it from then on.
bool begins_srdma(const Json& array);
/// Throws ConfigError with every problem: no verb, an unknown one and the nearest, too few or too
/// many arguments, unknown keys, values out of range.
SrdmaLine parse_srdma_line(const Json& array, int number);

}  // namespace flitwise
