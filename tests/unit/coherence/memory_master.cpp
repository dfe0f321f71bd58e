// SPDX-License-Identifier: Apache-2.0
// Tags of reads and writes.
#include "unit/coherence/memory_master.h"

#include <string>

#include "flitwise/error.h"

namespace flitwise {

void MemoryMaster::read(std::uint32_t token, std::uint64_t line) {
  send(CxlChannel::kM2sReq, static_cast<std::uint8_t>(cxl::M2sReq::kMemRd), token, line);
}

void MemoryMaster::write(std::uint32_t token, std::uint64_t line, const CxlLine& data,
                         std::uint64_t byte_enables) {
  const auto opcode = byte_enables == kAllBytes ? cxl::M2sRwd::kMemWr : cxl::M2sRwd::kMemWrPtl;
  send(CxlChannel::kM2sRwd, static_cast<std::uint8_t>(opcode), token, line).byte_enables =
      byte_enables;
  out_.back().line = data;
}

CxlMessage& MemoryMaster::send(CxlChannel channel, std::uint8_t opcode, std::uint32_t token,
                               std::uint64_t line) {
  FLITWISE_CHECK(tags_.available() > 0, "all Tags are out");
  const std::uint16_t tag = tags_.acquire();
  requests_[tag] = {token, channel == CxlChannel::kM2sReq};
  CxlMessage& message = out_.emplace_back().message;
  message.channel = channel;
  message.opcode = opcode;
  message.id = tag;
  message.address = line;
  message.snp_type = static_cast<std::uint8_t>(cxl::SnpType::kNoOp);
  message.meta_field = static_cast<std::uint8_t>(cxl::MetaField::kNoOp);
  return message;
}

std::optional<MemoryMaster::Done> MemoryMaster::receive(const CxlMessage& message) {
  const bool is_data = message.channel == CxlChannel::kS2mDrs;
  if (!is_data && message.channel != CxlChannel::kS2mNdr) {
    bad_.add(BadMessage::kWrongChannel);
    return std::nullopt;
  }
  if (is_data ? message.opcode > static_cast<std::uint8_t>(cxl::S2mDrs::kMemDataNxm)
              : message.opcode > static_cast<std::uint8_t>(cxl::S2mNdr::kBiConflictAck)) {
    bad_.add(BadMessage::kUnknownOpcode);
    return std::nullopt;
  }
  if (!tags_.is_out(message.id)) {
    bad_.add(BadMessage::kUnknownId);
    return std::nullopt;
  }
  const Done done = requests_[message.id];
  // A read is answered with DRS and a write with Cmp. [COH-5.1]
  if (done.is_read ? !is_data
                   : is_data || static_cast<cxl::S2mNdr>(message.opcode) != cxl::S2mNdr::kCmp) {
    bad_.add(BadMessage::kWrongAnswer);
    return std::nullopt;
  }
  tags_.release(message.id);
  return done;
}

}  // namespace flitwise
