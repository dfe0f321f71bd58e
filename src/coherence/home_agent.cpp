// SPDX-License-Identifier: Apache-2.0
// What comes to a home: requests take their turn, answers and data find what waits for them.
#include "coherence/home_agent.h"

#include <algorithm>

#include "coherence/cache_rules.h"

namespace flitwise {
namespace {

bool is_known(cxl::D2hReq opcode) {
  return (opcode >= cxl::D2hReq::kRdCurr && opcode <= cxl::D2hReq::kWrInv) ||
         opcode == cxl::D2hReq::kCacheFlushed;
}

bool is_known(cxl::D2hRsp opcode) {
  switch (opcode) {
    case cxl::D2hRsp::kRspIHitI:
    case cxl::D2hRsp::kRspVHitV:
    case cxl::D2hRsp::kRspIHitSE:
    case cxl::D2hRsp::kRspSHitSE:
    case cxl::D2hRsp::kRspSFwdM:
    case cxl::D2hRsp::kRspIFwdM:
    case cxl::D2hRsp::kRspVFwdV:
      return true;
  }
  return false;
}

}  // namespace

HomeAgent::HomeAgent(const HomeAgentConfig& config, LineMemory& memory, HomeListener* listener)
    : config_(config),
      memory_(memory),
      listener_(listener),
      max_active_(std::max(config.uqids / config.ports, 1U)),
      uqids_(config.uqids),
      expected_(config.uqids),
      cqids_(config.ports) {}

LineHolders HomeAgent::holders(std::uint64_t line) const {
  const Line* const found = lines_.find(line);
  return found != nullptr ? found->holders : LineHolders{};
}

std::size_t HomeAgent::copies() const {
  std::size_t copies = 0;
  lines_.for_each([&copies](std::uint64_t, const Line& line) {
    copies += static_cast<std::size_t>(__builtin_popcount(line.holders.all()));
  });
  return copies;
}

void HomeAgent::receive(std::uint8_t port, const CxlMessage& message, const CxlLine& line,
                        CxlOutput& out) {
  if (message.channel == CxlChannel::kD2hReq) {
    requested(port, message, out);
  } else if (message.channel == CxlChannel::kD2hRsp) {
    answered(port, message, out);
  } else if (message.channel == CxlChannel::kD2hData) {
    data_came(port, message, line, out);
  } else {
    bad_.add(BadMessage::kWrongChannel);
  }
  start_ready(out);
}

void HomeAgent::requested(std::uint8_t port, const CxlMessage& request, CxlOutput& out) {
  const auto opcode = static_cast<cxl::D2hReq>(request.opcode);
  if (!is_known(opcode)) {
    bad_.add(BadMessage::kUnknownOpcode);
    return;
  }
  if (line_of(request.address) != request.address) {
    bad_.add(BadMessage::kBadAddress);
    return;
  }
  if (request.id >= kCxlIds || cqids_[port].test(request.id)) {
    bad_.add(BadMessage::kIdInUse);
    return;
  }
  cqids_[port].set(request.id);
  const std::uint32_t transaction = open(port, request);
  if (opcode == cxl::D2hReq::kCacheFlushed) {  // of no line: nothing to wait for
    respond(transaction, cxl::H2dRsp::kGo, static_cast<std::uint16_t>(cxl::GoState::kInvalid), out);
    close_cqid(transactions_[transaction]);
    free_.push_back(transaction);
    return;
  }
  Line& line = lines_[request.address];
  push(line.is_busy ? line.waiting : ready_, transaction);  // [COH-3.2]
  if (!line.is_busy) {
    note_turn(transaction);
  }
  line.is_busy = true;
}

std::uint32_t HomeAgent::open(std::uint8_t port, const CxlMessage& request) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(transactions_.size()));
    transactions_.emplace_back();
  }
  const std::uint32_t index = free_.back();
  free_.pop_back();
  Transaction& transaction = transactions_[index];
  transaction = Transaction{};
  transaction.opcode = static_cast<cxl::D2hReq>(request.opcode);
  transaction.port = port;
  transaction.cqid = request.id;
  transaction.address = request.address;
  return index;
}

void HomeAgent::push(Queue& queue, std::uint32_t transaction) {
  transactions_[transaction].next = kNobody;
  if (queue.first == kNobody) {
    queue.first = transaction;
  } else {
    transactions_[queue.last].next = transaction;
  }
  queue.last = transaction;
}

std::uint32_t HomeAgent::pop(Queue& queue) {
  const std::uint32_t first = queue.first;
  queue.first = transactions_[first].next;
  return first;
}

void HomeAgent::note_turn(std::uint32_t transaction) {
  if (listener_ != nullptr) {
    listener_->has_turn(transaction);
  }
}

void HomeAgent::start_ready(CxlOutput& out) {
  while (ready_.first != kNobody && active_ < max_active_) {
    ++active_;
    const std::uint32_t transaction = pop(ready_);
    if (listener_ != nullptr) {
      listener_->is_at_work(transactions_[transaction].port, transaction);
    }
    start(transaction, out);
  }
}

bool HomeAgent::is_expected(std::uint8_t port, std::uint16_t uqid) const {
  return uqids_.is_out(uqid) && expected_[uqid].port == port;
}

void HomeAgent::answered(std::uint8_t port, const CxlMessage& response, CxlOutput& out) {
  const auto opcode = static_cast<cxl::D2hRsp>(response.opcode);
  if (!is_known(opcode)) {
    bad_.add(BadMessage::kUnknownOpcode);
    return;
  }
  if (!is_expected(port, response.id)) {
    bad_.add(BadMessage::kUnknownId);
    return;
  }
  Expected& expected = expected_[response.id];
  if (expected.is_pull || expected.has_response) {
    bad_.add(BadMessage::kWrongAnswer);
    return;
  }
  expected.has_response = true;
  note_kept(port, opcode, expected);
  Transaction& transaction = transactions_[expected.transaction];
  if (brings_line(opcode)) {
    transaction.has_line = true;
    transaction.is_dirty = transaction.is_dirty || opcode != cxl::D2hRsp::kRspVFwdV;
    if (!expected.has_data) {
      return;  // they are still to come
    }
    transaction.line = expected.line;
  } else if (expected.has_data) {
    bad_.add(BadMessage::kUnawaitedData);
  }
  snoop_done(response.id, out);
}

/// Whoever keeps what it was told to give up is taken at the home's word. [COH-7.2]
void HomeAgent::note_kept(std::uint8_t port, cxl::D2hRsp response, const Expected& expected) {
  const bool keeps_all = response == cxl::D2hRsp::kRspVHitV || response == cxl::D2hRsp::kRspVFwdV;
  const bool keeps_copy = response == cxl::D2hRsp::kRspSHitSE || response == cxl::D2hRsp::kRspSFwdM;
  const bool may_keep_all = expected.snoop == cxl::H2dReq::kSnpCur;
  const bool may_keep_copy = expected.snoop != cxl::H2dReq::kSnpInv;
  if ((keeps_all && !may_keep_all) || (keeps_copy && !may_keep_copy)) {
    bad_.add(BadMessage::kWrongAnswer);
  }
  if (keeps_all && may_keep_all) {
    return;
  }
  LineHolders& holders = lines_.find(transactions_[expected.transaction].address)->holders;
  holders.remove(port);
  if ((keeps_all || keeps_copy) && may_keep_copy) {
    holders.add_sharer(port);
  }
}

void HomeAgent::data_came(std::uint8_t port, const CxlMessage& header, const CxlLine& line,
                          CxlOutput& out) {
  if (!is_expected(port, header.id)) {
    bad_.add(BadMessage::kUnknownId);
    return;
  }
  Expected& expected = expected_[header.id];
  const std::uint32_t transaction = expected.transaction;
  if (expected.is_pull) {
    uqids_.release(header.id);
    pulled(transaction, header, line, out);
    return;
  }
  if (expected.has_data) {
    bad_.add(BadMessage::kUnawaitedData);
    return;
  }
  expected.has_data = true;
  if (!expected.has_response) {
    expected.line = line;  // no order between the channels [COH-1.5]
    return;
  }
  transactions_[transaction].line = line;
  snoop_done(header.id, out);
}

void HomeAgent::snoop_done(std::uint16_t uqid, CxlOutput& out) {
  const std::uint32_t transaction = expected_[uqid].transaction;
  uqids_.release(uqid);
  if (--transactions_[transaction].snoops == 0) {
    resolve(transaction, out);
  }
}

void HomeAgent::memory_read(std::uint32_t token, const CxlLine& line, CxlOutput& out,
                            bool is_error) {
  transactions_[token].line = line;
  transactions_[token].is_error = is_error;
  transactions_[token].has_line = true;
  grant(token, out);
  start_ready(out);
}

void HomeAgent::memory_written(std::uint32_t token, CxlOutput& out) {
  finish(token, out);
  start_ready(out);
}

}  // namespace flitwise
