// SPDX-License-Identifier: Apache-2.0
// The core's side of a device's own memory: hits, back invalidations, memory.
#include "coherence/device_memory.h"

namespace flitwise {

DeviceMemory::DeviceMemory(const DeviceMemoryConfig& config, LineMemory& memory,
                           LineStateListener* listener)
    : config_(config),
      memory_(memory),
      array_(config.sets, config.ways, listener),
      bitags_(config.bitags),
      snoops_(config.bitags) {}

cxl::MetaValue DeviceMemory::host_state(std::uint64_t line) const {
  const Line* const found = lines_.find(line);
  return found != nullptr ? found->host : cxl::MetaValue::kInvalid;
}

std::size_t DeviceMemory::host_copies() const {
  std::size_t copies = 0;
  lines_.for_each([&copies](std::uint64_t, const Line& line) {
    copies += line.host != cxl::MetaValue::kInvalid ? 1 : 0;
  });
  return copies;
}

CoreObstacle DeviceMemory::obstacle(const CoreRequest& request) const {
  const std::uint64_t line = line_of(request.address);
  const auto is_busy = [this](std::uint64_t other) {
    const Line* const found = lines_.find(other);
    return found != nullptr && found->active != kNobody;
  };
  const bool is_known =
      request.op == CoreOp::kRead || request.op == CoreOp::kWrite || request.op == CoreOp::kEvict;
  if (!is_known || line >= config_.size) {
    return CoreObstacle::kNotKnown;
  }
  if (is_busy(line)) {
    return CoreObstacle::kLine;
  }
  if (request.op == CoreOp::kEvict) {
    return CoreObstacle::kNone;
  }
  if (bitags_.available() == 0 && snoop_for(request)) {
    return CoreObstacle::kId;
  }
  if (array_.find(line) != nullptr) {
    return CoreObstacle::kNone;
  }
  const Way* const room = array_.room_for(line);
  const bool has_way = room != nullptr && (room->is_free() || !is_busy(room->line));
  return has_way ? CoreObstacle::kNone : CoreObstacle::kWay;
}

/// What of the line the host has to give back first. [COH-6.1]
std::optional<cxl::S2mBiSnp> DeviceMemory::snoop_for(const CoreRequest& request) const {
  const cxl::MetaValue host = host_state(line_of(request.address));
  if (request.op == CoreOp::kWrite && host != cxl::MetaValue::kInvalid) {
    return cxl::S2mBiSnp::kBiSnpInv;
  }
  if (request.op == CoreOp::kRead && host == cxl::MetaValue::kAny) {
    return cxl::S2mBiSnp::kBiSnpData;
  }
  return std::nullopt;
}

void DeviceMemory::request(const CoreRequest& request, CxlOutput& out, CoreResults& done) {
  const std::uint64_t line = line_of(request.address);
  Way* const way = array_.find(line);
  const LineState own = array_.state(line);
  const bool is_hit = request.op == CoreOp::kRead    ? own != LineState::kInvalid
                      : request.op == CoreOp::kWrite ? is_owned(own)
                                                     : own != LineState::kModified;
  if (is_hit) {
    hit(request, done);
    return;
  }
  const std::uint32_t transaction = open(Kind::kCore, line);
  transactions_[transaction].request = request;
  take_turn(transaction);
  if (request.op == CoreOp::kEvict) {
    transactions_[transaction].request.line = way->data;
    array_.set_state(*way, LineState::kInvalid);
    memory_.write(transaction, line, transactions_[transaction].request.line, kAllBytes);
    return;
  }
  miss(transaction, out, done);
  start_ready(out);
}

void DeviceMemory::hit(const CoreRequest& request, CoreResults& done) {
  done.push_back(array_.hit(request));
  Way* const way = array_.find(line_of(request.address));
  if (way != nullptr && request.op == CoreOp::kEvict) {
    array_.set_state(*way, LineState::kInvalid);  // clean: memory has it
  }
}

/// A way for the line; what the host holds of it is taken back first. [COH-6.1]
void DeviceMemory::miss(std::uint32_t transaction, CxlOutput& out, CoreResults& done) {
  const std::uint64_t line = transactions_[transaction].line;
  Way* way = array_.find(line);
  if (way == nullptr) {
    way = array_.room_for(line);
    if (way->state == LineState::kModified) {
      const std::uint32_t victim = open(Kind::kVictim, way->line);
      transactions_[victim].request.line = way->data;
      take_turn(victim);
      memory_.write(victim, way->line, way->data, kAllBytes);
    }
    array_.set_state(*way, LineState::kInvalid);
    way->line = line;
  }
  way->is_reserved = true;
  if (const auto snoop = snoop_for(transactions_[transaction].request)) {
    const std::uint16_t bitag = bitags_.acquire();
    snoops_[bitag] = transaction;
    transactions_[transaction].is_snooping = true;
    add_message(out, CxlChannel::kS2mBiSnp, *snoop, bitag).message.address = line;
  } else {
    fetch(transaction, done);
  }
}

/// The host is out of the way: the line comes from its copy here or from memory.
void DeviceMemory::fetch(std::uint32_t transaction, CoreResults& done) {
  const Transaction& wanted = transactions_[transaction];
  const Way& way = *array_.find(wanted.line);
  const bool is_whole =
      wanted.request.op == CoreOp::kWrite && wanted.request.byte_enables == kAllBytes;
  if (is_whole || way.state != LineState::kInvalid) {
    fill(transaction, nullptr, done);
  } else {
    memory_.read(transaction, wanted.line);
  }
}

void DeviceMemory::fill(std::uint32_t transaction, const CxlLine* line, CoreResults& done) {
  const Transaction& wanted = transactions_[transaction];
  Way& way = *array_.find(wanted.line);
  way.is_reserved = false;
  if (line != nullptr) {
    way.data = *line;
  }
  const bool is_alone = lines_[wanted.line].host == cxl::MetaValue::kInvalid;
  array_.set_state(way, is_alone ? LineState::kExclusive : LineState::kShared);
  hit(wanted.request, done);
  finish(transaction);
}

void DeviceMemory::memory_read(std::uint32_t token, const CxlLine& line, CxlOutput& out,
                               CoreResults& done) {
  if (transactions_[token].kind == Kind::kCore) {
    fill(token, &line, done);
  } else {
    if (!transactions_[token].is_lost) {
      answer(token, &line, out);
    }
    finish(token);
  }
  start_ready(out);
}

void DeviceMemory::memory_written(std::uint32_t token, CxlOutput& out, CoreResults& done) {
  const Transaction& written = transactions_[token];
  if (written.kind == Kind::kCore) {
    done.push_back({written.request.op, written.request.token, written.request.address, false,
                    written.request.line});
  } else if (written.kind != Kind::kVictim && !written.is_lost) {
    answer(token, nullptr, out);
  }
  finish(token);
  start_ready(out);
}

void DeviceMemory::start_ready(CxlOutput& out) {
  while (!ready_.empty()) {
    const std::uint32_t next = ready_.back();
    ready_.pop_back();
    start(next, out);
  }
}

std::uint32_t DeviceMemory::open(Kind kind, std::uint64_t line) {
  const std::uint32_t index = transactions_.open();
  transactions_[index].kind = kind;
  transactions_[index].line = line;
  return index;
}

void DeviceMemory::take_turn(std::uint32_t transaction) {
  lines_[transactions_[transaction].line].active = transaction;
  transactions_[transaction].has_turn = true;
  transactions_[transaction].is_waiting = false;
}

void DeviceMemory::finish(std::uint32_t transaction) {
  const bool had_turn = transactions_[transaction].has_turn;
  const std::uint64_t address = transactions_[transaction].line;
  transactions_.close(transaction);
  if (!had_turn) {
    return;
  }
  Line& line = lines_[address];
  line.active = kNobody;
  if (!line.waiting.empty()) {
    const std::uint32_t next = transactions_.pop(line.waiting);
    take_turn(next);
    ready_.push_back(next);
  } else if (line.host == cxl::MetaValue::kInvalid) {
    lines_.erase(address);
  }
}

}  // namespace flitwise
