// SPDX-License-Identifier: Apache-2.0
// What comes to a home: requests take their turn, answers and data find what waits for them.
#include "coherence/home_agent.h"

#include <algorithm>

#include "coherence/cache_rules.h"

namespace flitwise {
namespace {

bool is_known(cxl::D2hRsp opcode) {
  switch (opcode) {
    case cxl::D2hRsp::kRspIHitI:
    case cxl::D2hRsp::kRspVHitV:
    case cxl::D2hRsp::kRspIHitSE:
    case cxl::D2hRsp::kRspSHitSE:
    case cxl::D2hRsp::kRspSFwdM:
    case cxl::D2hRsp::kRspIFwdM:
    case cxl::D2hRsp::kRspVFwdV: return true;
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
                        CxlOutput& out, const RequestPermit& permit) {
  if (message.channel == CxlChannel::kD2hReq) {
    requested(port, message, permit, out);
  } else if (message.channel == CxlChannel::kD2hRsp) {
    answered(port, message, out);
  } else if (message.channel == CxlChannel::kD2hData) {
    data_came(port, message, line, out);
  } else {
    bad_.add(BadMessage::kWrongChannel);
  }
  start_ready(out);
}

void HomeAgent::requested(std::uint8_t port, const CxlMessage& request, const RequestPermit& permit,
                          CxlOutput& out) {
  const auto opcode = static_cast<cxl::D2hReq>(request.opcode);
  if (bad_.add_if(rule_of(opcode).kind == RequestRule::Kind::kUnknown,
                  BadMessage::kUnknownOpcode) ||
      bad_.add_if(line_of(request.address) != request.address, BadMessage::kBadAddress) ||
      bad_.add_if(request.id >= kCxlIds || cqids_[port].test(request.id), BadMessage::kIdInUse)) {
    return;
  }
  cqids_[port].set(request.id);
  const std::uint32_t transaction = transactions_.open();
  Transaction& wanted = transactions_[transaction];
  wanted = {opcode, port, request.id, request.address};
  wanted.may_own = permit.rights.may_write;
  wanted.arrival = permit.arrival;
  if (opcode == cxl::D2hReq::kCacheFlushed) {  // of no line: nothing to wait for
    respond(wanted, cxl::H2dRsp::kGo, static_cast<std::uint16_t>(cxl::GoState::kInvalid), out);
    close_cqid(wanted);
    close(transaction);
    return;
  }
  if (!are_enough(opcode, permit.rights)) {
    wanted.is_refused = wanted.is_error = true;
    give_turn(transaction);  // its line has no part in it
    return;
  }
  want_line(transaction);
}

void HomeAgent::want_line(std::uint32_t transaction) {
  Line& line = lines_[transactions_[transaction].address];
  if (line.is_busy) {
    transactions_.push(line.waiting, transaction);  // [COH-3.2]
  } else {
    line.is_busy = true;
    give_turn(transaction);
  }
}

// Each line as a CLFlush takes it that nobody waits for. [COH-3.14]
void HomeAgent::recall(std::uint64_t from, std::uint64_t bytes, std::uint64_t arrival,
                       CxlOutput& out) {
  std::vector<std::uint64_t> held;
  lines_.for_each([&](std::uint64_t address, const Line& line) {
    if (address - from < bytes && !line.holders.empty()) {
      held.push_back(address);
    }
  });
  std::sort(held.begin(), held.end());
  for (const std::uint64_t address : held) {
    const std::uint32_t transaction = transactions_.open();
    Transaction& recalled = transactions_[transaction];
    recalled = {cxl::D2hReq::kClFlush, 0, 0, address};
    recalled.is_orphan = true;
    recalled.arrival = arrival;
    want_line(transaction);
  }
  start_ready(out);
}

bool HomeAgent::has_older_than(std::uint64_t arrival) const {
  return std::any_of(transactions_.begin(), transactions_.end(),
                     [arrival](const Transaction& one) { return one.arrival < arrival; });
}

void HomeAgent::give_turn(std::uint32_t transaction) {
  transactions_.push(ready_, transaction);
  if (listener_ != nullptr) {
    listener_->has_turn(transaction);
  }
}

void HomeAgent::start_ready(CxlOutput& out) {
  while (!ready_.empty() && active_ < max_active_) {
    ++active_;
    const std::uint32_t transaction = transactions_.pop(ready_);
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
  if (bad_.add_if(!is_known(opcode), BadMessage::kUnknownOpcode) ||
      bad_.add_if(!is_expected(port, response.id), BadMessage::kUnknownId)) {
    return;
  }
  Expected& expected = expected_[response.id];
  if (bad_.add_if(expected.is_pull || expected.has_response, BadMessage::kWrongAnswer)) {
    return;
  }
  expected.has_response = true;
  Transaction& transaction = transactions_[expected.transaction];
  // A sharer has nothing newer than memory, whatever it says. [COH-7.4]
  const bool is_owner = lines_.find(transaction.address)->holders.is_owner(port);
  const bool is_forged = bad_.add_if(brings_line(opcode) && !is_owner, BadMessage::kWrongAnswer);
  note_kept(port, opcode, expected);
  if (brings_line(opcode) && !is_forged) {
    transaction.has_line = true;
    transaction.is_dirty = transaction.is_dirty || opcode != cxl::D2hRsp::kRspVFwdV;
    if (!expected.has_data) {
      return;  // they are still to come
    }
    transaction.line = expected.line;
  } else {
    bad_.add_if(expected.has_data, BadMessage::kUnawaitedData);
  }
  snoop_done(response.id, out);
}

/// Whoever keeps what it was told to give up is taken at the home's word. [COH-7.2]
void HomeAgent::note_kept(std::uint8_t port, cxl::D2hRsp response, const Expected& expected) {
  const bool keeps_all = response == cxl::D2hRsp::kRspVHitV || response == cxl::D2hRsp::kRspVFwdV;
  const bool keeps_copy = response == cxl::D2hRsp::kRspSHitSE || response == cxl::D2hRsp::kRspSFwdM;
  const bool may_keep_all = expected.snoop == cxl::H2dReq::kSnpCur;
  const bool may_keep_copy = expected.snoop != cxl::H2dReq::kSnpInv;
  bad_.add_if((keeps_all && !may_keep_all) || (keeps_copy && !may_keep_copy),
              BadMessage::kWrongAnswer);
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
  if (bad_.add_if(!is_expected(port, header.id), BadMessage::kUnknownId)) {
    return;
  }
  Expected& expected = expected_[header.id];
  const std::uint32_t transaction = expected.transaction;
  if (expected.is_pull) {
    uqids_.release(header.id);
    pulled(transaction, header, line, out);
    return;
  }
  if (bad_.add_if(expected.has_data, BadMessage::kUnawaitedData)) {
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

/// Whatever waits for the cache goes on without. [COH-3.10]
void HomeAgent::port_lost(std::uint8_t port, CxlOutput& out) {
  for (Transaction& transaction : transactions_) {
    transaction.is_orphan = transaction.is_orphan || transaction.port == port;
  }
  std::vector<std::uint64_t> given_up;
  lines_.for_each([&](std::uint64_t address, Line& line) {
    line.holders.remove(port);
    if (line.holders.empty() && !line.is_busy) {
      given_up.push_back(address);
    }
  });
  for (const std::uint64_t address : given_up) {
    lines_.erase(address);
  }
  cqids_[port].reset();
  for (std::size_t id = 0; id < expected_.size(); ++id) {
    const auto uqid = static_cast<std::uint16_t>(id);
    if (!is_expected(port, uqid)) {
      continue;
    }
    // Data under way are lost: a pull writes nothing, and behind a snoop memory has the line as it
    // was.
    const std::uint32_t transaction = expected_[uqid].transaction;
    if (expected_[uqid].is_pull) {
      uqids_.release(uqid);
      write_back(transaction, out);
      continue;
    }
    if (expected_[uqid].has_response) {
      transactions_[transaction].has_line = false;
      transactions_[transaction].is_dirty = false;
    }
    snoop_done(uqid, out);
  }
  start_ready(out);
}

}  // namespace flitwise
