// SPDX-License-Identifier: Apache-2.0
/// Lines of a script that drive the switches of a network in untimed order of events: arrays such
/// as ["send", {"from": "h0", "to": "h5"}]. docs/network.md shows them all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codec/json_value.h"
#include "network/path_choice.h"
#include "network/pfc.h"
#include "network/red.h"

namespace flitwise {

class NetworkScript;
struct NetworkLine;

/// What stands behind the verb at one place.
enum class NetworkArgument : std::uint8_t {
  kSetup,
  kPort,    ///< "leaf0-spine1": the port of the first to the second; or the edge between them
  kPacket,  ///< fields of a packet
  kNumber   ///< 32 bits
};
struct NetworkVerb {
  const char* name;
  std::vector<NetworkArgument> arguments;
  void (*apply)(NetworkScript& script, const NetworkLine& line);
};
/// All that parse_network_line() takes.
const std::vector<NetworkVerb>& network_verbs();

struct NetworkScriptSetup {
  NetworkPlan plan = leaf_spine_plan(2, 2, 4, {}, {});
  SwitchViewRules view;
  PathRules paths;
  RedRules red;
  std::uint64_t queue = std::uint64_t{1} << 20;  ///< bytes, of each port of a switch
  std::uint64_t seed = 1;
  bool is_polarised = false, has_pfc = false, allows_cycles = false;
  Time detect_delay = Time::from_us(1000);
};

/// A frame of UDP. Ends of the way by name.
struct NetworkPacket {
  std::string from = "h0", to = "h1";
  std::uint16_t source_port = 49152, destination_port = 49152;
  std::uint8_t tos = 0, ttl = 64;
  ByteVector payload;  ///< behind the UDP header
};

struct NetworkLine {
  const NetworkVerb* verb = nullptr;
  NetworkScriptSetup setup;
  NetworkPacket packet;
  std::string from, to;                ///< of kPort
  std::vector<std::uint64_t> numbers;  ///< in order
};

/// Is it the line that sets a network up? Other arrays are lines of it from then on.
bool begins_network(const Json& array);
/// Throws ConfigError with every problem: no verb, an unknown one and the nearest, too few or too
/// many arguments, unknown keys, values out of range, what is no network.
NetworkLine parse_network_line(const Json& array, int number);

}  // namespace flitwise
