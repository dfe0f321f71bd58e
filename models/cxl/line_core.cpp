// SPDX-License-Identifier: Apache-2.0
// A core with its lines.
#include "cxl/line_core.h"

namespace flitwise {

// One wait is over, another begins where something else is in the way.
void LineCore::meet(CoreObstacle obstacle, Time now) {
  if (obstacle_ != CoreObstacle::kNone) {
    waits_[static_cast<std::size_t>(obstacle_)].add(met_at_, now);
  }
  obstacle_ = obstacle;
  met_at_ = now;
}

void LineCore::start_window(Time now) {
  for (WaitBook& one : waits_) {
    one.start_window(now);
  }
}

WaitResult LineCore::wait_for(CoreObstacle obstacle, Resource resource) const {
  return waits_[static_cast<std::size_t>(obstacle)].result(std::move(resource));
}

// Requests for more lines meet at one less often.
std::vector<WaitResult> LineCore::waits(const Resource& ids, const char* size_key,
                                        WaitResult queues) const {
  const auto row = [&](CoreObstacle obstacle, const char* name, const char* key) {
    return wait_for(obstacle, {ids.at, name, ResourceRole::kSlots, ids.direction, "", key});
  };
  return {wait_for(CoreObstacle::kId, ids),
          row(CoreObstacle::kLine, "cxl_lines", "workload.buffer_size"),
          row(CoreObstacle::kWay, "cxl_ways", size_key), std::move(queues)};
}

// The next request, but for the bytes that it writes.
CoreRequest LineCore::wanted() {
  const LineTransfers::Line& line = transfers_.line();
  const bool is_read = transfers_.transfer(line.transfer).op == Op::kRead;
  CoreRequest request;
  request.op = is_read ? read_ : write_;
  request.token = operations_.next();
  request.address = line.address;
  request.domain = to_int(transfers_.transfer(line.transfer).domain);
  if (!is_read) {
    request.byte_enables = line.byte_enables;
  }
  return request;
}

// With its bytes; the packet is for the message that may carry it.
PacketRef LineCore::take(CoreRequest& request, Time now) {
  const LineTransfers::Line line = transfers_.line();
  const Transfer& transfer = transfers_.transfer(line.transfer);
  if (request.is_write()) {
    transfers_.fill(request.line);
  }
  Operation& operation = operations_[operations_.open()];
  operation.packet = pool_.make(PacketKind::kCxl);
  operation.packet->domain = transfer.domain;
  operation.packet->counts = transfer.counts;
  operation.packet->cxl->byte_enables = line.byte_enables;
  operation.packet->stamp(Hop::kIssue, transfer.issue);
  operation.packet->stamp(Hop::kHandle, now);
  operation.line = line;
  operation.address = line.address;
  operation.is_out = true;
  transfers_.take();
  return operation.packet;
}

void LineCore::finish(const CoreResult& result, Time done, bool is_answer) {
  Operation& operation = operations_[result.token];
  operation.is_out = false;
  operation.is_answer = is_answer;
  if (result.is_error) {
    ++refused_;
    operation.status = TransferStatus::kUnsupportedRequest;
  } else if (transfers_.transfer(operation.line.transfer).op == Op::kRead) {
    tracer_.line_read(*operation.packet);
    transfers_.reached(operation.line, done);
    transfers_.data(operation.line, result.line);
  } else if (result.is_at_home) {
    home_has(result.token, done);
  } else {
    written(operation, done);
  }
  if (operation.awaited == 1) {
    operation.packet.reset();
  }
  answers_ += is_answer ? 1 : 0;
  last_completion_ = std::max(last_completion_, done);
  ends_.add(result.token, done);
}

// Data that somebody else has sent are over before. With a GO that somebody else has sent a second
// write of a line may be here: it ends with that.
void LineCore::home_has(std::uint32_t token, Time done) {
  Operation& operation = operations_[token];
  const std::uint64_t line = operation.address;
  if (!operation.written_early.value_or(true)) {
    operation.status = TransferStatus::kTimeout;
  } else if (operation.written_early.has_value() || at_home_.find(line) != nullptr) {
    written(operation, done);
  } else {
    at_home_[line] = token;
    ++operation.awaited;
  }
}

void LineCore::written(Operation& operation, Time when) {
  operation.packet->stamp(Hop::kMemory, when);
  tracer_.line_written(*operation.packet);
  transfers_.reached(operation.line, when);
}

void LineCore::write_over(std::uint64_t line, bool is_written, Time when) {
  const std::uint32_t* const found = at_home_.find(line);
  if (found == nullptr) {
    note_early(line, is_written);
    return;
  }
  const std::uint32_t token = *found;
  at_home_.erase(line);
  Operation& operation = operations_[token];
  if (is_written) {
    written(operation, when);
  } else {
    operation.status = TransferStatus::kTimeout;
  }
  operation.packet.reset();
  last_completion_ = std::max(last_completion_, when);
  ends_.add(token, when);
}

// Only forged data come before their GO.
void LineCore::note_early(std::uint64_t line, bool is_written) {
  for (Operation& one : operations_) {
    if (one.is_out && one.address == line) {
      one.written_early = is_written;
    }
  }
}

Time LineCore::tell_engine(Time now) {
  while (ends_.is_due(now)) {
    const std::uint32_t token = ends_.take();
    answers_ -= operations_[token].is_answer ? 1 : 0;
    operations_[token].is_answer = false;
    if (--operations_[token].awaited == 0) {
      end(token, operations_[token].status, now);
    }
  }
  return ends_.next();
}

void LineCore::end(std::uint32_t token, TransferStatus status, Time when) {
  operations_.close(token);
  transfers_.done(operations_[token].line, status, when);
}

void LineCore::lose_all(Time now) {
  for (std::uint32_t token = 0; token < operations_.size(); ++token) {
    if (operations_[token].is_out) {
      ++lost_;
      operations_[token].packet.reset();
      operations_[token].is_out = false;
      last_completion_ = std::max(last_completion_, now);
      end(token, TransferStatus::kTimeout, now);
    }
  }
}

}  // namespace flitwise
