// SPDX-License-Identifier: Apache-2.0
/// Lines of a script that drive the weights, the choice and the control of one session group, in
/// untimed order of events: arrays such as ["send", 4, 0]. docs/srdma.md shows them all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codec/json_value.h"
#include "srdma/session_balancer.h"

namespace flitwise {

class RcmScript;
struct RcmLine;

/// What stands behind the verb at one place.
enum class RcmArgument : std::uint8_t {
  kSetup,
  kWeights,
  kPath,
  kSession,  ///< its id
  kPsn,
  kNumber,  ///< 32 bits
  kNs,
  kFlag
};
struct RcmVerb {
  const char* name;
  std::vector<RcmArgument> arguments;
  void (*apply)(RcmScript& script, const RcmLine& line);
};
/// All that parse_rcm_line() takes.
const std::vector<RcmVerb>& rcm_verbs();

/// What packets meet on the way of a session: one server, then the rest of a round trip.
struct RcmPath {
  Time rtt = Time::from_us(10);
  Time service{};             ///< a packet takes of the server
  Time mark = Time::never();  ///< a packet that waits longer is marked
  bool is_dead = false;
};

struct RcmSetup {
  BalancerSetup balancer;
  unsigned sessions = 2;           ///< their ids count from 0
  std::vector<double> thresholds;  ///< T_i by id; below 0, or beyond its end: none
  BalancedSession session;         ///< what all of them have in common
  std::uint32_t bytes = 4096;      ///< of a packet
  std::uint64_t seed = 1;
  std::uint32_t qpn = 7;
  std::optional<RcmPath> path;  ///< of each session; none: lines say what arrives
  bool acts = false;            ///< decisions are carried out at once
};

struct RcmLine {
  const RcmVerb* verb = nullptr;
  std::vector<std::uint64_t> numbers;  ///< all that are numbers or flags, in order
  RcmSetup setup;
  Json object;  ///< of kWeights and kPath: read where the group is known
};

/// Is it the line that sets a group up? Other arrays are lines of it from then on.
bool begins_rcm(const Json& array);
/// Throws ConfigError with every problem: no verb, an unknown one and the nearest, too few or too
/// many arguments, unknown keys, values out of range.
RcmLine parse_rcm_line(const Json& array, int number);

/// Keys of the weights, over what `setup` has. Empty: nothing is wrong.
Complaint read_rcm_weights(const Json& value, WeightSetup& setup);
Complaint read_rcm_path(const Json& value, RcmPath& path);

}  // namespace flitwise
