// SPDX-License-Identifier: Apache-2.0
/// Tables of CXL.cache as a cache sees them: which answers fit which requests, and what a snoop is
/// answered. [COH-2.5] to [COH-2.8] [COH-4.1]
#pragma once

#include <cstdint>
#include <iterator>
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
inline const RequestRule& rule_of(cxl::D2hReq opcode) {
  using Asked = RequestRule::Asked;
  using Kind = RequestRule::Kind;
  using Rsp = cxl::H2dRsp;
  using Snoop = cxl::H2dReq;

  static constexpr RequestRule kShare = {Kind::kRead, Asked::kAllOfOwner, Snoop::kSnpData, true};
  static constexpr RequestRule kPulled = {Kind::kWrite, Asked::kAll, Snoop::kSnpInv, false,
                                          Rsp::kGoWritePull};
  static constexpr RequestRule kPosted = {Kind::kWrite, Asked::kAll,           Snoop::kSnpInv,
                                          false,        Rsp::kFastGoWritePull, Rsp::kExtCmp};
  static constexpr RequestRule kLeaves = {Kind::kEviction, Asked::kNone, Snoop::kSnpInv, false,
                                          Rsp::kGoWritePull};
  // By opcode.
  static constexpr RequestRule kRules[] = {
      {},
      {Kind::kRead, Asked::kAllOfOwner, Snoop::kSnpCur},       // RdCurr
      {Kind::kRead, Asked::kOthers, Snoop::kSnpInv, true},     // RdOwn
      kShare,                                                  // RdShared
      kShare,                                                  // RdAny
      {Kind::kUpgrade, Asked::kOthers, Snoop::kSnpInv, true},  // RdOwnNoData
      kPulled,                                                 // ItoMWr
      kPulled,                                                 // WrCur
      {Kind::kFlush, Asked::kAll, Snoop::kSnpInv, true, RequestRule::kNoResponse,
       Rsp::kGo},                                             // CLFlush
      kLeaves,                                                // CleanEvict
      kLeaves,                                                // DirtyEvict
      {Kind::kEviction, Asked::kNone, Snoop::kSnpInv, true},  // CleanEvictNoData
      kPosted,                                                // WOWrInv
      kPosted,                                                // WOWrInvF
      {Kind::kWrite, Asked::kAll, Snoop::kSnpInv, true, Rsp::kWritePull, Rsp::kGo},  // WrInv
      {},
      {Kind::kFlush, Asked::kNone, Snoop::kSnpInv, true},  // CacheFlushed
  };
  const auto row = static_cast<std::size_t>(opcode);
  return kRules[row < std::size(kRules) ? row : 0];
}

/// What a request may do with its line. Who says so: whoever checks its domain. [COH-3.12]
struct LineRights {
  bool may_read = true, may_write = true;

  static constexpr LineRights none() { return {false, false}; }
};
/// A request that asks for something: evictions give up what their cache has, and CacheFlushed has
/// no line. [COH-3.12]
inline bool is_checked(cxl::D2hReq opcode) {
  const RequestRule::Kind kind = rule_of(opcode).kind;
  return kind != RequestRule::Kind::kUnknown && kind != RequestRule::Kind::kEviction &&
         opcode != cxl::D2hReq::kCacheFlushed;
}
/// What the request cannot do without. RdShared and RdAny make do with a shared copy. [COH-3.12]
inline LineRights needs_of(cxl::D2hReq opcode) {
  switch (rule_of(opcode).kind) {
    case RequestRule::Kind::kRead: return {true, opcode == cxl::D2hReq::kRdOwn};
    case RequestRule::Kind::kUpgrade:
    case RequestRule::Kind::kWrite: return {false, true};
    case RequestRule::Kind::kFlush: return {is_checked(opcode), false};
    case RequestRule::Kind::kEviction:
    case RequestRule::Kind::kUnknown: break;
  }
  return LineRights::none();
}
inline bool are_enough(cxl::D2hReq opcode, LineRights rights) {
  const LineRights needed = needs_of(opcode);
  return (rights.may_read || !needed.may_read) && (rights.may_write || !needed.may_write);
}
/// No source says how a posted write is refused: with this, and without the ExtCmp that follows
/// others. [COH-3.13]
inline constexpr cxl::H2dRsp kPostedWriteRefusal = cxl::H2dRsp::kGoErrWritePull;
/// What a write that is refused is answered with; its data come, and are dropped. [COH-3.13]
inline cxl::H2dRsp refusal_of_write(cxl::D2hReq opcode) {
  const RequestRule& rule = rule_of(opcode);
  return rule.end == cxl::H2dRsp::kExtCmp ? kPostedWriteRefusal
         : rule.end == cxl::H2dRsp::kGo   ? rule.pull
                                          : cxl::H2dRsp::kGoErrWritePull;
}

inline bool is_eviction(cxl::D2hReq opcode) {
  return rule_of(opcode).kind == RequestRule::Kind::kEviction;
}
inline bool is_read(cxl::D2hReq opcode) {
  return rule_of(opcode).kind == RequestRule::Kind::kRead;
}
/// Requests whose line comes to stay, so that it needs a way. [COH-2.1]
inline bool is_allocating(cxl::D2hReq opcode) {
  const RequestRule& rule = rule_of(opcode);
  return rule.kind == RequestRule::Kind::kUpgrade || (is_read(opcode) && rule.has_go);
}
/// A GO may come now: behind its WritePull where it has one. [COH-2.5] [COH-2.6]
inline bool awaits_go(cxl::D2hReq opcode, bool is_pulled) {
  const RequestRule& rule = rule_of(opcode);
  return rule.has_go && (rule.pull == RequestRule::kNoResponse || is_pulled);
}
/// May a write or an eviction be pulled with this response? [COH-2.6] [COH-2.7]
inline bool is_pull_of(cxl::D2hReq opcode, cxl::H2dRsp response) {
  const RequestRule& rule = rule_of(opcode);
  const cxl::H2dRsp pull = rule.pull;
  return pull != RequestRule::kNoResponse &&
         (response == pull ||
          (pull == cxl::H2dRsp::kGoWritePull && response == cxl::H2dRsp::kGoErrWritePull) ||
          (rule.end == cxl::H2dRsp::kExtCmp && response == kPostedWriteRefusal) ||
          (opcode == cxl::D2hReq::kCleanEvict && response == cxl::H2dRsp::kGoWritePullDrop));
}
/// The state that a GO grants, or nothing if this request cannot have it. [COH-2.5] [COH-2.8]
inline std::optional<LineState> state_granted(cxl::D2hReq opcode, std::uint16_t go_state) {
  const bool may_own = is_allocating(opcode) && opcode != cxl::D2hReq::kRdShared;
  const bool may_share = opcode == cxl::D2hReq::kRdShared || opcode == cxl::D2hReq::kRdAny;
  const bool must_own = may_own && !may_share;
  switch (static_cast<cxl::GoState>(go_state)) {
    case cxl::GoState::kInvalid:
      return must_own ? std::nullopt : std::optional(LineState::kInvalid);
    case cxl::GoState::kShared: return may_share ? std::optional(LineState::kShared) : std::nullopt;
    case cxl::GoState::kExclusive:
      return may_own ? std::optional(LineState::kExclusive) : std::nullopt;
    case cxl::GoState::kModified:
      return may_own ? std::optional(LineState::kModified) : std::nullopt;
    case cxl::GoState::kError: break;
  }
  return std::nullopt;
}

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
inline SnoopAnswer answer_of(cxl::H2dReq snoop, LineState state, bool is_leaving) {
  if (state == LineState::kInvalid) {
    return {cxl::D2hRsp::kRspIHitI, LineState::kInvalid};
  }
  const bool is_modified = state == LineState::kModified;
  if (snoop == cxl::H2dReq::kSnpCur) {
    return {is_modified ? cxl::D2hRsp::kRspVFwdV : cxl::D2hRsp::kRspVHitV, state};
  }
  // A line that leaves is given up by SnpData as well: this device has no use for a shared copy.
  if (snoop == cxl::H2dReq::kSnpData && !is_leaving) {
    return {is_modified ? cxl::D2hRsp::kRspSFwdM : cxl::D2hRsp::kRspSHitSE, LineState::kShared};
  }
  return {is_modified ? cxl::D2hRsp::kRspIFwdM : cxl::D2hRsp::kRspIHitSE, LineState::kInvalid};
}

}  // namespace flitwise
