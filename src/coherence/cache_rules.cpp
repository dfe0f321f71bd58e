// SPDX-License-Identifier: Apache-2.0
// Which answers fit which requests.
#include "coherence/cache_rules.h"

namespace flitwise {

bool is_eviction(cxl::D2hReq opcode) {
  return opcode == cxl::D2hReq::kDirtyEvict || opcode == cxl::D2hReq::kCleanEvict ||
         opcode == cxl::D2hReq::kCleanEvictNoData;
}

bool is_allocating(cxl::D2hReq opcode) {
  return opcode == cxl::D2hReq::kRdShared || opcode == cxl::D2hReq::kRdAny ||
         opcode == cxl::D2hReq::kRdOwn || opcode == cxl::D2hReq::kRdOwnNoData;
}

bool is_read(cxl::D2hReq opcode) {
  return opcode == cxl::D2hReq::kRdShared || opcode == cxl::D2hReq::kRdAny ||
         opcode == cxl::D2hReq::kRdOwn || opcode == cxl::D2hReq::kRdCurr;
}

bool awaits_go(cxl::D2hReq opcode, bool is_pulled) {
  switch (opcode) {
    case cxl::D2hReq::kRdShared:
    case cxl::D2hReq::kRdAny:
    case cxl::D2hReq::kRdOwn:
    case cxl::D2hReq::kRdOwnNoData:
    case cxl::D2hReq::kCleanEvictNoData:
    case cxl::D2hReq::kClFlush:
    case cxl::D2hReq::kCacheFlushed:
      return true;
    case cxl::D2hReq::kWrInv:
      return is_pulled;  // behind its WritePull [COH-2.6]
    case cxl::D2hReq::kRdCurr:
    case cxl::D2hReq::kItoMWr:
    case cxl::D2hReq::kWrCur:
    case cxl::D2hReq::kCleanEvict:
    case cxl::D2hReq::kDirtyEvict:
    case cxl::D2hReq::kWoWrInv:
    case cxl::D2hReq::kWoWrInvF:
      return false;
  }
  return false;
}

bool is_pull_of(cxl::D2hReq opcode, cxl::H2dRsp response) {
  switch (opcode) {
    case cxl::D2hReq::kItoMWr:
    case cxl::D2hReq::kWrCur:
    case cxl::D2hReq::kDirtyEvict:
      return response == cxl::H2dRsp::kGoWritePull || response == cxl::H2dRsp::kGoErrWritePull;
    case cxl::D2hReq::kCleanEvict:
      return response == cxl::H2dRsp::kGoWritePull || response == cxl::H2dRsp::kGoErrWritePull ||
             response == cxl::H2dRsp::kGoWritePullDrop;
    case cxl::D2hReq::kWrInv:
      return response == cxl::H2dRsp::kWritePull;
    case cxl::D2hReq::kWoWrInv:
    case cxl::D2hReq::kWoWrInvF:
      return response == cxl::H2dRsp::kFastGoWritePull;
    default:
      return false;
  }
}

std::optional<LineState> state_granted(cxl::D2hReq opcode, std::uint16_t go_state) {
  const bool may_own = opcode == cxl::D2hReq::kRdOwn || opcode == cxl::D2hReq::kRdOwnNoData ||
                       opcode == cxl::D2hReq::kRdAny;
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
      return std::nullopt;
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
