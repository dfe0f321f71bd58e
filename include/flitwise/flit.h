// SPDX-License-Identifier: Apache-2.0
/// One flit: which TLPs begin and end in it. What the data link layer payload of a 256-byte flit
/// says stands beside it (link/wire_unit.h), since a replay repeats the one and not the other.
/// [LNK-11.1] [LNK-11.2] [CXL-5.1]
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "flitwise/packet.h"

namespace flitwise {

/// Parts of a flit in bytes: they add up to 256. [LNK-11.1]
namespace flit {
inline constexpr std::uint32_t kBytes = 256, kTlpBytes = 236, kDlpBytes = 6, kCrcBytes = 8,
                               kFecBytes = 6;
inline constexpr std::uint32_t kTlpDws = kTlpBytes / 4;
inline constexpr std::uint32_t kFecGroups = 3;  ///< interleaved byte by byte [LNK-11.8]
static_assert(kTlpBytes + kDlpBytes + kCrcBytes + kFecBytes == kBytes);
}  // namespace flit

/// Parts of a 68-byte flit of CXL.io in bytes. The last two, where flits of CXL.cache and CXL.mem
/// have their CRC, say nothing. [CXL-5.1]
namespace flit68 {
inline constexpr std::uint32_t kBytes = 68, kProtocolIdBytes = 2, kIoBytes = 64, kUnusedBytes = 2;
static_assert(kProtocolIdBytes + kIoBytes + kUnusedBytes == kBytes);
}  // namespace flit68

/// A TLP or DLLP of CXL.io in a 68-byte flit, or the part of it that stands there. It has its own
/// number and CRC. [CXL-5.1]
struct FlitPart {
  PacketRef packet;
  std::uint16_t sequence = 0;  ///< of a TLP
  bool is_replay = false;
  bool begins = true, ends = true;  ///< its first and its last byte are here
  bool is_damaged = false;          ///< here or in an earlier flit
};

/// What a flit of CXL.cache and CXL.mem says beside its slots; but for the credits, 68-byte flits
/// only. [CXL-3.1] [CXL-3.3] [CXL-3.5] [CXL-6.3]
struct CxlFlitHeader {
  enum class Control : std::uint8_t { kNone, kLlcrd, kRetryFrame, kRetryReq, kRetryAck };
  /// Credits of one class that come back: of CXL.cache or of CXL.mem.
  struct Credits {
    bool is_mem = false;
    std::uint8_t count = 0;
  };
  Control control = Control::kNone;
  bool is_all_data = false;          ///< four chunks and no header: the rest says nothing
  std::uint8_t acks = 0;             ///< flits acknowledged: none or 8, in LLCRD any number
  std::uint8_t sequence = 0;         ///< RETRY.Req, RETRY.Ack: the first flit to come again
  std::array<Credits, 3> credits{};  ///< Req, Rsp, Data
};

inline constexpr int kCxlControls = 5;
const char* name_of(CxlFlitHeader::Control control);  ///< "LLCRD", "RETRY.Req", ...; kNone: ""

struct Flit {
  std::vector<PacketRef> starts;    ///< TLPs whose first DW is here, in order
  std::vector<PacketRef> ends;      ///< TLPs whose last DW is here, in order
  std::uint8_t local_prefixes = 0;  ///< of TLPs that begin here [LNK-11.25]
  bool is_cachemem = false;         ///< of CXL.cache and CXL.mem: starts and ends are messages
  CxlFlitHeader cxl;
  /// Latency-optimised: of starts and ends, those in the first half, which is used before the other
  /// is there. [CXL-6.6]
  std::uint8_t starts_in_half = 0, ends_in_half = 0;
  std::vector<FlitPart> parts;  ///< CXL.io in 68 bytes: all that stands here, in order
  /// DWs of TLPs are here, or it is of CXL.cache and CXL.mem and no control flit; else it is a NOP
  /// flit, which is neither numbered nor replayed. [LNK-11.6] [CXL-6.2]
  bool has_payload = false;

  void clear() {
    starts.clear();
    ends.clear();
    local_prefixes = 0;
    is_cachemem = false;
    cxl = CxlFlitHeader();
    starts_in_half = ends_in_half = 0;
    parts.clear();
    has_payload = false;
  }
};

}  // namespace flitwise
