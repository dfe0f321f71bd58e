// SPDX-License-Identifier: Apache-2.0
// Which answers a request asks for.
#include "monitor/message_monitor.h"

#include <algorithm>

namespace flitwise {
namespace {

constexpr MonitoredRule kInUse{"COH-1.3", "an id is used again while it is out"};
constexpr MonitoredRule kNotOut{"COH-1.3", "an answer has an id that is not out"};
constexpr MonitoredRule kOfRead{"COH-2.5", "an answer that its request does not ask for"};
constexpr MonitoredRule kOfWrite{"COH-2.6", "an answer that its write does not ask for"};
constexpr MonitoredRule kOfEviction{"COH-2.7", "an answer that its eviction does not ask for"};
constexpr MonitoredRule kOfSnoop{"COH-4.1", "an answer that its snoop does not ask for"};
constexpr MonitoredRule kOfMemory{"COH-5.1", "an answer that its request does not ask for"};
constexpr MonitoredRule kOfBackSnoop{"COH-6.2", "an answer that its BISnp does not ask for"};
constexpr MonitoredRule kSecondConflict{"COH-6.4", "a second BIConflict for one BISnp"};
constexpr MonitoredRule kAheadOfAck{"COH-6.4", "a BIRsp ahead of its BIConflictAck"};
constexpr MonitoredRule kOfStates{"COH-5.3", "an answer that its request does not ask for"};

// Kinds of answers, each at most once.
enum Kind : std::uint8_t {
  kNdr = 1,
  kData = 2,  // S2M DRS, H2D Data, D2H Data
  kGo = 4,
  kPull = 8,
  kExtCmp = 16,
  kResponse = 32,  // D2H Rsp, M2S BIRsp
};
constexpr std::uint8_t kGoAndData = kGo | kData, kNdrAndData = kNdr | kData;
// Messages without a rule: nothing is recorded, and no answer expected. [COH-N.1]
constexpr std::uint8_t kNothing = 0;

bool has_state(const CxlMessage& request) {
  return request.meta_field == static_cast<std::uint8_t>(cxl::MetaField::kMeta0State);
}

// Speculative reads and forwards have no rule. [COH-5.1] [COH-5.2] [COH-5.3]
std::uint8_t owed_to_req(const CxlMessage& request, bool has_states) {
  const auto opcode = static_cast<cxl::M2sReq>(request.opcode);
  if (opcode == cxl::M2sReq::kMemRd || opcode == cxl::M2sReq::kMemRdData) {
    return has_states && has_state(request) ? kNdrAndData : std::uint8_t{kData};
  }
  const bool has_ndr = opcode == cxl::M2sReq::kMemInv || opcode == cxl::M2sReq::kMemInvNt ||
                       opcode == cxl::M2sReq::kMemClnEvct;
  return has_ndr ? std::uint8_t{kNdr} : kNothing;
}

// A conflict names a back-invalidate snoop and belongs to no Tag. [COH-6.4]
bool is_of_conflict(const CxlMessage& message) {
  return (message.channel == CxlChannel::kM2sRwd &&
          message.opcode == static_cast<std::uint8_t>(cxl::M2sRwd::kBiConflict)) ||
         (message.channel == CxlChannel::kS2mNdr &&
          message.opcode == static_cast<std::uint8_t>(cxl::S2mNdr::kBiConflictAck));
}

// What a request of the cache asks for. [COH-2.5] [COH-2.6] [COH-2.7]
struct CacheRequest {
  std::uint8_t owed = kNothing;
  std::uint8_t behind_pull = kNothing;  // what follows the data that a write is pulled for
  unsigned pulls = 0;                   // the pulls that it asks for, a bit each
  const MonitoredRule* rule = &kOfRead;
};

constexpr unsigned bit(cxl::H2dRsp pull) {
  return 1U << static_cast<unsigned>(pull);
}

// With errors any pull may come as GO_ERR_WritePull.
constexpr unsigned kGoPulls = bit(cxl::H2dRsp::kGoWritePull) | bit(cxl::H2dRsp::kGoErrWritePull);
constexpr unsigned kFastPull = bit(cxl::H2dRsp::kFastGoWritePull);
constexpr unsigned kPostedPulls = kFastPull | bit(cxl::H2dRsp::kGoErrWritePull);  // [COH-3.13]

constexpr std::size_t kCacheOpcodes = 32;
constexpr std::array<CacheRequest, kCacheOpcodes> kCacheRequests = [] {
  std::array<CacheRequest, kCacheOpcodes> all{};
  const auto set = [&](cxl::D2hReq opcode, CacheRequest asked) {
    all[static_cast<std::size_t>(opcode)] = asked;
  };
  set(cxl::D2hReq::kRdShared, {kGoAndData});
  set(cxl::D2hReq::kRdAny, {kGoAndData});
  set(cxl::D2hReq::kRdOwn, {kGoAndData});
  set(cxl::D2hReq::kRdCurr, {kData});
  set(cxl::D2hReq::kRdOwnNoData, {kGo});
  set(cxl::D2hReq::kClFlush, {kGo});
  set(cxl::D2hReq::kCacheFlushed, {kGo});
  set(cxl::D2hReq::kItoMWr, {kPull, kNothing, kGoPulls, &kOfWrite});
  set(cxl::D2hReq::kWrCur, {kPull, kNothing, kGoPulls, &kOfWrite});
  set(cxl::D2hReq::kWrInv, {kPull, kGo, bit(cxl::H2dRsp::kWritePull), &kOfWrite});
  set(cxl::D2hReq::kWoWrInv, {kPull, kExtCmp, kPostedPulls, &kOfWrite});
  set(cxl::D2hReq::kWoWrInvF, {kPull, kExtCmp, kPostedPulls, &kOfWrite});
  set(cxl::D2hReq::kCleanEvict,
      {kPull, kNothing, kGoPulls | bit(cxl::H2dRsp::kGoWritePullDrop), &kOfEviction});
  set(cxl::D2hReq::kDirtyEvict, {kPull, kNothing, kGoPulls, &kOfEviction});
  set(cxl::D2hReq::kCleanEvictNoData, {kGo, kNothing, 0, &kOfEviction});
  return all;
}();

const CacheRequest& asked_by_cache(std::uint8_t opcode) {
  static constexpr CacheRequest kUnknown;
  return opcode < kCacheOpcodes ? kCacheRequests[opcode] : kUnknown;
}

std::uint8_t kind_of_response(std::uint8_t opcode) {
  constexpr unsigned kPulls =
      kGoPulls | kFastPull | bit(cxl::H2dRsp::kWritePull) | bit(cxl::H2dRsp::kGoWritePullDrop);
  const auto response = static_cast<cxl::H2dRsp>(opcode);
  if (response == cxl::H2dRsp::kGo) {
    return kGo;
  }
  if (response == cxl::H2dRsp::kExtCmp) {
    return kExtCmp;
  }
  return opcode < 32 && (kPulls >> opcode & 1U) != 0 ? std::uint8_t{kPull} : kNothing;
}

// The snooped cache had the line modified: it comes as well. [COH-4.1]
bool forwards(std::uint8_t response) {
  const auto opcode = static_cast<cxl::D2hRsp>(response);
  return opcode == cxl::D2hRsp::kRspSFwdM || opcode == cxl::D2hRsp::kRspIFwdM ||
         opcode == cxl::D2hRsp::kRspVFwdV;
}

const MonitoredRule& rule_of(const MessageNote& request, bool has_state) {
  switch (request.channel) {
    case CxlChannel::kD2hReq: return *asked_by_cache(request.opcode).rule;
    case CxlChannel::kH2dReq: return kOfSnoop;
    case CxlChannel::kS2mBiSnp: return kOfBackSnoop;
    case CxlChannel::kH2dRsp: return kOfWrite;  // a pull
    default: return has_state ? kOfStates : kOfMemory;
  }
}

}  // namespace

void MessageIdMonitor::grow(Table& table, std::uint16_t id) {
  std::size_t size = std::max<std::size_t>(64, table.size());
  while (size <= id) {
    size *= 2;
  }
  table.resize(size);
}

// In the order of CxlChannel.
const std::array<MessageIdMonitor::Channel, kCxlChannels> MessageIdMonitor::kChannels = {{
    {&MessageIdMonitor::cqids_, kNothing, true},     // D2H Req
    {&MessageIdMonitor::uqids_, kResponse, false},   // D2H Rsp
    {&MessageIdMonitor::uqids_, kData, false},       // D2H Data
    {&MessageIdMonitor::uqids_, kResponse, true},    // H2D Req
    {&MessageIdMonitor::cqids_, kNothing, false},    // H2D Rsp
    {&MessageIdMonitor::cqids_, kData, false},       // H2D Data
    {&MessageIdMonitor::tags_, kNothing, true},      // M2S Req
    {&MessageIdMonitor::tags_, kNdr, true},          // M2S Rwd
    {&MessageIdMonitor::bitags_, kResponse, false},  // M2S BiRsp
    {&MessageIdMonitor::tags_, kNdr, false},         // S2M Ndr
    {&MessageIdMonitor::tags_, kData, false},        // S2M Drs
    {&MessageIdMonitor::bitags_, kResponse, true},   // S2M BiSnp
}};

// What an NDR or DRS answers: a request, or with BIConflictAck a BISnp.
MessageIdMonitor::Table& MessageIdMonitor::table_of(const CxlMessage& message) {
  return is_of_conflict(message) ? bitags_ : this->*channel_of(message).table;
}

void MessageIdMonitor::report(const MonitoredRule& rule, const Packet& packet,
                              const Request& against, Time now) const {
  reporter_of(packet, log_)
      .report(rule, now, packet,
              against.note.uid == 0 ? "an id that was never out" : text_of(against.note));
}

MessageIdMonitor::Request* MessageIdMonitor::open(Table& table, const Packet& packet,
                                                  std::uint16_t id, std::uint8_t owed, Time now) {
  if (owed == kNothing) {
    return nullptr;
  }
  Request& request = at(table, id);
  if (request.is_out) {
    report(kInUse, packet, request, now);
  }
  request = Request();
  request.note = note_of_message(packet);
  request.owed = owed;
  request.is_out = true;
  return &request;
}

MessageIdMonitor::Request* MessageIdMonitor::asked_by(Table& table, const Packet& packet,
                                                      Time now) {
  Request& request = at(table, packet.cxl->id);
  if (!request.is_out || !request.is_delivered) {
    report(kNotOut, packet, request, now);
    return nullptr;
  }
  return &request;
}

bool MessageIdMonitor::answer(Request& request, const Packet& packet, std::uint8_t kind, Time now) {
  if ((request.owed & kind) == 0) {
    report(rule_of(request.note, request.has_state), packet, request, now);
    return false;
  }
  request.owed = static_cast<std::uint8_t>(request.owed & ~kind);
  request.flying |= kind;
  return true;
}

void MessageIdMonitor::sent(const Packet& packet, Time now) {
  const CxlMessage& message = *packet.cxl;
  Table& table = table_of(message);
  if (channel_of(message).is_request && !is_of_conflict(message)) {
    Request* const request = open(table, packet, message.id, owed_to(message), now);
    if (request != nullptr && message.channel == CxlChannel::kM2sReq) {
      request->has_state = has_states_ && has_state(message);
    }
  } else if (Request* const asked = asked_by(table, packet, now)) {
    answers(*asked, packet, now);
  }
}

void MessageIdMonitor::answers(Request& asked, const Packet& packet, Time now) {
  const std::uint8_t kind = kind_of(*packet.cxl);
  switch (packet.cxl->channel) {
    case CxlChannel::kM2sRwd:
      if (asked.has_conflict) {
        report(kSecondConflict, packet, asked, now);
      }
      asked.has_conflict = true;
      asked.owed |= kNdr;  // an Ack is owed for it as well [COH-6.4]
      break;
    case CxlChannel::kH2dRsp:
      if (answer(asked, packet, kind, now) && kind == kPull) {
        pull(asked, packet, now);
      }
      break;
    case CxlChannel::kD2hRsp: cache_responds(asked, packet, now); break;
    case CxlChannel::kD2hData: cache_sends_data(asked, packet, now); break;
    case CxlChannel::kM2sBiRsp:
      if (((asked.owed | asked.flying) & kNdr) != 0) {
        report(kAheadOfAck, packet, asked, now);
      }
      answer(asked, packet, kResponse, now);
      break;
    default: answer(asked, packet, kind, now); break;
  }
}

std::uint8_t MessageIdMonitor::owed_to(const CxlMessage& request) const {
  return request.channel == CxlChannel::kM2sReq   ? owed_to_req(request, has_states_)
         : request.channel == CxlChannel::kD2hReq ? asked_by_cache(request.opcode).owed
                                                  : channel_of(request).kind;
}

std::uint8_t MessageIdMonitor::kind_of(const CxlMessage& message) {
  return message.channel == CxlChannel::kH2dRsp ? kind_of_response(message.opcode)
                                                : channel_of(message).kind;
}

// A pull is a request of its own, for data under a UQID.
void MessageIdMonitor::pull(Request& request, const Packet& packet, Time now) {
  const CacheRequest& asked = asked_by_cache(request.note.opcode);
  const auto response = static_cast<cxl::H2dRsp>(packet.cxl->opcode);
  if ((asked.pulls & bit(response)) == 0) {
    report(rule_of(request.note, false), packet, request, now);
  }
  if (response == cxl::H2dRsp::kGoWritePullDrop) {
    return;
  }
  Request& data = *open(uqids_, packet, packet.cxl->rsp_data, kData, now);
  data.is_pull = true;
  data.asker = request.note.uid;
  data.asker_id = request.note.id;
  request.later = response == cxl::H2dRsp::kGoErrWritePull ? std::uint8_t{} : asked.behind_pull;
}

void MessageIdMonitor::cache_responds(Request& snoop, const Packet& packet, Time now) {
  if (!answer(snoop, packet, kResponse, now)) {
    return;
  }
  const bool has_data = forwards(packet.cxl->opcode);
  if (has_data && !snoop.has_early_data) {
    snoop.owed |= kData;
  } else if (!has_data && snoop.has_early_data) {
    report(kOfSnoop, packet, snoop, now);
  }
}

// Data of a snoop may be sent before its response says that they come.
void MessageIdMonitor::cache_sends_data(Request& asked, const Packet& packet, Time now) {
  if (!asked.is_pull && !asked.has_early_data && (asked.owed & kResponse) != 0) {
    asked.has_early_data = true;
    asked.flying |= kData;
    return;
  }
  answer(asked, packet, kData, now);
}

void MessageIdMonitor::cache_data_came(const Packet& packet) {
  const Request& data = at(uqids_, packet.cxl->id);
  if (data.is_pull && (data.flying & kData) != 0) {
    Request& write = at(cqids_, data.asker_id);
    if (write.is_out && write.note.uid == data.asker) {
      write.owed |= write.later;
      write.later = 0;
    }
  }
}

void MessageIdMonitor::delivered(const Packet& packet) {
  const CxlMessage& message = *packet.cxl;
  Request& request = at(table_of(message), message.id);
  if (channel_of(message).is_request) {
    request.is_delivered |=
        !is_of_conflict(message) && request.is_out && request.note.uid == packet.uid;
    return;
  }
  const std::uint8_t kind = kind_of(message);
  if (message.channel == CxlChannel::kD2hData) {
    cache_data_came(packet);
  } else if (message.channel == CxlChannel::kH2dRsp) {
    Request& data = at(uqids_, message.rsp_data);
    data.is_delivered |= kind == kPull && data.is_pull && data.note.uid == packet.uid;
  }
  if ((request.flying & kind) != 0) {
    request.flying = static_cast<std::uint8_t>(request.flying & ~kind);
    request.is_out = (request.owed | request.flying | request.later) != 0 || !request.is_delivered;
  }
}

void MessageIdMonitor::reset() {
  for (Table* const table : {&tags_, &cqids_, &uqids_, &bitags_}) {
    for (Request& request : *table) {
      request.is_out = false;
    }
  }
}

}  // namespace flitwise
