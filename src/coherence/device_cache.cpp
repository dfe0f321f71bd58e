// SPDX-License-Identifier: Apache-2.0
// A cache: the core's side first, with hits, requests and evictions.
#include "coherence/device_cache.h"

#include "coherence/cache_rules.h"

namespace flitwise {
namespace {

/// By CoreOp.
constexpr cxl::D2hReq kReads[] = {cxl::D2hReq::kRdShared, cxl::D2hReq::kRdAny,
                                  cxl::D2hReq::kRdCurr};

std::optional<cxl::D2hReq> opcode_of_write(const CoreRequest& request, LineState state) {
  const bool is_whole = request.byte_enables == kAllBytes;
  if (is_owned(state)) {
    return std::nullopt;  // E becomes M without a word [COH-1.1]
  }
  // What does not stay needs no line here; a shared copy would be in its own way. [COH-2.3]
  if (state == LineState::kInvalid && request.op == CoreOp::kWriteThrough) {
    return is_whole ? cxl::D2hReq::kItoMWr : cxl::D2hReq::kWrInv;
  }
  if (state == LineState::kInvalid && request.op == CoreOp::kWritePosted) {
    return is_whole ? cxl::D2hReq::kWoWrInvF : cxl::D2hReq::kWoWrInv;
  }
  return is_whole ? cxl::D2hReq::kRdOwnNoData : cxl::D2hReq::kRdOwn;
}

}  // namespace

DeviceCache::DeviceCache(const DeviceCacheConfig& config, LineStateListener* listener)
    : config_(config),
      array_(config.sets, config.ways, listener),
      cqids_(config.cqids),
      transactions_(config.cqids) {}

LineState DeviceCache::state(std::uint64_t line) const {
  if (const Way* const way = array_.find(line)) {
    return way->state;
  }
  const std::uint16_t* const cqid = busy_.find(line);  // on its way out?
  return cqid != nullptr ? transactions_[*cqid].state : LineState::kInvalid;
}

// [COH-2.1]
std::optional<cxl::D2hReq> DeviceCache::opcode_for(const CoreRequest& request) const {
  const LineState state = array_.state(line_of(request.address));
  const bool is_held = state != LineState::kInvalid;
  if (request.is_write()) {
    return opcode_of_write(request, state);
  }
  if (request.op == CoreOp::kEvict) {
    return is_held ? std::optional(opcode_of_eviction(state)) : std::nullopt;
  }
  return is_held ? std::nullopt : std::optional(kReads[static_cast<std::size_t>(request.op)]);
}

cxl::D2hReq DeviceCache::opcode_of_eviction(LineState state) const {
  if (state == LineState::kModified) {
    return cxl::D2hReq::kDirtyEvict;
  }
  return config_.offers_clean_evictions ? cxl::D2hReq::kCleanEvict : cxl::D2hReq::kCleanEvictNoData;
}

CoreObstacle DeviceCache::obstacle(const CoreRequest& request, std::size_t held) const {
  const std::uint64_t line = line_of(request.address);
  if (busy_.find(line) != nullptr) {
    return CoreObstacle::kLine;  // one request a line [COH-2.4]
  }
  const Way* const way = array_.find(line);
  if (config_.keeps_domains_apart && way != nullptr && way->domain != request.domain) {
    return cqids_.available() > held ? CoreObstacle::kDomain : CoreObstacle::kId;
  }
  const std::optional<cxl::D2hReq> opcode = opcode_for(request);
  if (!opcode) {
    return CoreObstacle::kNone;
  }
  std::size_t ids = 1;
  if (is_allocating(*opcode) && way == nullptr) {
    const Way* const room = array_.room_for(line);
    if (room == nullptr) {
      return CoreObstacle::kWay;
    }
    ids = room->is_free() ? 1 : 2;
  }
  return cqids_.available() >= ids + held ? CoreObstacle::kNone : CoreObstacle::kId;
}

void DeviceCache::request(const CoreRequest& request, CxlOutput& out, CoreResults& done) {
  const std::uint64_t line = line_of(request.address);
  const std::optional<cxl::D2hReq> opcode = opcode_for(request);
  Way* way = array_.find(line);
  if (!opcode) {
    done.push_back(array_.hit(request));
    return;
  }
  if (request.op == CoreOp::kEvict) {
    start_eviction(*way, request, true, out);
    return;
  }
  if (way == nullptr && is_allocating(*opcode)) {
    way = array_.room_for(line);
    if (!way->is_free()) {  // its line leaves at once and waits for the host elsewhere [COH-2.2]
      start_eviction(*way, {CoreOp::kEvict, 0, way->line}, false, out);
    }
    way->line = line;
    way->domain = request.domain;
  }
  if (way != nullptr) {
    way->is_reserved = true;
  }
  send_request(*opcode, request, true, out);
}

void DeviceCache::give_up(std::uint64_t line, CxlOutput& out) {
  start_eviction(*array_.find(line), {CoreOp::kEvict, 0, line}, false, out);
}

void DeviceCache::start_eviction(Way& way, const CoreRequest& request, bool is_of_core,
                                 CxlOutput& out) {
  const std::uint16_t cqid = send_request(opcode_of_eviction(way.state), request, is_of_core, out);
  transactions_[cqid].state = way.state;
  transactions_[cqid].request.line = way.data;
  transactions_[cqid].request.byte_enables = kAllBytes;
  if (way.state != LineState::kModified) {
    array_.tell(way.line, LineState::kInvalid);  // its use is over [COH-2.7]
  }
  array_.vacate(way);
}

std::size_t DeviceCache::lose_all() {
  std::size_t modified = 0;
  for (std::size_t id = 0; id < transactions_.size(); ++id) {
    const auto cqid = static_cast<std::uint16_t>(id);
    if (!cqids_.is_out(cqid)) {
      continue;
    }
    // A modified line that leaves is still the machine's only copy until it is pulled. [COH-2.7]
    const Transaction& transaction = transactions_[cqid];
    if (transaction.opcode == cxl::D2hReq::kDirtyEvict && is_owned(transaction.state)) {
      array_.tell(transaction.request.address, LineState::kInvalid);
      ++modified;
    }
    cqids_.release(cqid);
  }
  busy_ = LineTable<std::uint16_t>();
  return modified + array_.lose_all();
}

std::uint16_t DeviceCache::send_request(cxl::D2hReq opcode, const CoreRequest& request,
                                        bool is_of_core, CxlOutput& out) {
  const std::uint16_t cqid = cqids_.acquire();
  transactions_[cqid] = {opcode, request, is_of_core};
  CxlOut& sent = add_message(out, CxlChannel::kD2hReq, opcode, cqid);
  sent.message.cache_id = config_.cache_id;
  sent.message.address = line_of(request.address);
  busy_[sent.message.address] = cqid;
  return cqid;
}

// ---- the host's side of a cache: snoops, GO, write pulls and data, in whatever order they come.

void DeviceCache::receive(const CxlMessage& message, const CxlLine& line, CxlOutput& out,
                          CoreResults& done) {
  if (message.channel == CxlChannel::kH2dReq) {
    snooped(message, out);
  } else if (message.channel == CxlChannel::kH2dRsp) {
    responded(message, out, done);
  } else if (message.channel == CxlChannel::kH2dData) {
    filled(message, line, out, done);
  } else {
    bad_.add(BadMessage::kWrongChannel);
  }
}

void DeviceCache::snooped(const CxlMessage& snoop, CxlOutput& out) {
  const auto opcode = static_cast<cxl::H2dReq>(snoop.opcode);
  const bool is_known = opcode == cxl::H2dReq::kSnpData || opcode == cxl::H2dReq::kSnpInv ||
                        opcode == cxl::H2dReq::kSnpCur;
  if (bad_.add_if(!is_known, BadMessage::kUnknownOpcode) ||
      bad_.add_if(line_of(snoop.address) != snoop.address, BadMessage::kBadAddress)) {
    return;
  }
  if (const std::uint16_t* const cqid = busy_.find(snoop.address)) {
    Transaction& transaction = transactions_[*cqid];
    if (bad_.add_if(transaction.snoop.has_value(), BadMessage::kSecondSnoop)) {  // [COH-3.3]
      return;
    }
    if (transaction.has_go && is_read(transaction.opcode) && !transaction.has_data) {
      transaction.snoop = snoop;  // GO first: it sees what that granted [COH-4.5]
      return;
    }
  }
  answer(snoop, out);
}

void DeviceCache::answer(const CxlMessage& snoop, CxlOutput& out) {
  const auto opcode = static_cast<cxl::H2dReq>(snoop.opcode);
  const CxlLine* data = nullptr;
  SnoopAnswer answer{cxl::D2hRsp::kRspIHitI, LineState::kInvalid};
  if (Way* const way = array_.find(snoop.address)) {
    answer = answer_of(opcode, way->state, false);
    data = &way->data;
    array_.set_state(*way, answer.keeps);  // of a reserved way too: an upgrade loses its copy
  } else if (const std::uint16_t* const cqid = busy_.find(snoop.address);
             cqid != nullptr && is_eviction(transactions_[*cqid].opcode)) {
    Transaction& eviction = transactions_[*cqid];  // [COH-4.3]
    answer = answer_of(opcode, eviction.state, true);
    data = &eviction.request.line;
    if (eviction.state == LineState::kModified && answer.keeps == LineState::kInvalid) {
      array_.tell(snoop.address, LineState::kInvalid);
    }
    eviction.state = answer.keeps;
  }
  add_message(out, CxlChannel::kD2hRsp, answer.response, snoop.id).message.cache_id =
      config_.cache_id;
  if (brings_line(answer.response)) {
    send_data(snoop.id, *data, kAllBytes, false, out);
  }
}

void DeviceCache::responded(const CxlMessage& response, CxlOutput& out, CoreResults& done) {
  if (bad_.add_if(!cqids_.is_out(response.id), BadMessage::kUnknownId)) {
    return;
  }
  const Transaction& transaction = transactions_[response.id];
  switch (static_cast<cxl::H2dRsp>(response.opcode)) {
    case cxl::H2dRsp::kGo: granted(response.id, response.rsp_data, out, done); return;
    case cxl::H2dRsp::kWritePull:
    case cxl::H2dRsp::kGoWritePull:
    case cxl::H2dRsp::kGoWritePullDrop:
    case cxl::H2dRsp::kFastGoWritePull:
    case cxl::H2dRsp::kGoErrWritePull: pulled(response.id, response, out, done); return;
    case cxl::H2dRsp::kExtCmp:  // [COH-2.6]
      if (!bad_.add_if(
              rule_of(transaction.opcode).end != cxl::H2dRsp::kExtCmp || !transaction.is_pulled,
              BadMessage::kWrongAnswer)) {
        finish(response.id, out, done);
      }
      return;
  }
  bad_.add(BadMessage::kUnknownOpcode);
}

void DeviceCache::granted(std::uint16_t cqid, std::uint16_t go_state, CxlOutput& out,
                          CoreResults& done) {
  Transaction& transaction = transactions_[cqid];
  if (bad_.add_if(!awaits_go(transaction.opcode, transaction.is_pulled) || transaction.has_go,
                  BadMessage::kWrongAnswer)) {
    return;
  }
  transaction.has_go = true;
  const std::optional<LineState> state = state_granted(transaction.opcode, go_state);
  if (!state) {
    transaction.is_error = true;  // so is a grant that it cannot have [COH-2.8]
    bad_.add_if(static_cast<cxl::GoState>(go_state) != cxl::GoState::kError,
                BadMessage::kWrongAnswer);
  }
  if (is_eviction(transaction.opcode)) {
    finish(cqid, out, done);
    return;
  }
  transaction.state = state.value_or(LineState::kInvalid);
  if (!is_read(transaction.opcode) || transaction.has_data) {
    settle(cqid, out, done);
  }
}

void DeviceCache::pulled(std::uint16_t cqid, const CxlMessage& response, CxlOutput& out,
                         CoreResults& done) {
  Transaction& transaction = transactions_[cqid];
  const auto opcode = static_cast<cxl::H2dRsp>(response.opcode);
  if (bad_.add_if(!is_pull_of(transaction.opcode, opcode) || transaction.is_pulled,
                  BadMessage::kWrongAnswer)) {
    return;
  }
  transaction.is_pulled = true;
  transaction.is_error = opcode == cxl::H2dRsp::kGoErrWritePull;
  if (opcode != cxl::H2dRsp::kGoWritePullDrop) {
    // A line that a snoop took meanwhile is pulled in vain: Bogus. [COH-4.4]
    const bool is_bogus =
        is_eviction(transaction.opcode) && transaction.state == LineState::kInvalid;
    send_data(response.rsp_data, transaction.request.line, transaction.request.byte_enables,
              is_bogus, out);
  }
  if (opcode != cxl::H2dRsp::kWritePull && opcode != cxl::H2dRsp::kFastGoWritePull) {
    finish(cqid, out, done);
  }
}

void DeviceCache::filled(const CxlMessage& header, const CxlLine& line, CxlOutput& out,
                         CoreResults& done) {
  if (bad_.add_if(!cqids_.is_out(header.id), BadMessage::kUnknownId)) {
    return;
  }
  Transaction& transaction = transactions_[header.id];
  if (bad_.add_if(!is_read(transaction.opcode) || transaction.has_data,
                  BadMessage::kUnawaitedData)) {
    return;
  }
  transaction.has_data = true;
  transaction.is_error = transaction.is_error || header.go_err;
  Way* const way = array_.find(line_of(transaction.request.address));
  if (way == nullptr) {
    transaction.request.line = line;
  } else if (!header.go_err || way->state == LineState::kInvalid) {
    way->data = line;  // a shared copy that it replaces has the same bytes
  }
  if (transaction.has_go || transaction.opcode == cxl::D2hReq::kRdCurr) {
    settle(header.id, out, done);
  }
}

/// GO and data are both here, or one was all there was to come. A copy that was here before a
/// failure is still in the directory: it leaves like any other. [COH-2.5] [COH-2.8]
void DeviceCache::settle(std::uint16_t cqid, CxlOutput& out, CoreResults& done) {
  Transaction& transaction = transactions_[cqid];
  const bool is_error = transaction.is_error;
  CoreRequest& request = transaction.request;
  const std::uint64_t line = line_of(request.address);
  Way* const way = array_.find(line);
  if (way != nullptr && way->is_reserved) {
    way->is_reserved = false;
    if (!is_error && transaction.state == LineState::kInvalid) {
      array_.set_state(*way, LineState::kInvalid);  // of use once
    } else if (!is_error) {
      array_.set_state(*way, transaction.state);
      array_.use(*way, request);
    }
    request.line = way->data;
  }
  finish(cqid, out, done);
  if (is_error && array_.find(line) != nullptr) {
    give_up(line, out);
  }
}

void DeviceCache::finish(std::uint16_t cqid, CxlOutput& out, CoreResults& done) {
  const Transaction& transaction = transactions_[cqid];
  const CoreRequest& request = transaction.request;
  const std::uint64_t line = line_of(request.address);
  if (is_eviction(transaction.opcode) && transaction.state == LineState::kModified) {
    array_.tell(line, LineState::kInvalid);
  }
  if (transaction.is_of_core) {
    done.push_back({request.op, request.token, request.address, transaction.is_error, request.line,
                    transaction.opcode == cxl::D2hReq::kItoMWr && !transaction.is_error});
  }
  busy_.erase(line);
  cqids_.release(cqid);
  if (transaction.snoop) {
    answer(*transaction.snoop, out);
  }
}

void DeviceCache::send_data(std::uint16_t uqid, const CxlLine& line, std::uint64_t byte_enables,
                            bool is_bogus, CxlOutput& out) const {
  CxlOut& sent = add_message(out, CxlChannel::kD2hData, 0, uqid);
  sent.message.cache_id = config_.cache_id;
  sent.message.byte_enables = byte_enables;
  sent.message.bogus = is_bogus;
  sent.line = line;
}

}  // namespace flitwise
