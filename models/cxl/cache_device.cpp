// SPDX-License-Identifier: Apache-2.0
// A device cache at its link.
#include "cxl/cache_device.h"

#include <fmt/format.h>

#include <algorithm>

#include "coherence/cache_rules.h"

namespace flitwise {
namespace {

DeviceCacheConfig rules_for(const CxlCacheConfig& cache, std::uint8_t cache_id) {
  DeviceCacheConfig rules;
  rules.ways = cache.ways;
  rules.sets = static_cast<std::uint32_t>(cache.size / kCxlLineBytes / cache.ways);
  rules.cqids = cache.requests;
  rules.cache_id = cache_id;
  rules.offers_clean_evictions = cache.offers_clean_evictions;
  return rules;
}

CoreOp read_of(CxlCacheRead read) {
  switch (read) {
    case CxlCacheRead::kShared:
      return CoreOp::kRead;
    case CxlCacheRead::kAny:
      return CoreOp::kReadAny;
    case CxlCacheRead::kCurrent:
      return CoreOp::kReadOnce;
  }
  return CoreOp::kRead;
}

CoreOp write_of(CxlCacheWrite write) {
  switch (write) {
    case CxlCacheWrite::kOwn:
      return CoreOp::kWrite;
    case CxlCacheWrite::kThrough:
      return CoreOp::kWriteThrough;
    case CxlCacheWrite::kPosted:
      return CoreOp::kWritePosted;
  }
  return CoreOp::kWrite;
}

// A request that gives a line up.
bool is_eviction(const CxlMessage& message) {
  return message.channel == CxlChannel::kD2hReq &&
         flitwise::is_eviction(static_cast<cxl::D2hReq>(message.opcode));
}

}  // namespace

CxlCacheDevice::CxlCacheDevice(const sc_core::sc_module_name& name, const Config& config,
                               std::uint8_t cache_id, PacketPool& pool, LatencyTracer& tracer,
                               LineStateListener* listener)
    : sc_module(name),
      config_(config),
      pool_(pool),
      tracer_(tracer),
      wakeup_("wakeup", config.device.timing.clock),
      rules_(rules_for(config.device.cxl.cache, cache_id), listener) {
  from_link.register_nb_transport_fw(this, &CxlCacheDevice::receive, 0);
  to_link.register_nb_transport_bw(this, &CxlCacheDevice::link_has_room, 0);
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  wakeup_.wakes(options);
  sc_core::sc_spawn([this] { work(); }, "work_process", &options);
}

// The core asks in order: a line that cannot be had now holds up those behind it until something
// comes back.
void CxlCacheDevice::work() {
  wakeup_.taken();
  const Time t = now();
  unsigned asked = 0;
  while (!is_down_ && transfers_.has_line(t)) {
    if (asked == config_.device.cxl.cache.lines_per_clock) {
      wakeup_.at(t + Time{1});
      return;
    }
    const CoreRequest request = core_request(free_token());
    if (!rules_.accepts(request)) {
      return;
    }
    ask(request);
    ++asked;
  }
  if (const Time next = transfers_.next_at(); !is_down_ && next != Time::never()) {
    wakeup_.at(next);
  }
}

std::uint32_t CxlCacheDevice::free_token() {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(operations_.size()));
    operations_.emplace_back();
  }
  return free_.back();
}

CoreRequest CxlCacheDevice::core_request(std::uint32_t token) {
  const LineTransfers::Line& line = transfers_.line();
  const bool is_read = transfers_.transfer(line.transfer).op == Op::kRead;
  CoreRequest request;
  request.op =
      is_read ? read_of(config_.device.cxl.cache.read) : write_of(config_.device.cxl.cache.write);
  request.token = token;
  request.address = line.address;
  if (!is_read) {
    request.byte_enables = line.byte_enables;
  }
  return request;
}

void CxlCacheDevice::ask(const CoreRequest& wanted) {
  const LineTransfers::Line line = transfers_.line();
  const Transfer& transfer = transfers_.transfer(line.transfer);
  CoreRequest request = wanted;
  if (request.is_write()) {
    transfers_.fill(request.line);
  }
  Operation& operation = operations_[request.token];
  free_.pop_back();
  operation.packet = pool_.make(PacketKind::kCxl);
  operation.packet->domain = transfer.domain;
  operation.packet->counts = transfer.counts;
  operation.packet->ends_request = line.is_last;
  operation.packet->stamp(Hop::kIssue, transfer.issue);
  operation.packet->stamp(Hop::kHandle, now());
  operation.line = line;
  operation.is_out = true;
  transfers_.take();
  ++(request.is_write() ? done_.writes : done_.reads);
  asking_ = operation.packet;
  asking_->cxl->byte_enables = line.byte_enables;
  counts_ = transfer.counts;
  rules_.request(request, out_, results_);
  done_.hits += results_.empty() ? 0 : 1;
  send_all();
  asking_.reset();
  take_results();
}

// What the core asks for travels in its own packet; an eviction that makes room for it does not.
void CxlCacheDevice::send_all() {
  const Time ready = now() + config_.device.cxl.cache.lookup;
  for (const CxlOut& out : out_) {
    count_sent(out.message);
    const bool is_asked =
        asking_ && out.message.channel == CxlChannel::kD2hReq && !is_eviction(out.message);
    PacketRef packet = is_asked ? asking_ : cxl_packet(pool_, out, counts_);
    if (is_asked) {
      const std::uint64_t asked = packet->cxl->byte_enables;  // not on the wire
      *packet->cxl = out.message;
      packet->cxl->byte_enables = asked;
      packet->cxl->identity = identity_ ? identity_(packet->domain) : 0;
    }
    outbox_.send(std::move(packet), ready,
                 [this](const Outbox::Entry& entry) { return hand_over(entry); });
  }
  out_.clear();
}

void CxlCacheDevice::count_sent(const CxlMessage& message) {
  if (is_eviction(message)) {
    ++done_.evictions;
  } else if (message.channel == CxlChannel::kD2hRsp) {
    ++done_.snoops;
    done_.snoops_modified += brings_line(static_cast<cxl::D2hRsp>(message.opcode)) ? 1 : 0;
  } else if (message.channel == CxlChannel::kD2hData) {
    ++(message.bogus ? done_.bogus : lines_sent_);
  }
}

bool CxlCacheDevice::hand_over(const Outbox::Entry& entry) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = to_sc_time(entry.ready > now() ? entry.ready - now() : Time{});
  return is_taken(to_link->nb_transport_fw(*entry.packet, phase, delay));
}

tlm::tlm_sync_enum CxlCacheDevice::link_has_room(int /*id*/, Packet& /*packet*/,
                                                 tlm::tlm_phase& /*phase*/,
                                                 sc_core::sc_time& /*delay*/) {
  outbox_.drain([this](const Outbox::Entry& entry) { return hand_over(entry); });
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum CxlCacheDevice::receive(int /*id*/, Packet& packet, tlm::tlm_phase& /*phase*/,
                                           sc_core::sc_time& /*delay*/) {
  counts_ = packet.counts;
  rules_.receive(*packet.cxl, line_with(packet), out_, results_);
  send_all();
  take_results();
  wakeup_.at(now());
  return tlm::TLM_COMPLETED;
}

void CxlCacheDevice::take_results() {
  const Time done = now() + config_.device.cxl.cache.lookup;
  for (const CoreResult& result : results_) {
    const Operation& operation = operations_[result.token];
    answered_bytes_ += operation.line.bytes();
    if (result.is_error) {
      ++errors_["cxl_request_refused"];
    } else if (transfers_.transfer(operation.line.transfer).op == Op::kRead) {
      tracer_.read_completed(*operation.packet, operation.packet->stamped(Hop::kIssue), done);
      transfers_.data(operation.line, result.line);
    } else {
      operation.packet->stamp(Hop::kMemory, done);
      tracer_.write_committed(*operation.packet);
    }
    end(result.token, result.is_error ? TransferStatus::kUnsupportedRequest : TransferStatus::kDone,
        done);
  }
  results_.clear();
}

void CxlCacheDevice::end(std::uint32_t token, TransferStatus status, Time when) {
  Operation& operation = operations_[token];
  operation.packet.reset();
  operation.is_out = false;
  free_.push_back(token);
  last_completion_ = std::max(last_completion_, when);
  transfers_.done(operation.line, status, when);
}

void CxlCacheDevice::link_lost(std::uint64_t lines_received) {
  is_down_ = true;
  outbox_.clear();
  const std::uint64_t held = rules_.lose_all();
  if (const std::uint64_t lost = held + lines_sent_ - lines_received; lost > 0) {
    errors_["cxl_line_lost"] += lost;
  }
  lines_sent_ = 0;
  for (std::uint32_t token = 0; token < operations_.size(); ++token) {
    if (operations_[token].is_out) {
      ++errors_["cxl_request_lost"];
      lost_bytes_ += operations_[token].line.bytes();
      end(token, TransferStatus::kTimeout, now());
    }
  }
}

void CxlCacheDevice::link_up() {
  is_down_ = false;
  wakeup_.at(now());
}

std::string CxlCacheDevice::waiting() const {
  return is_quiet() ? ""
                    : fmt::format("{}: {} lines wait for the home, {} CXL.cache requests are out\n",
                                  name(), transfers_.lines_out(), rules_.outstanding());
}

std::map<std::string, std::uint64_t> CxlCacheDevice::errors() const {
  std::map<std::string, std::uint64_t> errors = errors_;
  if (const std::uint64_t bad = rules_.bad_messages().total(); bad > 0) {
    errors["unexpected_cxl_message"] += bad;
  }
  return errors;
}

std::vector<CheckResult> CxlCacheDevice::checks() const {
  if (!is_quiet()) {
    return {};
  }
  return {{std::string(name()) + ": every byte asked of the cache was answered or lost",
           transfers_.asked_bytes() == answered_bytes_ + lost_bytes_,
           fmt::format("{} asked for, {} answered, {} lost with the link", transfers_.asked_bytes(),
                       answered_bytes_, lost_bytes_)}};
}

CxlCacheResult CxlCacheDevice::result() const {
  CxlCacheResult result = done_;
  result -= window_;
  result.device = basename();
  return result;
}

}  // namespace flitwise
