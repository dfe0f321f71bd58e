// SPDX-License-Identifier: Apache-2.0
/// Tables of CXL.cache as a cache sees them: which answers fit which requests, and what a snoop is
/// answered. [COH-2.5] to [COH-2.8] [COH-4.1]
#pragma once

#include <cstdint>
#include <optional>

#include "coherence/line_state.h"
#include "flitwise/cxl.h"

namespace flitwise {

bool is_eviction(cxl::D2hReq opcode);
/// Requests whose line comes to stay, so that it needs a way. [COH-2.1]
bool is_allocating(cxl::D2hReq opcode);
/// Answered with data of the host. [COH-2.5]
bool is_read(cxl::D2hReq opcode);
/// Answered with GO, except for RdCurr, which has none. [COH-2.5]
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
