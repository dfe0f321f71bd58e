// SPDX-License-Identifier: Apache-2.0
// Reads with DRS, everything else with NDR.
#include "coherence/memory_expander.h"

namespace flitwise {

void MemoryExpander::receive(const CxlMessage& message, const CxlLine& line, CxlOutput& out) {
  if (message.channel == CxlChannel::kM2sReq) {
    requested(message, out);
  } else if (message.channel == CxlChannel::kM2sRwd) {
    requested_with_data(message, line, out);
  } else {
    bad_.add(BadMessage::kWrongChannel);
  }
}

void MemoryExpander::requested(const CxlMessage& request, CxlOutput& out) {
  switch (static_cast<cxl::M2sReq>(request.opcode)) {
    case cxl::M2sReq::kMemRd:
    case cxl::M2sReq::kMemRdData:
      if (!is_sound(request)) {
        return;
      }
      if (!exists(request)) {
        answer_drs(cxl::S2mDrs::kMemDataNxm, request, CxlLine{}, out);
        return;
      }
      open(request);
      memory_.read(request.id, request.address);
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

void MemoryExpander::requested_with_data(const CxlMessage& request, const CxlLine& line,
                                         CxlOutput& out) {
  const auto opcode = static_cast<cxl::M2sRwd>(request.opcode);
  if (bad_.add_if(opcode != cxl::M2sRwd::kMemWr && opcode != cxl::M2sRwd::kMemWrPtl,
                  BadMessage::kUnknownOpcode) ||
      !is_sound(request)) {
    return;
  }
  if (!exists(request)) {
    answer_ndr(cxl::S2mNdr::kCmp, request, out);  // goes nowhere
    return;
  }
  open(request);
  const bool is_whole = opcode == cxl::M2sRwd::kMemWr;
  memory_.write(request.id, request.address, line, is_whole ? kAllBytes : request.byte_enables);
}

bool MemoryExpander::is_sound(const CxlMessage& request) {
  if (bad_.add_if(line_of(request.address) != request.address, BadMessage::kBadAddress) ||
      bad_.add_if(request.id < requests_.size() && requests_[request.id].is_out,
                  BadMessage::kIdInUse)) {
    return false;
  }
  bad_.add_if(!exists(request), BadMessage::kBadAddress);  // yet answered: the host waits [COH-7.3]
  return true;
}

void MemoryExpander::open(const CxlMessage& request) {
  if (request.id >= requests_.size()) {
    requests_.resize(request.id + std::size_t{1});
  }
  requests_[request.id] = {true, request};
  ++outstanding_;
}

void MemoryExpander::memory_read(std::uint32_t token, const CxlLine& line, CxlOutput& out) {
  requests_[token].is_out = false;
  --outstanding_;
  answer_drs(cxl::S2mDrs::kMemData, requests_[token].message, line, out);
}

void MemoryExpander::memory_written(std::uint32_t token, CxlOutput& out) {
  requests_[token].is_out = false;
  --outstanding_;
  answer_ndr(cxl::S2mNdr::kCmp, requests_[token].message, out);
}

}  // namespace flitwise
