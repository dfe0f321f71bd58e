// SPDX-License-Identifier: Apache-2.0
/// Flits of flit mode as somebody asks for them, and their bytes. What a flit leaves open follows
/// from those before it. [LNK-11.2] [LNK-11.20]
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codec/packet_json.h"
#include "link/ack_nak.h"
#include "link/flit_ends.h"
#include "link/flit_tlp_bytes.h"

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

}  // namespace flitwise
