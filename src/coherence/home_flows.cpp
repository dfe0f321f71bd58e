// SPDX-License-Identifier: Apache-2.0
// What becomes of a request at its home: snoops, memory, GO and data, write pulls.
#include "coherence/cache_rules.h"
#include "coherence/home_agent.h"

namespace flitwise {
namespace {

/// RspData of a GO.
constexpr std::uint16_t code(cxl::GoState state) {
  return static_cast<std::uint16_t>(state);
}

template <class Opcode>
CxlOut& send_to(std::uint8_t port, CxlChannel channel, Opcode opcode, std::uint16_t id,
                CxlOutput& out) {
  CxlOut& sent = add_message(out, channel, opcode, id);
  sent.port = sent.message.cache_id = port;
  return sent;
}

}  // namespace

void HomeAgent::start(std::uint32_t transaction, CxlOutput& out) {
  Transaction& request = transactions_[transaction];
  if (request.is_refused) {
    refuse(transaction, out);
    return;
  }
  const PortMask targets = to_snoop(request);
  const cxl::H2dReq snoop = rule_of(request.opcode).snoop;
  for (std::uint8_t port = 0; port < config_.ports; ++port) {
    if (((targets >> port) & 1U) == 0) {
      continue;
    }
    ++request.snoops;
    const std::uint16_t uqid = expect(transaction, port);
    expected_[uqid].snoop = snoop;
    send_to(port, CxlChannel::kH2dReq, snoop, uqid, out).message.address = request.address;
  }
  if (request.snoops == 0) {
    resolve(transaction, out);
  }
}

/// Only holders of the line are asked. [COH-3.4]
PortMask HomeAgent::to_snoop(const Transaction& request) const {
  const LineHolders& holders = lines_.find(request.address)->holders;
  switch (rule_of(request.opcode).asked) {
    case RequestRule::Asked::kNone: return 0;
    case RequestRule::Asked::kAllOfOwner:
      return holders.owner() && !holders.is_owner(request.port) ? holders.all() : 0;
    case RequestRule::Asked::kOthers: return holders.all_but(request.port);
    case RequestRule::Asked::kAll: return holders.all();
  }
  return 0;
}

/// All snoops are answered, and their data are here.
void HomeAgent::resolve(std::uint32_t transaction, CxlOutput& out) {
  Transaction& request = transactions_[transaction];
  const RequestRule& rule = rule_of(request.opcode);
  switch (rule.kind) {
    case RequestRule::Kind::kRead:
      if (!request.has_line) {
        memory_.read(transaction, request.address);
        return;
      }
      [[fallthrough]];
    case RequestRule::Kind::kUpgrade: grant(transaction, out); return;
    case RequestRule::Kind::kWrite: {
      const bool is_over_for_cache = rule.pull == cxl::H2dRsp::kGoWritePull;
      request.had_go = is_over_for_cache && !request.is_orphan;
      pull(transaction, rule.pull, out);
      if (is_over_for_cache) {
        close_cqid(request);  // the cache may use it again from GO on
      }
      return;
    }
    case RequestRule::Kind::kEviction: resolve_eviction(transaction, out); return;
    case RequestRule::Kind::kFlush:
    case RequestRule::Kind::kUnknown: write_back(transaction, out); return;
  }
}

/// GO and data leave at once, and no snoop of this line before its next request. [COH-3.6]
void HomeAgent::grant(std::uint32_t transaction, CxlOutput& out) {
  const Transaction& request = transactions_[transaction];
  LineHolders& holders = lines_.find(request.address)->holders;
  cxl::GoState state = request.is_error ? cxl::GoState::kError : cxl::GoState::kExclusive;
  if (!request.is_error && (request.opcode == cxl::D2hReq::kRdShared ||
                            (request.opcode == cxl::D2hReq::kRdAny &&
                             (holders.all_but(request.port) != 0 || !request.may_own)))) {
    state = cxl::GoState::kShared;  // [COH-3.5] [COH-3.12]
  }
  if (request.is_orphan) {
    write_back(transaction, out);
    return;
  }
  if (request.opcode != cxl::D2hReq::kRdCurr) {  // no state follows from it, and it has no GO
    if (state == cxl::GoState::kShared) {
      holders.add_sharer(request.port);
    } else if (!request.is_error) {
      holders.make_owner(request.port);
    }
    if (listener_ != nullptr && !request.is_error) {
      listener_->granted(request.port, request.address, request.arrival);
    }
  }
  send_grant(request, state, out);
  close_cqid(request);
  write_back(transaction, out);
}

/// GO and data, as far as the request has them. [COH-2.5]
void HomeAgent::send_grant(const Transaction& request, cxl::GoState state, CxlOutput& out) {
  if (request.opcode != cxl::D2hReq::kRdCurr) {
    respond(request, cxl::H2dRsp::kGo, code(state), out);
  }
  if (request.opcode != cxl::D2hReq::kRdOwnNoData) {
    CxlOut& sent = send_to(request.port, CxlChannel::kH2dData, 0, request.cqid, out);
    sent.message.go_err = request.is_error;
    sent.line = request.line;
  }
}

/// Nothing is snooped, read or written: data that have to come all the same are dropped.
/// [COH-3.13]
void HomeAgent::refuse(std::uint32_t transaction, CxlOutput& out) {
  const Transaction& request = transactions_[transaction];
  const RequestRule::Kind kind = rule_of(request.opcode).kind;
  if (kind == RequestRule::Kind::kWrite) {
    const cxl::H2dRsp refusal = refusal_of_write(request.opcode);
    pull(transaction, refusal, out);
    if (refusal == cxl::H2dRsp::kGoErrWritePull) {
      close_cqid(request);
    }
    return;
  }
  if (kind != RequestRule::Kind::kFlush && !request.is_orphan) {
    send_grant(request, cxl::GoState::kError, out);
    close_cqid(request);
  }
  finish(transaction, out);
}

/// What the cache does not hold any more has gone with a snoop; its pull brings Bogus data.
/// [COH-3.7]
void HomeAgent::resolve_eviction(std::uint32_t transaction, CxlOutput& out) {
  Transaction& request = transactions_[transaction];
  LineHolders& holders = lines_.find(request.address)->holders;
  request.was_held = request.opcode == cxl::D2hReq::kDirtyEvict ? holders.is_owner(request.port)
                                                                : holders.holds(request.port);
  holders.remove(request.port);
  const bool is_pulled =
      request.opcode == cxl::D2hReq::kDirtyEvict ||
      (request.opcode == cxl::D2hReq::kCleanEvict && config_.pulls_clean_evictions);
  if (is_pulled) {
    pull(transaction, cxl::H2dRsp::kGoWritePull, out);
    close_cqid(transactions_[transaction]);
    return;
  }
  if (request.opcode == cxl::D2hReq::kCleanEvict) {
    respond(request, cxl::H2dRsp::kGoWritePullDrop, 0, out);
  } else {
    respond(request, cxl::H2dRsp::kGo, code(cxl::GoState::kInvalid), out);
  }
  close_cqid(request);
  finish(transaction, out);
}

void HomeAgent::pull(std::uint32_t transaction, cxl::H2dRsp response, CxlOutput& out) {
  if (transactions_[transaction].is_orphan) {
    write_back(transaction, out);
    return;
  }
  const std::uint16_t uqid = expect(transaction, transactions_[transaction].port);
  expected_[uqid].is_pull = true;
  respond(transactions_[transaction], response, uqid, out);
}

void HomeAgent::pulled(std::uint32_t transaction, const CxlMessage& header, const CxlLine& line,
                       CxlOutput& out) {
  Transaction& request = transactions_[transaction];
  if (!is_eviction(request.opcode)) {
    // It cannot be lost to a snoop.
    if (bad_.add_if(header.bogus, BadMessage::kWrongAnswer) || request.is_refused) {
      write_back(transaction, out);
      return;
    }
    request.is_written = true;
    if (request.has_line || header.byte_enables == kAllBytes) {
      merge(request.line, line, header.byte_enables);
      request.is_dirty = true;
      write_back(transaction, out);
    } else {
      memory_.write(transaction, request.address, line, header.byte_enables);
    }
    return;
  }
  // Lost without a snoop, or kept in spite of it?
  const bool is_wrong = bad_.add_if(header.bogus == request.was_held, BadMessage::kWrongAnswer);
  if (!is_wrong && request.was_held && request.opcode == cxl::D2hReq::kDirtyEvict) {
    request.line = line;
    request.is_dirty = true;
  }
  write_back(transaction, out);
}

/// Memory gets the line if it has to; then the request is done.
void HomeAgent::write_back(std::uint32_t transaction, CxlOutput& out) {
  const Transaction& request = transactions_[transaction];
  if (request.is_dirty) {
    memory_.write(transaction, request.address, request.line, kAllBytes);
  } else {
    finish(transaction, out);
  }
}

/// Ends what has waited for memory; the next request for the line has its turn. [COH-3.2] [COH-3.8]
/// A write that had its GO with the pull has no message for that. [COH-3.11]
void HomeAgent::finish(std::uint32_t transaction, CxlOutput& out) {
  const Transaction& request = transactions_[transaction];
  const cxl::H2dRsp end = rule_of(request.opcode).end;
  const cxl::GoState state = request.is_refused ? cxl::GoState::kError : cxl::GoState::kInvalid;
  if (end == cxl::H2dRsp::kGo) {
    respond(request, end, code(state), out);
    close_cqid(request);
  } else if (end == cxl::H2dRsp::kExtCmp && !request.is_refused) {
    respond(request, end, 0, out);
    close_cqid(request);
  } else if (listener_ != nullptr && request.had_go) {
    listener_->write_over(request.port, request.address, request.is_written);
  }
  if (!request.is_refused) {
    end_turn(request.address);
  }
  close(transaction);
  --active_;
}

void HomeAgent::end_turn(std::uint64_t address) {
  Line& line = *lines_.find(address);
  if (!line.waiting.empty()) {
    give_turn(transactions_.pop(line.waiting));
    return;
  }
  line.is_busy = false;
  if (line.holders.empty()) {
    lines_.erase(address);
  }
}

std::uint16_t HomeAgent::expect(std::uint32_t transaction, std::uint8_t port) {
  const std::uint16_t uqid = uqids_.acquire();
  expected_[uqid] = {transaction, port};
  return uqid;
}

void HomeAgent::respond(const Transaction& request, cxl::H2dRsp response, std::uint16_t rsp_data,
                        CxlOutput& out) {
  if (!request.is_orphan) {
    send_to(request.port, CxlChannel::kH2dRsp, response, request.cqid, out).message.rsp_data =
        rsp_data;
  }
}

}  // namespace flitwise
