// SPDX-License-Identifier: Apache-2.0
/// 256-byte flits as bytes: TLPs, packed as FlitPacker packs them in time and found again, and
/// behind them the data link layer payload (DLP), CRC and FEC. Which polynomials the standard has
/// is not in our sources: both codes stand in for its own. They have its sizes and correct and find
/// what LNK-11.8 says, but other check bytes. unverified [LNK-11.20] [LNK-11.21]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "common/byte_vector.h"
#include "flitwise/dllp.h"
#include "flitwise/flit.h"
#include "tlp/flit_tlp_codec.h"

namespace flitwise {

/// What the sequence number of a DLP is. The codes are those of the field, in this order.
/// unverified [LNK-11.20]
enum class ReplayCommand : std::uint8_t { kExplicit, kAck, kNak, kSelectiveNak };

inline constexpr std::uint8_t kUsageOfNopFlit = 0;      ///< unverified [LNK-11.20]
inline constexpr std::uint8_t kUsageOfPayloadFlit = 1;  ///< unverified [LNK-11.20]

struct FlitDlp {
  std::uint8_t usage = kUsageOfNopFlit;  ///< 0..3
  bool prior_was_payload = false;
  ReplayCommand command = ReplayCommand::kExplicit;
  std::uint16_t sequence = 0;  ///< 0..1023: of the command; 0 in IDLE flits alone [LNK-11.6]
  Dllp dllp;                   ///< a NOP where there is none
  /// In place of a DLLP: Optimized_Update_FC or a Flit_Marker, as it is.
  std::optional<std::uint32_t> other;
};

using DlpBytes = std::array<std::uint8_t, flit::kDlpBytes>;
DlpBytes encode(const FlitDlp& dlp);

/// Nothing if no DLLP has the type byte that stands at kDlpTypeAt.
std::optional<FlitDlp> decode_dlp(const DlpBytes& bytes);
inline constexpr std::size_t kDlpTypeAt = 2;

using FlitBytes = std::array<std::uint8_t, flit::kBytes>;

/// Where CRC and FEC stand; the CRC is over all that is before it. [LNK-11.1]
inline constexpr std::size_t kFlitCrcAt = flit::kTlpBytes + flit::kDlpBytes;
inline constexpr std::size_t kFlitFecAt = kFlitCrcAt + flit::kCrcBytes;

inline constexpr std::uint64_t kFlitCrcPolynomial = 0x42f0e1eba9ea3693;  ///< unverified
inline constexpr unsigned kFecFieldPolynomial = 0x11d;                   ///< of GF(256). unverified

/// Writes CRC and FEC behind TLPs and DLP.
void protect_flit(FlitBytes& flit);

struct FlitRepair {
  std::vector<std::size_t> mended;  ///< bytes that FEC has set right, in order; at most one a group
  bool is_good = false;             ///< the CRC fits
};
/// Corrects a flit as far as FEC can, then asks the CRC.
FlitRepair mend_flit(FlitBytes& flit);

using FlitTlpBytes = std::array<std::uint8_t, flit::kTlpBytes>;

/// Puts TLPs into flits one behind the other. [LNK-11.2] [LNK-11.3]
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
