// SPDX-License-Identifier: Apache-2.0
// The core's side of the host's lines: what is asked of the device.
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
  switch (request.op) {
    case CoreOp::kRead:
      return message_with(kReq, Req::kMemRd, Snp::kSnpData, Meta::kShared);
    case CoreOp::kReadAny:
      return message_with(kReq, Req::kMemRdData, Snp::kSnpData, Meta::kShared);
    case CoreOp::kReadOnce:
      return message_with(kReq, Req::kMemRd, Snp::kSnpCur, Meta::kInvalid);
    case CoreOp::kWrite: {
      const bool needs_data = !is_held && request.byte_enables != kAllBytes;
      return message_with(kReq, needs_data ? Req::kMemRd : Req::kMemInv, Snp::kSnpInv, Meta::kAny);
    }
    case CoreOp::kEvict:
      return state == LineState::kModified
                 ? message_with(CxlChannel::kM2sRwd, cxl::M2sRwd::kMemWr, Snp::kNoOp,
                                Meta::kInvalid)
                 : message_with(kReq, Req::kMemClnEvct, Snp::kNoOp, Meta::kInvalid);
    default:
      return std::nullopt;
  }
}

CoreObstacle HostLines::obstacle(const CoreRequest& request, std::size_t held) const {
  const std::uint64_t line = line_of(request.address);
  if (request.op > CoreOp::kEvict || request.op == CoreOp::kWriteThrough ||
      request.op == CoreOp::kWritePosted) {
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
      return CoreObstacle::kLine;
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
        CoreRequest eviction;
        eviction.op = CoreOp::kEvict;
        eviction.address = way->line;
        start_eviction(*way, eviction, false, out);
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

std::uint16_t HostLines::send(CxlMessage message, const CoreRequest& request, bool is_of_core,
                              CxlOutput& out) {
  const std::uint16_t tag = tags_.acquire();
  message.id = tag;
  message.address = line_of(request.address);
  Transaction& transaction = transactions_[tag];
  transaction = Transaction{};
  transaction.message = message;
  transaction.request = request;
  transaction.is_of_core = is_of_core;
  busy_[message.address] = tag;
  CxlOut& sent = out.emplace_back();
  sent.message = message;
  sent.line = request.line;
  return tag;
}

}  // namespace flitwise
