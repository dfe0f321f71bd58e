// SPDX-License-Identifier: Apache-2.0
// The storm: issue, deliver, compare.
#include "unit/coherence/coherence_storm.h"

#include <fmt/format.h>

#include <algorithm>

namespace flitwise::test {
namespace {

constexpr std::uint32_t kTokens = 4;          // operations that a core has out
constexpr std::uint64_t kPatience = 100'000;  // steps without a message until it is stuck

bool is_eviction(std::uint8_t opcode) {
  const auto request = static_cast<cxl::D2hReq>(opcode);
  return request == cxl::D2hReq::kDirtyEvict || request == cxl::D2hReq::kCleanEvict ||
         request == cxl::D2hReq::kCleanEvictNoData;
}

bool is_passing_write(std::uint8_t opcode) {
  const auto request = static_cast<cxl::D2hReq>(opcode);
  return request == cxl::D2hReq::kItoMWr || request == cxl::D2hReq::kWrInv ||
         request == cxl::D2hReq::kWoWrInv || request == cxl::D2hReq::kWoWrInvF;
}

}  // namespace

std::string StormReport::text() const {
  return fmt::format(
      "completed {} failed {} stale_reads {} stale_copies {} lost_writes {} two_owners {} "
      "bad_messages {} overlaps {} left_over {} stuck {} {}",
      completed, failed, stale_reads, stale_copies, lost_writes, two_owners, bad_messages, overlaps,
      left_over, is_stuck, first_violation);
}

CoherenceStorm::CoherenceStorm(const StormConfig& config)
    : config_(config),
      random_(config.seed),
      network_(config.caches, random_),
      master_(kCxlIds, master_out_),
      expander_(std::uint64_t{config.lines} * kCxlLineBytes),
      memory_(host_memory_, master_),
      home_({config.caches, config.uqids, config.pulls_clean_evictions}, memory_),
      cores_(config.caches),
      lines_(config.lines) {
  for (std::uint8_t port = 0; port < config.caches; ++port) {
    Core& core = cores_[port];
    core.told = std::make_unique<MonitoredAgent>(monitor_, port);
    core.cache =
        std::make_unique<DeviceCache>(DeviceCacheConfig{config.sets, config.ways, config.cqids,
                                                        port, config.offers_clean_evictions},
                                      core.told.get());
    core.passing.resize(config.cqids);
    core.leaving.resize(config.cqids);
    core.operations.resize(kTokens);
    for (std::uint32_t token = 0; token < kTokens; ++token) {
      core.tokens.push_back(token);
    }
  }
  network_.keeps_go_before_snoop = config.fault != Fault::kSnoopOvertakesGo;
  if (config.fault == Fault::kLostMemoryWrite) {
    host_memory_.loses_writes_every = 100;
  }
}

StormReport CoherenceStorm::run() {
  std::uint64_t quiet = 0;
  while (started_ < config_.operations && quiet < kPatience) {
    const std::uint64_t before = network_.delivered() + started_;
    issue();
    step();
    quiet = network_.delivered() + started_ == before ? quiet + 1 : 0;
  }
  drain();
  empty_caches();
  judge_end();
  return report_;
}

void CoherenceStorm::issue() {
  const auto port = static_cast<std::uint8_t>(random_() % config_.caches);
  if (cores_[port].tokens.empty() || random_() % 4 == 0) {
    return;
  }
  static constexpr CoreOp kMix[] = {
      CoreOp::kRead,         CoreOp::kRead,        CoreOp::kRead,  CoreOp::kReadAny,
      CoreOp::kReadAny,      CoreOp::kReadOnce,    CoreOp::kWrite, CoreOp::kWrite,
      CoreOp::kWrite,        CoreOp::kWrite,       CoreOp::kWrite, CoreOp::kEvict,
      CoreOp::kWriteThrough, CoreOp::kWritePosted, CoreOp::kEvict, CoreOp::kReadOnce};
  CoreRequest request;
  request.op = kMix[random_() % std::size(kMix)];
  request.address = random_() % config_.lines * kCxlLineBytes;
  if (request.is_write()) {
    const unsigned mask = random_() % 4 == 0 ? 0xff : static_cast<unsigned>(random_() & 0xff);
    request.byte_enables = enables_of(mask);
    request.line = line_of_value(++values_);
  }
  request.token = cores_[port].tokens.back();
  if (cores_[port].cache->obstacle(request) == CoreObstacle::kNone) {
    issue(port, request);
  }
}

void CoherenceStorm::issue(std::uint8_t port, const CoreRequest& request) {
  Core& core = cores_[port];
  core.tokens.pop_back();
  core.operations[request.token] = {request, ++clock_, false};
  ++started_;
  core.cache->request(request, out_, done_);
  for (const CxlOut& sent : out_) {
    ++report_.messages[sent.message.opcode];
    if (is_passing_write(sent.message.opcode)) {
      core.passing[sent.message.id] = request.token;
      core.operations[request.token].is_passing = true;
    } else if (is_eviction(sent.message.opcode)) {
      core.leaving[sent.message.id] = sent.message.address;
    }
  }
  send_all(port, true);
  take_results(port);
}

void CoherenceStorm::step() {
  ++clock_;
  if (std::optional<CxlOut> message = network_.deliver(clock_)) {
    if (!swallows(*message)) {
      deliver(*message);
    }
  }
  if (!host_memory_.empty() && random_() % 2 == 0) {
    memory_step();
  }
}

void CoherenceStorm::deliver(const CxlOut& message) {
  switch (message.message.channel) {
    case CxlChannel::kH2dReq:
    case CxlChannel::kH2dRsp:
    case CxlChannel::kH2dData: deliver_to_cache(message.port, message); return;
    case CxlChannel::kM2sReq:
    case CxlChannel::kM2sRwd: expander_.receive(message.message, message.line, out_); break;
    case CxlChannel::kS2mNdr:
    case CxlChannel::kS2mDrs:
      if (const auto done = master_.receive(message.message)) {
        if (done->is_read) {
          home_.memory_read(done->token, message.line, out_);
        } else {
          home_.memory_written(done->token, out_);
        }
      }
      break;
    default: home_.receive(message.port, message.message, message.line, out_);
  }
  send_all(0, false);
}

void CoherenceStorm::deliver_to_cache(std::uint8_t port, const CxlOut& message) {
  Core& core = cores_[port];
  const std::size_t answers = out_.size();
  core.cache->receive(message.message, message.line, out_, done_);
  if (message.message.channel == CxlChannel::kH2dReq && out_.size() == answers) {
    ++report_.deferred;
  }
  const bool is_response = message.message.channel == CxlChannel::kH2dRsp;
  for (const CxlOut& sent : out_) {
    report_.bogus += sent.message.bogus ? 1U : 0U;
    if (is_response && sent.message.channel == CxlChannel::kD2hData &&
        core.passing[message.message.id]) {
      const CoreRequest& write = core.operations[*core.passing[message.message.id]].request;
      lines_[write.address / kCxlLineBytes].write(++clock_, write.line, write.byte_enables);
      core.passing[message.message.id].reset();
    }
  }
  if (is_response) {
    core.leaving[message.message.id].reset();
  }
  send_all(port, true);
  take_results(port);
}

void CoherenceStorm::memory_step() {
  const SlowMemory::Request done = host_memory_.complete(random_() % host_memory_.requests.size());
  if (done.is_read) {
    home_.memory_read(done.token, done.data, out_);
  } else {
    home_.memory_written(done.token, out_);
  }
  send_all(0, false);
}

void CoherenceStorm::send_all(std::uint8_t port, bool has_port) {
  for (CxlOut& sent : out_) {
    sent.port = has_port ? port : sent.port;
    network_.send(sent);
  }
  out_.clear();
  for (const CxlOut& sent : master_out_) {
    network_.send(sent);
  }
  master_out_.clear();
}

void CoherenceStorm::take_results(std::uint8_t port) {
  Core& core = cores_[port];
  for (const CoreResult& result : done_) {
    ++clock_;
    ++report_.completed;
    report_.failed += result.is_error ? 1U : 0U;
    core.tokens.push_back(result.token);
    const Core::Operation& operation = core.operations[result.token];
    LineHistory& line = lines_[result.address / kCxlLineBytes];
    if (result.op == CoreOp::kReadOnce) {
      report_.stale_reads += line.was(result.line, operation.issued, clock_) ? 0U : 1U;
    } else if (result.op == CoreOp::kRead || result.op == CoreOp::kReadAny) {
      report_.stale_copies += result.line == line.newest() ? 0U : 1U;
    } else if (operation.request.is_write() && !operation.is_passing) {
      line.write(clock_, operation.request.line, operation.request.byte_enables);
      report_.stale_copies += result.line == line.newest() ? 0U : 1U;
    }
  }
  done_.clear();
}

/// Does the fault of this run take the message? It may change it as well.
bool CoherenceStorm::swallows(CxlOut& message) {
  const CxlMessage& header = message.message;
  if (header.channel == CxlChannel::kH2dReq && misses(message) && random_() % 8 == 0) {
    ++faults_;
    CxlOut answer;
    answer.port = message.port;
    answer.message.channel = CxlChannel::kD2hRsp;
    answer.message.opcode = static_cast<std::uint8_t>(cxl::D2hRsp::kRspIHitI);
    answer.message.id = header.id;
    network_.send(answer);
    return true;
  }
  if (config_.fault == Fault::kBogusTakenForData) {
    message.message.bogus = false;
  }
  if (config_.fault == Fault::kLostGo && header.channel == CxlChannel::kH2dRsp && clock_ > 10'000 &&
      faults_ == 0) {
    ++faults_;
    return true;
  }
  return false;
}

bool CoherenceStorm::misses(const CxlOut& snoop) const {
  const Core& core = cores_[snoop.port];
  const std::uint64_t line = snoop.message.address;
  const bool is_leaving = std::find(core.leaving.begin(), core.leaving.end(),
                                    std::optional(line)) != core.leaving.end();
  const bool is_invalidation =
      static_cast<cxl::H2dReq>(snoop.message.opcode) == cxl::H2dReq::kSnpInv;
  switch (config_.fault) {
    case Fault::kForgottenSharer:
      return is_invalidation && core.cache->state(line) == LineState::kShared;
    case Fault::kForgottenOwner: return is_invalidation && is_owned(core.cache->state(line));
    case Fault::kSnoopMissesEviction:
      return is_leaving && core.cache->state(line) == LineState::kModified;
    case Fault::kNone:
    case Fault::kBogusTakenForData:
    case Fault::kSnoopOvertakesGo:
    case Fault::kLostGo:
    case Fault::kLostMemoryWrite: break;
  }
  return false;
}

bool CoherenceStorm::is_idle() const {
  const bool is_quiet = network_.empty() && host_memory_.empty();
  return is_quiet && std::all_of(cores_.begin(), cores_.end(),
                                 [](const Core& core) { return core.cache->outstanding() == 0; });
}

void CoherenceStorm::drain() {
  std::uint64_t quiet = 0;
  while (!is_idle() && quiet < kPatience) {
    const std::uint64_t before = network_.delivered();
    step();
    quiet = network_.delivered() == before ? quiet + 1 : 0;
  }
  report_.is_stuck = report_.is_stuck || !is_idle();
}

void CoherenceStorm::empty_caches() {
  for (std::uint8_t port = 0; port < config_.caches && !report_.is_stuck; ++port) {
    const auto first_held = [&cache = *cores_[port].cache] {
      std::optional<std::uint64_t> first;
      cache.lines().for_each_line(
          [&](std::uint64_t line, LineState) { first = first.value_or(line); });
      return first;
    };
    while (const std::optional<std::uint64_t> line = first_held()) {
      CoreRequest eviction;
      eviction.op = CoreOp::kEvict;
      eviction.address = *line;
      eviction.token = cores_[port].tokens.back();
      issue(port, eviction);
      drain();
      if (report_.is_stuck) {
        return;
      }
    }
  }
}

CxlLine CoherenceStorm::line_in_memory(std::uint64_t line) {
  if (line / kCxlLineBytes % 2 == 0) {
    return host_memory_.lines[line];
  }
  CxlMessage read;
  read.opcode = static_cast<std::uint8_t>(cxl::M2sReq::kMemRd);
  read.address = line;
  CxlOutput answer;
  expander_.receive(read, {}, answer);
  return answer.front().line;
}

void CoherenceStorm::judge_end() {
  for (std::uint64_t i = 0; i < config_.lines; ++i) {
    const std::uint64_t line = i * kCxlLineBytes;
    report_.lost_writes += line_in_memory(line) == lines_[i].newest() ? 0U : 1U;
    report_.left_over += home_.holders(line).empty() ? 0U : 1U;
  }
  report_.bad_messages = home_.bad_messages().total() + master_.bad_messages().total() +
                         expander_.bad_messages().total();
  for (const Core& core : cores_) {
    report_.bad_messages += core.cache->bad_messages().total();
    report_.left_over += core.cache->outstanding() + (kTokens - core.tokens.size());
  }
  report_.left_over += network_.sent() - network_.delivered() + home_.outstanding() +
                       home_.uqids_out() + master_.outstanding();
  report_.left_over += report_.completed == started_ ? 0U : 1U;
  report_.overlaps = host_memory_.overlaps;
  report_.two_owners = monitor_.count();
  if (!monitor_.first().empty()) {
    const SingleWriterViolation& first = monitor_.first().front();
    report_.first_violation = fmt::format(
        "{}: line {:x}: agent {} has {} while agent {} has {}", first.rule, first.line, first.agent,
        flitwise::text_of(first.state), first.other, flitwise::text_of(first.other_state));
  }
}

}  // namespace flitwise::test
