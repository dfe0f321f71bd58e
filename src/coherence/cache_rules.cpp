// SPDX-License-Identifier: Apache-2.0
// Which answers fit which requests.
#include "coherence/cache_rules.h"

#include <iterator>

namespace flitwise {
namespace {

using Asked = RequestRule::Asked;
using Kind = RequestRule::Kind;
using Rsp = cxl::H2dRsp;
using Snoop = cxl::H2dReq;

constexpr RequestRule kShare = {Kind::kRead, Asked::kAllOfOwner, Snoop::kSnpData, true};
constexpr RequestRule kPulled = {Kind::kWrite, Asked::kAll, Snoop::kSnpInv, false,
                                 Rsp::kGoWritePull};
constexpr RequestRule kPosted = {Kind::kWrite, Asked::kAll,           Snoop::kSnpInv,
                                 false,        Rsp::kFastGoWritePull, Rsp::kExtCmp};
constexpr RequestRule kLeaves = {Kind::kEviction, Asked::kNone, Snoop::kSnpInv, false,
                                 Rsp::kGoWritePull};
/// By opcode.
constexpr RequestRule kRules[] = {
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

}  // namespace

const RequestRule& rule_of(cxl::D2hReq opcode) {
  const auto row = static_cast<std::size_t>(opcode);
  return kRules[row < std::size(kRules) ? row : 0];
}

bool is_allocating(cxl::D2hReq opcode) {
  const RequestRule& rule = rule_of(opcode);
  return rule.kind == RequestRule::Kind::kUpgrade || (is_read(opcode) && rule.has_go);
}

bool awaits_go(cxl::D2hReq opcode, bool is_pulled) {
  const RequestRule& rule = rule_of(opcode);
  return rule.has_go && (rule.pull == RequestRule::kNoResponse || is_pulled);
}

bool is_pull_of(cxl::D2hReq opcode, cxl::H2dRsp response) {
  const cxl::H2dRsp pull = rule_of(opcode).pull;
  return pull != RequestRule::kNoResponse &&
         (response == pull ||
          (pull == cxl::H2dRsp::kGoWritePull && response == cxl::H2dRsp::kGoErrWritePull) ||
          (opcode == cxl::D2hReq::kCleanEvict && response == cxl::H2dRsp::kGoWritePullDrop));
}

std::optional<LineState> state_granted(cxl::D2hReq opcode, std::uint16_t go_state) {
  const bool may_own = is_allocating(opcode) && opcode != cxl::D2hReq::kRdShared;
  const bool may_share = opcode == cxl::D2hReq::kRdShared || opcode == cxl::D2hReq::kRdAny;
  const bool must_own = may_own && !may_share;
  switch (static_cast<cxl::GoState>(go_state)) {
    case cxl::GoState::kInvalid:
      return must_own ? std::nullopt : std::optional(LineState::kInvalid);
    case cxl::GoState::kShared:
      return may_share ? std::optional(LineState::kShared) : std::nullopt;
    case cxl::GoState::kExclusive:
      return may_own ? std::optional(LineState::kExclusive) : std::nullopt;
    case cxl::GoState::kModified:
      return may_own ? std::optional(LineState::kModified) : std::nullopt;
    case cxl::GoState::kError:
      break;
  }
  return std::nullopt;
}

SnoopAnswer answer_of(cxl::H2dReq snoop, LineState state, bool is_leaving) {
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
