// SPDX-License-Identifier: Apache-2.0
/// Flits of flit mode as JSON, and their bytes. What a flit leaves open follows from those before
/// it. docs/formats/tlp_json.md shows every key. [LNK-11.2] [LNK-11.20]
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "codec/packet_json.h"
#include "link/ack_nak.h"
#include "link/flit_bytes.h"

namespace flitwise {

/// One flit with the TLPs that begin in it.
struct FlitPlan {
  std::optional<std::uint64_t> usage;
  std::optional<bool> prior_was_payload;
  std::optional<std::uint64_t> sequence;
  FlitDlp dlp;
  std::vector<FlitTlp> tlps;
  JsonSource source;
};

struct WrittenFlit {
  FlitBytes bytes{};
  std::size_t tlps = 0;  ///< how many of the plans' TLPs begin in it, or go on in it from before
};

/// The sending end of one direction.
class FlitWriter {
 public:
  /// The flits of the plans; what does not fit into one goes on in the next, and behind the last in
  /// flits of its own. Throws ConfigError where a part of a TLP stands where there can be none, or
  /// is missing, and has done nothing then.
  std::vector<WrittenFlit> write(const std::vector<FlitPlan>& plans);

 private:
  /// Has a TLP begun in the flits before, whose rest is still to come?
  enum class Open : std::uint8_t { kUnknown, kNo, kYes };

  void push(const FlitPlan& plan);
  WrittenFlit next_flit(const FlitPlan& plan);
  FlitDlp completed(const FlitPlan& plan, bool has_payload) const;

  TlpBytePacker packer_;
  std::uint16_t next_ = SequenceSpace::of_flits().first();
  bool last_was_payload_ = false;
  Open open_ = Open::kUnknown;
  std::size_t rests_ = 0;  // of TLPs that began before, for the next flit
  bool is_full_ = false;
  bool ends_beyond_ = false;
};

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
