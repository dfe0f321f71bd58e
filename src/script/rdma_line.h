// SPDX-License-Identifier: Apache-2.0
/// Lines of a script that drive two ends of an RDMA connection in untimed order of events: arrays
/// such as ["deliver", 1]. docs/rdma.md shows them all.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "codec/json_value.h"
#include "rdma/rdma_end.h"

namespace flitwise {

class RdmaScript;
struct RdmaLine;

/// What stands behind the verb at one place.
enum class RdmaArgument : std::uint8_t {
  kSetup,    ///< of both ends
  kEnd,      ///< 0 or 1
  kNumber,   ///< 32 bits
  kAddress,  ///< 64 bits
  kBytes,    ///< hex
  kFlag,
  kRights,   ///< "LW RR RW RA"
  kState,    ///< "RTS"
  kSend,     ///< a work request
  kReceive,  ///< a receive buffer
  kPacket,   ///< fields of a packet
  kSession   ///< its number, 16 bits without 0xffff
};
struct RdmaVerb {
  const char* name;
  std::vector<RdmaArgument> arguments;
  void (*apply)(RdmaScript& script, const RdmaLine& line);
};
/// Those of several sessions and of time.
std::vector<RdmaVerb> rdma_path_verbs();
/// All that parse_rdma_line() takes.
const std::vector<RdmaVerb>& rdma_verbs();

struct RdmaLine {
  const RdmaVerb* verb = nullptr;
  unsigned end = 0;
  std::vector<std::uint64_t> numbers;  ///< numbers, sessions, addresses, flags, rights, in order
  std::vector<std::uint8_t> bytes;
  std::array<RdmaEndSetup, 2> setup;
  bool connects = true;   ///< of kSetup: both ends go to RTS
  unsigned sessions = 1;  ///< of kSetup: among which rates are divided
  QpState state = QpState::kReset;
  SendWork send;
  ReceiveWork receive;
  RdmaWirePacket packet;
  bool names_pair = false;  ///< the packet says which queue pair it is for
};

/// Is it the line that sets two ends up? Other arrays are lines of it from then on.
bool begins_rdma(const Json& array);
/// Throws ConfigError with every problem: no verb, an unknown one and the nearest, too few or too
/// many arguments, unknown keys, values out of range.
RdmaLine parse_rdma_line(const Json& array, int number);

}  // namespace flitwise
