// SPDX-License-Identifier: Apache-2.0
// The core's side of a cache: hits, requests, evictions.
#include "coherence/device_cache.h"

#include "coherence/cache_rules.h"

namespace flitwise {

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
  const auto unless_held = [is_held](cxl::D2hReq opcode) {
    return is_held ? std::nullopt : std::optional(opcode);
  };
  switch (request.op) {
    case CoreOp::kRead:
      return unless_held(cxl::D2hReq::kRdShared);
    case CoreOp::kReadAny:
      return unless_held(cxl::D2hReq::kRdAny);
    case CoreOp::kReadOnce:
      return unless_held(cxl::D2hReq::kRdCurr);
    case CoreOp::kWrite:
    case CoreOp::kWriteThrough:
    case CoreOp::kWritePosted:
      return opcode_of_write(request, state);
    case CoreOp::kEvict:
      return is_held ? std::optional(opcode_of_eviction(state)) : std::nullopt;
    case CoreOp::kFlush:
      return cxl::D2hReq::kClFlush;
    case CoreOp::kFlushed:
      return cxl::D2hReq::kCacheFlushed;
  }
  return std::nullopt;
}

std::optional<cxl::D2hReq> DeviceCache::opcode_of_write(const CoreRequest& request,
                                                        LineState state) const {
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

cxl::D2hReq DeviceCache::opcode_of_eviction(LineState state) const {
  if (state == LineState::kModified) {
    return cxl::D2hReq::kDirtyEvict;
  }
  return config_.offers_clean_evictions ? cxl::D2hReq::kCleanEvict : cxl::D2hReq::kCleanEvictNoData;
}

CoreObstacle DeviceCache::obstacle(const CoreRequest& request, std::size_t held) const {
  const std::uint64_t line = line_of(request.address);
  if (request.op == CoreOp::kFlushed) {
    return array_.lines_held() == 0 && outstanding() == 0 ? CoreObstacle::kNone
                                                          : CoreObstacle::kLine;
  }
  if (busy_.find(line) != nullptr) {
    return CoreObstacle::kLine;  // one request a line [COH-2.4]
  }
  const std::optional<cxl::D2hReq> opcode = opcode_for(request);
  if (!opcode) {
    return CoreObstacle::kNone;
  }
  std::size_t ids = 1;
  if (is_allocating(*opcode) && array_.find(line) == nullptr) {
    const Way* const room = array_.room_for(line);
    if (room == nullptr) {
      return CoreObstacle::kLine;
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
    make_room(line, out);
    way = array_.room_for(line);
    way->line = line;
  }
  if (way != nullptr) {
    way->is_reserved = true;
  }
  send_request(*opcode, request, true, out);
}

/// The victim leaves its way at once and waits in its transaction for the host. [COH-2.2]
void DeviceCache::make_room(std::uint64_t line, CxlOutput& out) {
  Way* const victim = array_.room_for(line);
  if (!victim->is_free()) {
    CoreRequest eviction;
    eviction.op = CoreOp::kEvict;
    eviction.address = victim->line;
    start_eviction(*victim, eviction, false, out);
  }
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
  Transaction& transaction = transactions_[cqid];
  transaction = Transaction{};
  transaction.opcode = opcode;
  transaction.request = request;
  transaction.is_of_core = is_of_core;
  CxlOut& sent = add_message(out, CxlChannel::kD2hReq, opcode, cqid);
  sent.message.cache_id = config_.cache_id;
  if (opcode != cxl::D2hReq::kCacheFlushed) {  // of no line
    sent.message.address = line_of(request.address);
    busy_[line_of(request.address)] = cqid;
  }
  return cqid;
}

}  // namespace flitwise
