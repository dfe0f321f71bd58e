// SPDX-License-Identifier: Apache-2.0
/// Tables of CXL.cache as a cache sees them: which answers fit which requests, and what a snoop is
/// answered. [COH-2.5] to [COH-2.8] [COH-4.1]
#pragma once

#include <cstdint>
#include <optional>

#include "coherence/cxl_line.h"

namespace flitwise {

/// What a D2H Req is answered with, and whom its home asks before.
struct RequestRule {
  enum class Kind : std::uint8_t {
    kUnknown,
    kRead,     ///< answered with data of the host [COH-2.5]
    kUpgrade,  ///< the same without data: RdOwnNoData
    kWrite,
    kEviction,
    kFlush,
  };
  /// Of the holders of the line.
  enum class Asked : std::uint8_t {
    kNone,
    kAllOfOwner,  ///< all, where somebody else owns it: sharers have what memory has
    kOthers,
    kAll,  ///< the requester's copy too: no cache has the line after it
  };
  static constexpr auto kNoResponse = cxl::H2dRsp{};

  Kind kind = Kind::kUnknown;
  Asked asked = Asked::kNone;
  cxl::H2dReq snoop = cxl::H2dReq::kSnpInv;  ///< for them [COH-3.4]
  bool has_go = false;                       ///< of its own; RdCurr has none [COH-2.5]
  cxl::H2dRsp pull = kNoResponse;            ///< asks for its data [COH-2.6] [COH-2.7]
  cxl::H2dRsp end = kNoResponse;             ///< once memory has all [COH-3.8]
};
const RequestRule& rule_of(cxl::D2hReq opcode);

inline bool is_eviction(cxl::D2hReq opcode) {
  return rule_of(opcode).kind == RequestRule::Kind::kEviction;
}
inline bool is_read(cxl::D2hReq opcode) {
  return rule_of(opcode).kind == RequestRule::Kind::kRead;
}
/// Requests whose line comes to stay, so that it needs a way. [COH-2.1]
bool is_allocating(cxl::D2hReq opcode);
/// A GO may come now: behind its WritePull where it has one. [COH-2.5] [COH-2.6]
bool awaits_go(cxl::D2hReq opcode, bool is_pulled);
/// May a write or an eviction be pulled with this response? [COH-2.6] [COH-2.7]
bool is_pull_of(cxl::D2hReq opcode, cxl::H2dRsp response);
/// The state that a GO grants, or nothing if this request cannot have it. [COH-2.5] [COH-2.8]
std::optional<LineState> state_granted(cxl::D2hReq opcode, std::uint16_t go_state);

/// The line comes with this answer to a snoop. [COH-4.1]
constexpr bool brings_line(cxl::D2hRsp response) {
  return response == cxl::D2hRsp::kRspSFwdM || response == cxl::D2hRsp::kRspIFwdM ||
         response == cxl::D2hRsp::kRspVFwdV;
}
/// What a snoop is answered, and what the cache keeps. [COH-4.1]
struct SnoopAnswer {
  cxl::D2hRsp response;
  LineState keeps;
};
/// `is_leaving`: the line is being evicted. [COH-4.1] [COH-4.3]
SnoopAnswer answer_of(cxl::H2dReq snoop, LineState state, bool is_leaving);

}  // namespace flitwise
