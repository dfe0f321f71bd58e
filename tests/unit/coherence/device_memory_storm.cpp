// SPDX-License-Identifier: Apache-2.0
// The storm on device memory: issue, deliver, compare.
#include "unit/coherence/device_memory_storm.h"

#include <fmt/format.h>

namespace flitwise::test {
namespace {
constexpr std::uint32_t kMemTokens = 4;
constexpr std::uint64_t kMemPatience = 100'000;
}  // namespace

std::string MemStormReport::text() const {
  return fmt::format(
      "completed {} failed {} stale {} lost_writes {} two_owners {} bad {} left_over {} overlaps "
      "{} "
      "stuck {}; early {} late {} write_backs {} snoops {}",
      completed, failed, stale, lost_writes, two_owners, bad_messages, left_over, overlaps,
      is_stuck, early, late, write_backs, snoops);
}

MemStorm::MemStorm(const MemStormConfig& config)
    : config_(config),
      random_(config.seed),
      network_(1, random_),
      host_told_(monitor_, 0),
      device_told_(monitor_, 1),
      host_({config.sets, config.ways, config.ids}, &host_told_),
      device_({config.sets, config.ways, config.ids, std::uint64_t{config.lines} * kCxlLineBytes},
              slow_, &device_told_),
      lines_(config.lines) {
  for (Core& core : cores_) {
    core.requests.resize(kMemTokens);
    core.issued.resize(kMemTokens);
    for (std::uint32_t token = 0; token < kMemTokens; ++token) {
      core.tokens.push_back(token);
    }
  }
}

MemStormReport MemStorm::run() {
  std::uint64_t quiet = 0;
  while (started_ < config_.operations && quiet < kMemPatience) {
    const std::uint64_t before = started_ + network_.delivered();
    issue(random_() % 2 == 0);
    step();
    quiet = started_ + network_.delivered() == before ? quiet + 1 : 0;
  }
  drain();
  empty_host();
  judge_end();
  return report_;
}

void MemStorm::issue(bool is_host) {
  Core& core = cores_[is_host ? 0 : 1];
  if (core.tokens.empty()) {
    return;
  }
  static constexpr CoreOp kMix[] = {CoreOp::kRead,  CoreOp::kReadAny, CoreOp::kReadOnce,
                                    CoreOp::kWrite, CoreOp::kWrite,   CoreOp::kEvict};
  CoreRequest request;
  request.op = kMix[random_() % std::size(kMix)];
  request.token = core.tokens.back();
  request.address = random_() % config_.lines * kCxlLineBytes;
  if (request.op == CoreOp::kWrite) {
    const unsigned mask = random_() % 4 == 0 ? 0xff : static_cast<unsigned>(random_() & 0xff);
    request.byte_enables = enables_of(mask);
    request.line = line_of_value(++values_);
  }
  if ((is_host ? host_.obstacle(request) : device_.obstacle(request)) != CoreObstacle::kNone) {
    return;
  }
  core.tokens.pop_back();
  core.requests[request.token] = request;
  core.issued[request.token] = ++clock_;
  ++started_;
  is_host ? host_.request(request, out_, done_) : device_.request(request, out_, done_);
  send_all();
  take_results(is_host);
}

void MemStorm::step() {
  ++clock_;
  if (const std::optional<CxlOut> message = network_.deliver(clock_)) {
    if (!swallows(*message)) {
      deliver(*message);
    }
  }
  if (!slow_.empty() && random_() % 2 == 0) {
    const SlowMemory::Request done = slow_.complete(random_() % slow_.requests.size());
    if (done.is_read) {
      device_.memory_read(done.token, done.data, out_, done_);
    } else {
      device_.memory_written(done.token, out_, done_);
    }
    send_all();
    take_results(false);
  }
}

void MemStorm::deliver(const CxlOut& message) {
  const CxlChannel channel = message.message.channel;
  const bool is_for_host = channel == CxlChannel::kS2mNdr || channel == CxlChannel::kS2mDrs ||
                           channel == CxlChannel::kS2mBiSnp;
  if (is_for_host) {
    host_.receive(message.message, message.line, out_, done_);
  } else {
    device_.receive(message.message, message.line, out_, done_);
  }
  send_all();
  take_results(is_for_host);
}

bool MemStorm::swallows(const CxlOut& message) {
  const CxlMessage& header = message.message;
  if (config_.fault == MemFault::kIgnoredBackInvalidation &&
      header.channel == CxlChannel::kS2mBiSnp && random_() % 8 == 0) {
    CxlOut answer;
    answer.message.channel = CxlChannel::kM2sBiRsp;
    answer.message.opcode = static_cast<std::uint8_t>(cxl::M2sBiRsp::kBiRspI);
    answer.message.id = header.id;
    network_.send(answer);
    return true;
  }
  if (config_.fault == MemFault::kWrongConflictOrder && header.channel == CxlChannel::kM2sRwd &&
      static_cast<cxl::M2sRwd>(header.opcode) == cxl::M2sRwd::kBiConflict) {
    // As if the device had answered on a channel of its own, ahead of all its Cmp.
    CxlMessage ack = header;
    ack.channel = CxlChannel::kS2mNdr;
    ack.opcode = static_cast<std::uint8_t>(cxl::S2mNdr::kBiConflictAck);
    host_.receive(ack, {}, out_, done_);
    send_all();
    take_results(true);
    return true;
  }
  if (config_.fault == MemFault::kLostSnoopAnswer && header.channel == CxlChannel::kM2sBiRsp &&
      faults_ == 0) {
    ++faults_;
    return true;
  }
  return false;
}

void MemStorm::send_all() {
  for (const CxlOut& sent : out_) {
    report_.snoops += sent.message.channel == CxlChannel::kS2mBiSnp ? 1U : 0U;
    report_.write_backs +=
        sent.message.channel == CxlChannel::kM2sRwd && sent.message.id >= HostLines::kWriteBackTag
            ? 1U
            : 0U;
    network_.send(sent);
  }
  out_.clear();
}

void MemStorm::take_results(bool is_host) {
  Core& core = cores_[is_host ? 0 : 1];
  for (const CoreResult& result : done_) {
    ++clock_;
    ++report_.completed;
    report_.failed += result.is_error ? 1U : 0U;
    core.tokens.push_back(result.token);
    LineHistory& line = lines_[result.address / kCxlLineBytes];
    if (result.op == CoreOp::kReadOnce) {
      report_.stale += line.was(result.line, core.issued[result.token], clock_) ? 0U : 1U;
    } else if (result.op != CoreOp::kEvict) {
      if (result.op == CoreOp::kWrite) {
        const CoreRequest& write = core.requests[result.token];
        line.write(clock_, write.line, write.byte_enables);
      }
      report_.stale += result.line == line.newest() ? 0U : 1U;
    }
  }
  done_.clear();
}

bool MemStorm::is_idle() const {
  return network_.empty() && slow_.empty() && host_.outstanding() == 0 &&
         device_.outstanding() == 0;
}

void MemStorm::drain() {
  std::uint64_t quiet = 0;
  while (!is_idle() && quiet < kMemPatience) {
    const std::uint64_t before = network_.delivered();
    step();
    quiet = network_.delivered() == before ? quiet + 1 : 0;
  }
  report_.is_stuck = report_.is_stuck || !is_idle();
}

/// Host and device give up all lines, so that memory has to have them.
void MemStorm::empty_host() {
  for (std::uint64_t i = 0; i < 2 * config_.lines && !report_.is_stuck; ++i) {
    const bool is_host = i < config_.lines;
    CoreRequest eviction;
    eviction.op = CoreOp::kEvict;
    eviction.token = cores_[is_host ? 0 : 1].tokens.back();
    eviction.address = i % config_.lines * kCxlLineBytes;
    cores_[is_host ? 0 : 1].tokens.pop_back();
    ++started_;
    is_host ? host_.request(eviction, out_, done_) : device_.request(eviction, out_, done_);
    send_all();
    take_results(is_host);
    drain();
  }
}

void MemStorm::judge_end() {
  for (std::uint64_t i = 0; i < config_.lines; ++i) {
    const std::uint64_t line = i * kCxlLineBytes;
    report_.lost_writes += slow_.lines[line] == lines_[i].newest() ? 0U : 1U;
    report_.left_over += device_.host_state(line) == cxl::MetaValue::kInvalid ? 0U : 1U;
  }
  report_.left_over += network_.sent() - network_.delivered() + host_.outstanding() +
                       device_.outstanding() + device_.bitags_out() +
                       (report_.completed == started_ ? 0U : 1U);
  report_.bad_messages = host_.bad_messages().total() + device_.bad_messages().total();
  report_.two_owners = monitor_.count();
  report_.overlaps = slow_.overlaps;
  report_.early = host_.early_conflicts();
  report_.late = host_.late_conflicts();
}

}  // namespace flitwise::test
