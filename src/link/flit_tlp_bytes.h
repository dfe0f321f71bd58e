// SPDX-License-Identifier: Apache-2.0
/// TLPs in the bytes of flits, packed as FlitPacker packs them in time, and found again.
/// [LNK-11.2] [LNK-11.3]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "common/byte_vector.h"
#include "flitwise/flit.h"
#include "tlp/flit_tlp_codec.h"

namespace flitwise {

using FlitTlpBytes = std::array<std::uint8_t, flit::kTlpBytes>;

/// Puts TLPs into flits one behind the other.
class TlpBytePacker {
 public:
  /// One more TLP in line, with NOP TLPs before it in the flit in which it begins. REQUIRES: whole
  /// DWs, at least one.
  void push(ByteVector tlp, std::size_t nops = 0) { waiting_.push_back({std::move(tlp), nops}); }
  /// The rest of a TLP of which flits before have the front: no TLP begins with it. REQUIRES: as
  /// push(), and nothing has been pushed yet.
  void push_rest(ByteVector rest) {
    push(std::move(rest));
    is_begun_ = true;
  }
  bool has_work() const { return !waiting_.empty(); }

  struct Filled {
    FlitTlpBytes bytes{};   ///< zeros, which are NOP TLPs, where there is no other
    std::size_t taken = 0;  ///< up to the end of the last TLP; 0: a NOP flit
    std::size_t begun = 0;  ///< TLPs that begin in it
  };
  /// The TLP bytes of the next flit.
  Filled fill();

 private:
  struct Waiting {
    ByteVector tlp;
    std::size_t nops;
  };
  std::deque<Waiting> waiting_;
  std::size_t sent_ = 0;  // bytes of the first in line
  bool is_begun_ = false;
};

/// A TLP in flits: a whole one, or the part of one that these flits have.
struct FlitTlp {
  ByteVector bytes;        ///< whole DWs
  std::uint64_t nops = 0;  ///< NOP TLPs before it in the flit in which it begins
  bool began_before = false;
  bool ends_beyond = false;
  bool is_part() const { return began_before || ends_beyond; }
};

/// One that find_tlps() found.
struct FoundTlp : FlitTlp {
  std::size_t start = 0;
};

struct FoundTlps {
  std::vector<FoundTlp> tlps;
  std::optional<FlitTlpError> error;  ///< nothing can be found behind it
  std::size_t error_at = 0;
  std::optional<std::size_t> ninth_at;  ///< the first TLP too many to begin in one half
};
/// All TLPs in the TLP bytes of consecutive flits; nothing else tells where they begin. The first
/// rest_bytes belong to a TLP that began before them. REQUIRES: both are whole DWs. [LNK-11.22]
FoundTlps find_tlps(const ByteVector& bytes, std::size_t rest_bytes);

}  // namespace flitwise
