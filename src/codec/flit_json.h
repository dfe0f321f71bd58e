// SPDX-License-Identifier: Apache-2.0
/// Flits of flit mode as JSON. docs/formats/tlp_json.md shows every key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "codec/flit_plan.h"
#include "codec/packet_json.h"
#include "link/flit_ends.h"

namespace flitwise {

/// One flit as JSON names it. Throws ConfigError with every problem.
FlitPlan flit_plan_from_json(const Json& object, const JsonSource& source);

/// Its command as a word, in the order of ReplayCommand.
inline const std::vector<std::string>& replay_commands() {
  static const std::vector<std::string> kWords = {"explicit", "ack", "nak", "selective_nak"};
  return kWords;
}
/// What its DLP says, as one flit of read_flits() has it.
Json json_of(const FlitDlp& dlp);

/// A whole TLP as read_tlp() has it; of a part its bytes and which end is missing. With its NOPs.
PacketRead read_flit_tlp(const FlitTlp& tlp, bool checks);

struct FlitReadOptions {
  std::uint64_t rest_dw = 0;  ///< DWs at the start that belong to a TLP which began before
  bool checks = true;         ///< malformed TLPs are refused
};
/// Most rest_dw that a TLP can leave, and more.
inline constexpr std::uint64_t kMostRestDws = 1100;

struct FlitsRead {
  /// One object a flit, with the TLPs that begin in it, up to the flaw: one in a TLP leaves its
  /// flit standing.
  std::vector<Json> flits;
  std::optional<PacketFlaw> flaw;  ///< offset: in its flit
  std::size_t flaw_flit = 0;       ///< which flit that is, from 0
};
/// Flits of one direction, one behind the other.
FlitsRead read_flits(const std::vector<FlitBytes>& flits, const FlitReadOptions& options);

}  // namespace flitwise
