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

/// The snoop that a request makes of others. [COH-3.4]
cxl::H2dReq snoop_for(cxl::D2hReq opcode) {
  if (opcode == cxl::D2hReq::kRdCurr) {
    return cxl::H2dReq::kSnpCur;
  }
  return opcode == cxl::D2hReq::kRdShared || opcode == cxl::D2hReq::kRdAny ? cxl::H2dReq::kSnpData
                                                                           : cxl::H2dReq::kSnpInv;
}

}  // namespace

void HomeAgent::start(std::uint32_t transaction, CxlOutput& out) {
  Transaction& request = transactions_[transaction];
  const PortMask targets = to_snoop(request);
  for (std::uint8_t port = 0; port < config_.ports; ++port) {
    if (((targets >> port) & 1U) == 0) {
      continue;
    }
    ++request.snoops;
    const std::uint16_t uqid = expect(transaction, port);
    expected_[uqid].snoop = snoop_for(request.opcode);
    CxlOut& sent = send_to(port, CxlChannel::kH2dReq, snoop_for(request.opcode), uqid, out);
    sent.message.address = request.address;
  }
  if (request.snoops == 0) {
    resolve(transaction, out);
  }
}

/// Only holders of the line are asked. [COH-3.4]
PortMask HomeAgent::to_snoop(const Transaction& request) const {
  const LineHolders& holders = lines_.find(request.address)->holders;
  switch (request.opcode) {
    case cxl::D2hReq::kRdCurr:
    case cxl::D2hReq::kRdShared:
    case cxl::D2hReq::kRdAny:  // sharers have what memory has
      return holders.owner() && !holders.is_owner(request.port) ? holders.all() : 0;
    case cxl::D2hReq::kRdOwn:
    case cxl::D2hReq::kRdOwnNoData:
      return holders.all_but(request.port);
    case cxl::D2hReq::kItoMWr:
    case cxl::D2hReq::kWrCur:
    case cxl::D2hReq::kWrInv:
    case cxl::D2hReq::kWoWrInv:
    case cxl::D2hReq::kWoWrInvF:
    case cxl::D2hReq::kClFlush:
      return holders.all();  // the requester's too: no cache has the line after it
    case cxl::D2hReq::kCleanEvict:
    case cxl::D2hReq::kDirtyEvict:
    case cxl::D2hReq::kCleanEvictNoData:
    case cxl::D2hReq::kCacheFlushed:
      return 0;
  }
  return 0;
}

/// All snoops are answered, and their data are here.
void HomeAgent::resolve(std::uint32_t transaction, CxlOutput& out) {
  switch (transactions_[transaction].opcode) {
    case cxl::D2hReq::kRdCurr:
    case cxl::D2hReq::kRdShared:
    case cxl::D2hReq::kRdAny:
    case cxl::D2hReq::kRdOwn:
      read_or_grant(transaction, out);
      return;
    case cxl::D2hReq::kRdOwnNoData:
      grant(transaction, out);
      return;
    case cxl::D2hReq::kItoMWr:
    case cxl::D2hReq::kWrCur:
      transactions_[transaction].had_go = !transactions_[transaction].is_orphan;
      pull(transaction, cxl::H2dRsp::kGoWritePull, out);
      close_cqid(transactions_[transaction]);  // the cache may use it again from GO on
      return;
    case cxl::D2hReq::kWrInv:
      pull(transaction, cxl::H2dRsp::kWritePull, out);
      return;
    case cxl::D2hReq::kWoWrInv:
    case cxl::D2hReq::kWoWrInvF:
      pull(transaction, cxl::H2dRsp::kFastGoWritePull, out);
      return;
    case cxl::D2hReq::kCleanEvict:
    case cxl::D2hReq::kDirtyEvict:
    case cxl::D2hReq::kCleanEvictNoData:
      resolve_eviction(transaction, out);
      return;
    case cxl::D2hReq::kClFlush:
    case cxl::D2hReq::kCacheFlushed:
      write_back(transaction, out);
      return;
  }
}

void HomeAgent::read_or_grant(std::uint32_t transaction, CxlOutput& out) {
  if (transactions_[transaction].has_line) {
    grant(transaction, out);
  } else {
    memory_.read(transaction, transactions_[transaction].address);
  }
}

/// GO and data leave at once, and no snoop of this line before its next request. [COH-3.6]
void HomeAgent::grant(std::uint32_t transaction, CxlOutput& out) {
  const Transaction& request = transactions_[transaction];
  LineHolders& holders = lines_.find(request.address)->holders;
  cxl::GoState state = request.is_error ? cxl::GoState::kError : cxl::GoState::kExclusive;
  if (!request.is_error &&
      (request.opcode == cxl::D2hReq::kRdShared ||
       (request.opcode == cxl::D2hReq::kRdAny && holders.all_but(request.port) != 0))) {
    state = cxl::GoState::kShared;  // [COH-3.5]
  }
  if (request.is_orphan) {
    write_back(transaction, out);
    return;
  }
  if (request.opcode != cxl::D2hReq::kRdCurr) {  // no state follows from it, and it has no GO
    if (request.is_error) {
      holders.remove(request.port);
    } else if (state == cxl::GoState::kShared) {
      holders.add_sharer(request.port);
    } else {
      holders.make_owner(request.port);
    }
    respond(transaction, cxl::H2dRsp::kGo, code(state), out);
  }
  if (request.opcode != cxl::D2hReq::kRdOwnNoData) {
    CxlOut& sent = send_to(request.port, CxlChannel::kH2dData, 0, request.cqid, out);
    sent.message.go_err = request.is_error;
    sent.line = request.line;
  }
  close_cqid(request);
  write_back(transaction, out);
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
    respond(transaction, cxl::H2dRsp::kGoWritePullDrop, 0, out);
  } else {
    respond(transaction, cxl::H2dRsp::kGo, code(cxl::GoState::kInvalid), out);
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
  respond(transaction, response, uqid, out);
}

void HomeAgent::pulled(std::uint32_t transaction, const CxlMessage& header, const CxlLine& line,
                       CxlOutput& out) {
  Transaction& request = transactions_[transaction];
  if (!is_eviction(request.opcode)) {
    if (header.bogus) {  // a write cannot be lost to a snoop
      bad_.add(BadMessage::kWrongAnswer);
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
  if (header.bogus == request.was_held) {
    bad_.add(BadMessage::kWrongAnswer);  // lost without a snoop, or kept in spite of it
  } else if (request.was_held && request.opcode == cxl::D2hReq::kDirtyEvict) {
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
  if (request.opcode == cxl::D2hReq::kWrInv || request.opcode == cxl::D2hReq::kClFlush) {
    respond(transaction, cxl::H2dRsp::kGo, code(cxl::GoState::kInvalid), out);
    close_cqid(request);
  } else if (request.opcode == cxl::D2hReq::kWoWrInv || request.opcode == cxl::D2hReq::kWoWrInvF) {
    respond(transaction, cxl::H2dRsp::kExtCmp, 0, out);
    close_cqid(request);
  } else if (listener_ != nullptr && request.had_go) {
    listener_->write_over(request.port, request.address, request.is_written);
  }
  Line& line = *lines_.find(request.address);
  if (line.waiting.first != kNobody) {
    const std::uint32_t next = pop(line.waiting);
    push(ready_, next);
    note_turn(next);
  } else {
    line.is_busy = false;
    if (line.holders.empty()) {
      lines_.erase(request.address);
    }
  }
  free_.push_back(transaction);
  --active_;
}

std::uint16_t HomeAgent::expect(std::uint32_t transaction, std::uint8_t port) {
  const std::uint16_t uqid = uqids_.acquire();
  expected_[uqid] = Expected{};
  expected_[uqid].transaction = transaction;
  expected_[uqid].port = port;
  return uqid;
}

void HomeAgent::respond(std::uint32_t transaction, cxl::H2dRsp response, std::uint16_t rsp_data,
                        CxlOutput& out) {
  const Transaction& request = transactions_[transaction];
  if (!request.is_orphan) {
    send_to(request.port, CxlChannel::kH2dRsp, response, request.cqid, out).message.rsp_data =
        rsp_data;
  }
}

}  // namespace flitwise
