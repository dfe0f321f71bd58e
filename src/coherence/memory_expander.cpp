// SPDX-License-Identifier: Apache-2.0
// Reads with DRS, everything else with NDR.
#include "coherence/memory_expander.h"

namespace flitwise {

bool MemoryExpander::receive(const CxlMessage& message, const CxlLine& line, CxlOutput& out) {
  if (message.channel == CxlChannel::kM2sReq) {
    requested(message, out);
    return false;
  }
  const auto opcode = static_cast<cxl::M2sRwd>(message.opcode);
  const bool is_whole = opcode == cxl::M2sRwd::kMemWr;
  if (bad_.add_if(message.channel != CxlChannel::kM2sRwd, BadMessage::kWrongChannel) ||
      bad_.add_if(!is_whole && opcode != cxl::M2sRwd::kMemWrPtl, BadMessage::kUnknownOpcode) ||
      !is_sound(message)) {
    return false;
  }
  if (exists(message)) {
    lines_.write(message.address, line, is_whole ? kAllBytes : message.byte_enables);
  }
  answer_ndr(cxl::S2mNdr::kCmp, message, out);
  return exists(message);
}

void MemoryExpander::requested(const CxlMessage& request, CxlOutput& out) {
  switch (static_cast<cxl::M2sReq>(request.opcode)) {
    case cxl::M2sReq::kMemRd:
    case cxl::M2sReq::kMemRdData:
      if (is_sound(request)) {
        answer_drs(exists(request) ? cxl::S2mDrs::kMemData : cxl::S2mDrs::kMemDataNxm, request,
                   exists(request) ? lines_.read(request.address) : CxlLine{}, out);
      }
      return;
    case cxl::M2sReq::kMemInv:
    case cxl::M2sReq::kMemInvNt:
    case cxl::M2sReq::kMemClnEvct:  // there is no state to change
      if (is_sound(request)) {
        answer_ndr(cxl::S2mNdr::kCmp, request, out);
      }
      return;
    case cxl::M2sReq::kMemSpecRd:  // a hint without an answer [COH-5.2]
      return;
    case cxl::M2sReq::kMemRdFwd:
    case cxl::M2sReq::kMemWrFwd:
      break;
  }
  bad_.add(BadMessage::kUnknownOpcode);
}

// What does not exist is answered all the same: the host waits. [COH-7.3]
bool MemoryExpander::is_sound(const CxlMessage& request) {
  const bool is_aligned = line_of(request.address) == request.address;
  bad_.add_if(!is_aligned || !exists(request), BadMessage::kBadAddress);
  return is_aligned;
}

}  // namespace flitwise
