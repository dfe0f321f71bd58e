// SPDX-License-Identifier: Apache-2.0
/// Answers of CXL.mem: they bring back the Tag and the logical device of what they answer.
#pragma once

#include "coherence/cxl_line.h"

namespace flitwise {

inline void answer_mem(CxlChannel channel, std::uint8_t opcode, const CxlMessage& request,
                       const CxlLine& line, CxlOutput& out) {
  CxlOut& sent = add_message(out, channel, opcode, request.id);
  sent.message.ld_id = request.ld_id;
  sent.message.meta_field = static_cast<std::uint8_t>(cxl::MetaField::kNoOp);
  sent.line = line;
}

inline void answer_ndr(cxl::S2mNdr opcode, const CxlMessage& request, CxlOutput& out) {
  answer_mem(CxlChannel::kS2mNdr, static_cast<std::uint8_t>(opcode), request, CxlLine{}, out);
}

inline void answer_drs(cxl::S2mDrs opcode, const CxlMessage& request, const CxlLine& line,
                       CxlOutput& out) {
  answer_mem(CxlChannel::kS2mDrs, static_cast<std::uint8_t>(opcode), request, line, out);
}

}  // namespace flitwise
