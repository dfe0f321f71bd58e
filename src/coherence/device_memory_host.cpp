// SPDX-License-Identifier: Apache-2.0
// The host's side of a device's own memory: SnpType, MetaValue, BIRsp, BIConflict.
#include "coherence/device_memory.h"

namespace flitwise {
namespace {

/// The states that MetaValue can name; 1 is none of them.
bool is_known(cxl::MetaValue value) {
  return value == cxl::MetaValue::kInvalid || value == cxl::MetaValue::kAny ||
         value == cxl::MetaValue::kShared;
}

bool has_state(const CxlMessage& message) {
  return static_cast<cxl::MetaField>(message.meta_field) == cxl::MetaField::kMeta0State;
}

/// What becomes of the device's own copy: what SnpType asks for, or what the state that the host
/// will have makes necessary. [COH-5.4]
cxl::SnpType snoop_of(const CxlMessage& message) {
  const auto asked = static_cast<cxl::SnpType>(message.snp_type);
  if (!has_state(message) || asked == cxl::SnpType::kSnpInv) {
    return asked;
  }
  const auto value = static_cast<cxl::MetaValue>(message.meta_value);
  if (value == cxl::MetaValue::kAny) {
    return cxl::SnpType::kSnpInv;
  }
  return value == cxl::MetaValue::kShared ? cxl::SnpType::kSnpData : asked;
}

bool is_read(const CxlMessage& message) {
  const auto opcode = static_cast<cxl::M2sReq>(message.opcode);
  return opcode == cxl::M2sReq::kMemRd || opcode == cxl::M2sReq::kMemRdData;
}

}  // namespace

void DeviceMemory::receive(const CxlMessage& message, const CxlLine& line, CxlOutput& out,
                           CoreResults& done) {
  if (message.channel == CxlChannel::kM2sBiRsp) {
    snoop_answered(message, done);
  } else if (message.channel == CxlChannel::kM2sRwd &&
             static_cast<cxl::M2sRwd>(message.opcode) == cxl::M2sRwd::kBiConflict) {
    conflicted(message, out);
  } else if (message.channel == CxlChannel::kM2sReq || message.channel == CxlChannel::kM2sRwd) {
    requested(message, line, out);
  } else {
    bad_.add(BadMessage::kWrongChannel);
  }
  start_ready(out);
}

bool DeviceMemory::is_sound(const CxlMessage& message) {
  bool is_known_opcode = false;
  if (message.channel == CxlChannel::kM2sRwd) {
    const auto opcode = static_cast<cxl::M2sRwd>(message.opcode);
    is_known_opcode = opcode == cxl::M2sRwd::kMemWr || opcode == cxl::M2sRwd::kMemWrPtl;
  } else {
    const auto opcode = static_cast<cxl::M2sReq>(message.opcode);
    is_known_opcode = is_read(message) || opcode == cxl::M2sReq::kMemInv ||
                      opcode == cxl::M2sReq::kMemInvNt || opcode == cxl::M2sReq::kMemClnEvct;
  }
  const bool is_unknown =
      !is_known_opcode || static_cast<cxl::SnpType>(message.snp_type) > cxl::SnpType::kSnpInv ||
      (has_state(message) && !is_known(static_cast<cxl::MetaValue>(message.meta_value)));
  return !bad_.add_if(is_unknown, BadMessage::kUnknownOpcode) &&
         !bad_.add_if(line_of(message.address) != message.address, BadMessage::kBadAddress) &&
         !bad_.add_if(tags_.test(message.id), BadMessage::kIdInUse);
}

/// The host waits for an answer, and is granted nothing. [COH-7.3]
void DeviceMemory::refuse(const CxlMessage& message, CxlOutput& out) {
  bad_.add(BadMessage::kBadAddress);
  const bool has_data = message.channel == CxlChannel::kM2sReq && is_read(message);
  if (!has_data || has_state(message)) {
    answer_ndr(cxl::S2mNdr::kCmp, message, out);
  }
  if (has_data) {
    answer_drs(cxl::S2mDrs::kMemDataNxm, message, CxlLine{}, out);
  }
}

void DeviceMemory::requested(const CxlMessage& message, const CxlLine& line, CxlOutput& out) {
  const bool is_write = message.channel == CxlChannel::kM2sRwd;
  if (!is_write && static_cast<cxl::M2sReq>(message.opcode) == cxl::M2sReq::kMemSpecRd) {
    return;  // a hint without an answer [COH-5.2]
  }
  if (!is_sound(message)) {
    return;
  }
  if (message.address >= config_.size) {
    refuse(message, out);
    return;
  }
  tags_.set(message.id);
  const std::uint32_t transaction =
      open(is_write ? Kind::kHostWrite : Kind::kHostRequest, message.address);
  transactions_[transaction].message = message;
  transactions_[transaction].request.line = line;
  Line& wanted = lines_[message.address];
  if (wanted.active == kNobody) {
    take_turn(transaction);
    start(transaction, out);
  } else if (is_write && transactions_[wanted.active].is_snooping) {
    serve_write(transaction);  // what the host has to write before its BIRsp [COH-6.3]
  } else {
    transactions_.push(wanted.waiting, transaction);
    transactions_[transaction].is_waiting = true;
  }
}

void DeviceMemory::start(std::uint32_t transaction, CxlOutput& out) {
  if (transactions_[transaction].kind == Kind::kHostWrite) {
    serve_write(transaction);
  } else {
    serve_request(transaction, out);
  }
}

/// [COH-5.3] [COH-5.4]
void DeviceMemory::serve_request(std::uint32_t transaction, CxlOutput& out) {
  Transaction& wanted = transactions_[transaction];
  const cxl::SnpType snoop = snoop_of(wanted.message);
  Way* const way = array_.find(wanted.line);
  const LineState own = array_.state(wanted.line);
  const bool is_dirty = own == LineState::kModified && snoop != cxl::SnpType::kNoOp;
  if (is_dirty) {
    wanted.request.line = way->data;
  }
  if (own != LineState::kInvalid && snoop == cxl::SnpType::kSnpInv) {
    array_.set_state(*way, LineState::kInvalid);
  } else if (is_owned(own) && snoop == cxl::SnpType::kSnpData) {
    array_.set_state(*way, LineState::kShared);
  }
  if (is_dirty && snoop != cxl::SnpType::kSnpCur) {
    memory_.write(transaction, wanted.line, wanted.request.line, kAllBytes);
  } else if (is_read(wanted.message) && !is_dirty) {
    memory_.read(transaction, wanted.line);
  } else {
    answer(transaction, nullptr, out);
    finish(transaction);
  }
}

/// A write of the host: a copy here gives way, and goes to memory with a part. [COH-5.5]
void DeviceMemory::serve_write(std::uint32_t transaction) {
  Transaction& write = transactions_[transaction];
  const bool is_whole = static_cast<cxl::M2sRwd>(write.message.opcode) == cxl::M2sRwd::kMemWr;
  std::uint64_t byte_enables = is_whole ? kAllBytes : write.message.byte_enables;
  Way* const way = array_.find(write.line);
  if (way != nullptr && static_cast<cxl::SnpType>(write.message.snp_type) != cxl::SnpType::kNoOp) {
    if (way->state == LineState::kModified) {
      CxlLine whole = way->data;
      merge(whole, write.request.line, byte_enables);
      write.request.line = whole;
      byte_enables = kAllBytes;
    }
    array_.set_state(*way, LineState::kInvalid);
  }
  memory_.write(transaction, write.line, write.request.line, byte_enables);
}

DeviceMemory::Grant DeviceMemory::grant_for(const CxlMessage& message, LineState own) const {
  const cxl::MetaValue held = host_state(message.address);
  if (!has_state(message)) {
    return {cxl::S2mNdr::kCmp, held};
  }
  const auto value = static_cast<cxl::MetaValue>(message.meta_value);
  if (message.channel == CxlChannel::kM2sRwd || value == cxl::MetaValue::kInvalid) {
    return {cxl::S2mNdr::kCmp, value};
  }
  const bool is_any_read = message.channel == CxlChannel::kM2sReq &&
                           static_cast<cxl::M2sReq>(message.opcode) == cxl::M2sReq::kMemRdData;
  if (value == cxl::MetaValue::kAny || (is_any_read && own == LineState::kInvalid)) {
    return {cxl::S2mNdr::kCmpE, cxl::MetaValue::kAny};
  }
  return {cxl::S2mNdr::kCmpS, cxl::MetaValue::kShared};
}

/// NDR, and DRS for reads; without a line it is in the transaction. Reads without a state have DRS
/// alone. [COH-5.1] [COH-5.3]
void DeviceMemory::answer(std::uint32_t transaction, const CxlLine* line, CxlOutput& out) {
  const Transaction& answered = transactions_[transaction];
  const Grant grant = grant_for(answered.message, state(answered.line));
  lines_[answered.line].host = grant.host;
  tags_.reset(answered.message.id);
  const bool has_data = answered.kind == Kind::kHostRequest && is_read(answered.message);
  if (!has_data || has_state(answered.message)) {
    answer_ndr(grant.response, answered.message, out);
  }
  if (has_data) {
    answer_drs(cxl::S2mDrs::kMemData, answered.message,
               line != nullptr ? *line : answered.request.line, out);
  }
}

void DeviceMemory::snoop_answered(const CxlMessage& message, CoreResults& done) {
  const auto kept = static_cast<cxl::M2sBiRsp>(message.opcode);
  if (bad_.add_if(kept > cxl::M2sBiRsp::kBiRspE, BadMessage::kUnknownOpcode) ||
      bad_.add_if(!bitags_.is_out(message.id), BadMessage::kUnknownId)) {
    return;
  }
  const std::uint32_t transaction = snoops_[message.id];
  Transaction& waiting = transactions_[transaction];
  const bool may_share = waiting.request.op == CoreOp::kRead;
  bad_.add_if(kept == cxl::M2sBiRsp::kBiRspE || (kept == cxl::M2sBiRsp::kBiRspS && !may_share),
              BadMessage::kWrongAnswer);  // taken at the device's word [COH-7.2]
  lines_[waiting.line].host = may_share && kept != cxl::M2sBiRsp::kBiRspI
                                  ? cxl::MetaValue::kShared
                                  : cxl::MetaValue::kInvalid;
  bitags_.release(message.id);
  waiting.is_snooping = false;
  fetch(transaction, done);
}

/// Behind every Cmp that has left: the host learns which of the two was first. [COH-6.4]
void DeviceMemory::conflicted(const CxlMessage& message, CxlOutput& out) {
  if (!bad_.add_if(!bitags_.is_out(message.id), BadMessage::kUnknownId)) {
    answer_ndr(cxl::S2mNdr::kBiConflictAck, message, out);
  }
}

/// What waits is forgotten; what memory is asked for already is done, and not answered. [COH-6.6]
void DeviceMemory::host_lost(CoreResults& done) {
  for (std::uint32_t index = 0; index < transactions_.size(); ++index) {
    Transaction& one = transactions_[index];
    if (one.kind != Kind::kHostRequest && one.kind != Kind::kHostWrite) {
      continue;
    }
    one.is_lost = true;
    if (one.is_waiting) {
      one.is_waiting = false;
      transactions_.close(index);
    }
  }
  tags_.reset();
  lines_.for_each([](std::uint64_t, Line& line) {
    line.host = cxl::MetaValue::kInvalid;
    line.waiting = {};
  });
  for (std::size_t id = 0; id < snoops_.size(); ++id) {
    const auto bitag = static_cast<std::uint16_t>(id);
    if (bitags_.is_out(bitag)) {
      bitags_.release(bitag);
      transactions_[snoops_[bitag]].is_snooping = false;
      fetch(snoops_[bitag], done);
    }
  }
}

}  // namespace flitwise
