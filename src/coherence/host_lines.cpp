// SPDX-License-Identifier: Apache-2.0
// The host's lines: the core's side first, with what is asked of the device.
#include "coherence/host_lines.h"

namespace flitwise {
namespace {

template <class Opcode>
CxlMessage message_with(CxlChannel channel, Opcode opcode, cxl::SnpType snoop,
                        cxl::MetaValue value) {
  CxlMessage message;
  message.channel = channel;
  message.opcode = static_cast<std::uint8_t>(opcode);
  message.snp_type = static_cast<std::uint8_t>(snoop);
  message.meta_field = static_cast<std::uint8_t>(cxl::MetaField::kMeta0State);
  message.meta_value = static_cast<std::uint8_t>(value);
  return message;
}

/// What a BISnp is told of what the host keeps of the line.
struct Kept {
  cxl::M2sBiRsp response;
  cxl::MetaValue value;
};
/// By LineState.
constexpr Kept kKept[] = {{cxl::M2sBiRsp::kBiRspI, cxl::MetaValue::kInvalid},
                          {cxl::M2sBiRsp::kBiRspS, cxl::MetaValue::kShared},
                          {cxl::M2sBiRsp::kBiRspE, cxl::MetaValue::kAny}};

}  // namespace

HostLines::HostLines(const HostLinesConfig& config, LineStateListener* listener)
    : array_(config.sets, config.ways, listener),
      tags_(config.tags),
      transactions_(config.tags),
      snoops_(kBiTags) {}

/// Nothing where the line is here already. [COH-5.6]
std::optional<CxlMessage> HostLines::message_for(const CoreRequest& request) const {
  using Req = cxl::M2sReq;
  using Snp = cxl::SnpType;
  using Meta = cxl::MetaValue;
  constexpr CxlChannel kReq = CxlChannel::kM2sReq;
  const LineState state = array_.state(line_of(request.address));
  const bool is_held = state != LineState::kInvalid;
  const bool is_here = request.op == CoreOp::kWrite   ? is_owned(state)
                       : request.op == CoreOp::kEvict ? !is_held
                                                      : is_held;
  if (is_here) {
    return std::nullopt;
  }
  if (request.op == CoreOp::kWrite) {
    const bool needs_data = !is_held && request.byte_enables != kAllBytes;
    return message_with(kReq, needs_data ? Req::kMemRd : Req::kMemInv, Snp::kSnpInv, Meta::kAny);
  }
  if (request.op == CoreOp::kEvict) {
    return state == LineState::kModified
               ? message_with(CxlChannel::kM2sRwd, cxl::M2sRwd::kMemWr, Snp::kNoOp, Meta::kInvalid)
               : message_with(kReq, Req::kMemClnEvct, Snp::kNoOp, Meta::kInvalid);
  }
  const bool is_once = request.op == CoreOp::kReadOnce;
  return message_with(kReq, request.op == CoreOp::kReadAny ? Req::kMemRdData : Req::kMemRd,
                      is_once ? Snp::kSnpCur : Snp::kSnpData,
                      is_once ? Meta::kInvalid : Meta::kShared);
}

CoreObstacle HostLines::obstacle(const CoreRequest& request, std::size_t held) const {
  const std::uint64_t line = line_of(request.address);
  if (request.op == CoreOp::kWriteThrough || request.op == CoreOp::kWritePosted) {
    return CoreObstacle::kNotKnown;
  }
  if (busy_.find(line) != nullptr) {
    return CoreObstacle::kLine;
  }
  if (!message_for(request)) {
    return CoreObstacle::kNone;
  }
  const bool needs_way = request.op != CoreOp::kReadOnce && request.op != CoreOp::kEvict;
  std::size_t ids = 1;
  if (needs_way && array_.find(line) == nullptr) {
    const Way* const room = array_.room_for(line);
    if (room == nullptr || (!room->is_free() && busy_.find(room->line) != nullptr)) {
      return CoreObstacle::kWay;
    }
    ids = room->is_free() ? 1 : 2;
  }
  return tags_.available() >= ids + held ? CoreObstacle::kNone : CoreObstacle::kId;
}

void HostLines::request(const CoreRequest& request, CxlOutput& out, CoreResults& done) {
  const std::uint64_t line = line_of(request.address);
  const std::optional<CxlMessage> message = message_for(request);
  if (!message) {
    done.push_back(array_.hit(request));
    return;
  }
  Way* way = array_.find(line);
  if (request.op == CoreOp::kEvict) {
    start_eviction(*way, request, true, out);
    return;
  }
  if (request.op != CoreOp::kReadOnce) {
    if (way == nullptr) {
      way = array_.room_for(line);
      if (!way->is_free()) {
        start_eviction(*way, {CoreOp::kEvict, 0, way->line}, false, out);
      }
      way->line = line;
    }
    way->is_reserved = true;
  }
  send(*message, request, true, out);
}

/// The host gives the line up with its request; the device learns of it with the message.
void HostLines::start_eviction(Way& way, const CoreRequest& request, bool is_of_core,
                               CxlOutput& out) {
  CoreRequest eviction = request;
  eviction.line = way.data;
  const CxlMessage message = *message_for(request);
  array_.set_state(way, LineState::kInvalid);
  send(message, eviction, is_of_core, out);
}

std::size_t HostLines::lose_all() {
  std::size_t modified = 0;
  for (std::size_t id = 0; id < transactions_.size(); ++id) {
    const auto tag = static_cast<std::uint16_t>(id);
    if (tags_.is_out(tag)) {
      modified += transactions_[tag].message.channel == CxlChannel::kM2sRwd ? 1 : 0;
      tags_.release(tag);
    }
  }
  for (Snoop& snoop : snoops_) {
    modified += snoop.is_writing ? 1 : 0;
    snoop = Snoop{};
  }
  snoops_out_ = 0;
  busy_ = LineTable<std::uint16_t>();
  return modified + array_.lose_all();
}

void HostLines::send(CxlMessage message, const CoreRequest& request, bool is_of_core,
                     CxlOutput& out) {
  message.id = tags_.acquire();
  message.address = line_of(request.address);
  transactions_[message.id] = {message, request, is_of_core};
  busy_[message.address] = message.id;
  out.push_back({0, message, request.line});
}

// ---- the device's side of the host's lines: Cmp and data, BISnp and who was first.

void HostLines::receive(const CxlMessage& message, const CxlLine& line, CxlOutput& out,
                        CoreResults& done) {
  if (message.channel == CxlChannel::kS2mNdr) {
    completed(message, out, done);
  } else if (message.channel == CxlChannel::kS2mDrs) {
    filled(message, line, out, done);
  } else if (message.channel == CxlChannel::kS2mBiSnp) {
    snooped(message, out);
  } else {
    bad_.add(BadMessage::kWrongChannel);
  }
}

void HostLines::completed(const CxlMessage& message, CxlOutput& out, CoreResults& done) {
  const auto opcode = static_cast<cxl::S2mNdr>(message.opcode);
  if (bad_.add_if(opcode > cxl::S2mNdr::kBiConflictAck, BadMessage::kUnknownOpcode)) {
    return;
  }
  if (opcode == cxl::S2mNdr::kBiConflictAck) {
    acknowledged(message.id, out);
    return;
  }
  if (message.id >= kWriteBackTag) {
    written(static_cast<std::uint16_t>(message.id - kWriteBackTag), out);
    return;
  }
  if (bad_.add_if(!tags_.is_out(message.id), BadMessage::kUnknownId)) {
    return;
  }
  Transaction& transaction = transactions_[message.id];
  if (bad_.add_if(transaction.has_cmp, BadMessage::kWrongAnswer)) {
    return;
  }
  transaction.has_cmp = true;
  transaction.granted = opcode;
  if (!transaction.is_read() || transaction.has_data) {
    settle(message.id, out, done);
  }
}

void HostLines::filled(const CxlMessage& message, const CxlLine& line, CxlOutput& out,
                       CoreResults& done) {
  const auto opcode = static_cast<cxl::S2mDrs>(message.opcode);
  if (bad_.add_if(opcode > cxl::S2mDrs::kMemDataNxm, BadMessage::kUnknownOpcode) ||
      bad_.add_if(!tags_.is_out(message.id), BadMessage::kUnknownId)) {
    return;
  }
  Transaction& transaction = transactions_[message.id];
  if (bad_.add_if(!transaction.is_read() || transaction.has_data, BadMessage::kUnawaitedData)) {
    return;
  }
  transaction.has_data = true;
  transaction.is_refused = opcode == cxl::S2mDrs::kMemDataNxm;
  if (Way* const way = array_.find(transaction.message.address)) {
    way->data = line;
  } else {
    transaction.request.line = line;  // to use once
  }
  if (transaction.has_cmp) {
    settle(message.id, out, done);
  }
}

/// Cmp and what data there are have come. [COH-5.6]
void HostLines::settle(std::uint16_t tag, CxlOutput& out, CoreResults& done) {
  Transaction& transaction = transactions_[tag];
  const CoreRequest& request = transaction.request;
  Way* const way = array_.find(transaction.message.address);
  if (way == nullptr || !way->is_reserved) {
    finish(tag, request.line, out, done);  // an eviction, or a line to use once
    return;
  }
  const bool is_write = request.op == CoreOp::kWrite;
  const bool is_owner = transaction.granted == cxl::S2mNdr::kCmpE;
  const bool is_granted = !transaction.is_refused &&
                          (is_owner || (!is_write && transaction.granted == cxl::S2mNdr::kCmpS));
  if (!is_granted) {  // used once; a write that owns nothing is not done
    bad_.add_if(!transaction.is_refused, BadMessage::kWrongAnswer);
    array_.set_state(*way, LineState::kInvalid);
  } else if (!transaction.is_read() && way->state == LineState::kInvalid &&
             request.byte_enables != kAllBytes) {
    // A sharer that a BISnp has robbed meanwhile owns the line now, but has not its bytes: it reads
    // them. [COH-6.5]
    transaction.message.opcode = static_cast<std::uint8_t>(cxl::M2sReq::kMemRd);
    transaction.has_cmp = false;
    out.emplace_back().message = transaction.message;
    return;
  } else {
    array_.set_state(*way, is_owner ? LineState::kExclusive : LineState::kShared);
    array_.use(*way, request);
  }
  way->is_reserved = false;
  finish(tag, way->data, out, done);
}

void HostLines::finish(std::uint16_t tag, const CxlLine& line, CxlOutput& out, CoreResults& done) {
  const Transaction& transaction = transactions_[tag];
  const std::uint64_t address = transaction.message.address;
  if (transaction.is_of_core) {
    const CoreRequest& request = transaction.request;
    const bool is_error = transaction.is_refused ||
                          (request.op == CoreOp::kWrite && state(address) != LineState::kModified);
    done.push_back({request.op, request.token, request.address, is_error, line});
  }
  tags_.release(tag);
  const std::optional<std::uint16_t> bitag = transaction.bitag;
  if (bitag && snoops_[*bitag].awaits_ack) {
    busy_[address] = kAwaitsAck;
    return;
  }
  busy_.erase(address);
  if (bitag) {
    answer(*bitag, out);
  }
}

void HostLines::snooped(const CxlMessage& message, CxlOutput& out) {
  if (bad_.add_if(static_cast<cxl::S2mBiSnp>(message.opcode) > cxl::S2mBiSnp::kBiSnpInv,
                  BadMessage::kUnknownOpcode) ||
      bad_.add_if(line_of(message.address) != message.address, BadMessage::kBadAddress) ||
      bad_.add_if(message.id >= kBiTags || snoops_[message.id].is_out, BadMessage::kIdInUse)) {
    return;
  }
  const std::uint16_t* const tag = busy_.find(message.address);
  if (bad_.add_if(tag != nullptr && (*tag >= kWriteBackTag || transactions_[*tag].bitag),
                  BadMessage::kSecondSnoop)) {
    return;
  }
  Snoop& snoop = snoops_[message.id];
  snoop = {message, true};
  ++snoops_out_;
  if (tag == nullptr) {
    answer(message.id, out);
    return;
  }
  // It crosses a request: the device may have served that before, or not at all. [COH-6.4]
  Transaction& transaction = transactions_[*tag];
  transaction.bitag = message.id;
  if (transaction.message.channel == CxlChannel::kM2sReq && !transaction.has_cmp) {
    snoop.awaits_ack = true;
    add_message(out, CxlChannel::kM2sRwd, cxl::M2sRwd::kBiConflict, message.id).message.address =
        message.address;
  }
}

void HostLines::acknowledged(std::uint16_t bitag, CxlOutput& out) {
  if (bad_.add_if(bitag >= kBiTags || !snoops_[bitag].awaits_ack, BadMessage::kUnknownId)) {
    return;
  }
  snoops_[bitag].awaits_ack = false;
  const std::uint64_t line = snoops_[bitag].message.address;
  const std::uint16_t tag = *busy_.find(line);
  if (tag == kAwaitsAck) {
    ++late_;
    busy_.erase(line);
    answer(bitag, out);
    return;
  }
  Transaction& transaction = transactions_[tag];
  if (transaction.has_cmp) {
    ++late_;  // answered when the data are here
    return;
  }
  ++early_;
  transaction.bitag.reset();
  answer(bitag, out);
}

/// Gives the line back, or a copy of it: a modified one is written first. [COH-6.2]
void HostLines::answer(std::uint16_t bitag, CxlOutput& out) {
  Snoop& snoop = snoops_[bitag];
  const std::uint64_t line = snoop.message.address;
  Way* const way = array_.find(line);
  const LineState state = array_.state(line);
  const auto opcode = static_cast<cxl::S2mBiSnp>(snoop.message.opcode);
  LineState kept = LineState::kInvalid;  // else S or E
  if (state != LineState::kInvalid && opcode == cxl::S2mBiSnp::kBiSnpData) {
    kept = LineState::kShared;
  } else if (opcode == cxl::S2mBiSnp::kBiSnpCur) {
    kept = state == LineState::kModified ? LineState::kExclusive : state;
  }
  const Kept& told = kKept[static_cast<std::size_t>(kept)];
  snoop.response = told.response;
  if (way != nullptr) {
    array_.set_state(*way, kept);
  }
  if (state != LineState::kModified) {
    respond(bitag, snoop.response, out);
    return;
  }
  snoop.is_writing = true;
  const auto tag = static_cast<std::uint16_t>(kWriteBackTag + bitag);
  busy_[line] = tag;
  CxlMessage message =
      message_with(CxlChannel::kM2sRwd, cxl::M2sRwd::kMemWr, cxl::SnpType::kNoOp, told.value);
  message.id = tag;
  message.address = line;
  out.push_back({0, message, way->data});
}

void HostLines::written(std::uint16_t bitag, CxlOutput& out) {
  if (bad_.add_if(bitag >= kBiTags || !snoops_[bitag].is_writing, BadMessage::kUnknownId)) {
    return;
  }
  busy_.erase(snoops_[bitag].message.address);
  respond(bitag, snoops_[bitag].response, out);
}

void HostLines::respond(std::uint16_t bitag, cxl::M2sBiRsp response, CxlOutput& out) {
  CxlMessage& sent = add_message(out, CxlChannel::kM2sBiRsp, response, bitag).message;
  sent.address = snoops_[bitag].message.address;
  sent.bi_id = snoops_[bitag].message.bi_id;
  snoops_[bitag] = Snoop{};
  --snoops_out_;
}

}  // namespace flitwise
