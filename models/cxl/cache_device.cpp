// SPDX-License-Identifier: Apache-2.0
// A device cache at its link.
#include "cxl/cache_device.h"

#include <fmt/format.h>

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
bool evicts(const CxlMessage& message) {
  return message.channel == CxlChannel::kD2hReq &&
         is_eviction(static_cast<cxl::D2hReq>(message.opcode));
}

// Bogus data are of no line.
bool is_line(const CxlMessage& message) {
  return message.channel == CxlChannel::kD2hData && !message.bogus;
}

}  // namespace

CxlCacheDevice::CxlCacheDevice(const sc_core::sc_module_name& name, const Config& config,
                               std::uint8_t cache_id, PacketPool& pool, LatencyTracer& tracer,
                               LineStateListener* listener)
    : sc_module(name),
      config_(config),
      pool_(pool),
      wakeup_("wakeup", config.device.timing.clock),
      core_(pool, tracer, read_of(config.device.cxl.cache.read),
            write_of(config.device.cxl.cache.write)),
      rules_(rules_for(config.device.cxl.cache, cache_id), listener) {
  from_link.register_nb_transport_fw(this, &CxlCacheDevice::receive, 0);
  wakeup_.wakes("work_process", [this] { work(); });
}

void CxlCacheDevice::work() {
  wakeup_.taken();
  if (is_down_) {
    wakeup_.at(core_.tell_engine(now()));
    return;
  }
  wakeup_.at(core_.ask_for_lines(
      now(), config_.device.cxl.cache.lines_per_clock,
      [this](const CoreRequest& request) {
        return rules_.obstacle(request, core_.answers_under_way());
      },
      [this](const CoreRequest& request, PacketRef packet) { ask(request, std::move(packet)); }));
}

void CxlCacheDevice::ask(const CoreRequest& request, PacketRef packet) {
  asking_ = std::move(packet);
  ++(request.is_write() ? done_.writes : done_.reads);
  counts_ = asking_->counts;
  rules_.request(request, out_, results_);
  done_.hits += results_.empty() ? 0 : 1;
  send_all();
  asking_.reset();
  core_.finish(results_, now() + config_.device.cxl.cache.lookup);
}

// What the core asks for travels in its own packet; an eviction that makes room for it does not.
void CxlCacheDevice::send_all() {
  const Time ready = now() + config_.device.cxl.cache.lookup;
  for (const CxlOut& out : out_) {
    count_sent(out.message);
    const bool is_asked =
        asking_ && out.message.channel == CxlChannel::kD2hReq && !evicts(out.message);
    PacketRef packet = is_asked ? asking_ : cxl_packet(pool_, out, counts_);
    if (is_asked) {
      put_into(*packet, out.message);
      packet->cxl->identity = identity_ ? identity_(packet->domain) : 0;
    }
    to_link.send(std::move(packet), ready);
  }
  out_.clear();
}

void CxlCacheDevice::send(PacketRef message) {
  lines_sent_ += is_line(*message->cxl) ? 1 : 0;  // the home counts it too
  to_link.send(std::move(message), now());
}

void CxlCacheDevice::count_sent(const CxlMessage& message) {
  if (evicts(message)) {
    ++done_.evictions;
  } else if (message.channel == CxlChannel::kD2hRsp) {
    ++done_.snoops;
    done_.snoops_modified += brings_line(static_cast<cxl::D2hRsp>(message.opcode)) ? 1 : 0;
  } else if (message.channel == CxlChannel::kD2hData) {
    ++(is_line(message) ? lines_sent_ : done_.bogus);
  }
}

tlm::tlm_sync_enum CxlCacheDevice::receive(int /*id*/, Packet& packet, tlm::tlm_phase& /*phase*/,
                                           sc_core::sc_time& /*delay*/) {
  counts_ = packet.counts;
  rules_.receive(*packet.cxl, line_with(packet), out_, results_);
  send_all();
  core_.finish(results_, now() + config_.device.cxl.cache.lookup, true);
  wakeup_.at(now());
  return tlm::TLM_COMPLETED;
}

void CxlCacheDevice::link_lost(std::uint64_t lines_received) {
  is_down_ = true;
  to_link.clear();
  lost_lines_ += rules_.lose_all() + lines_sent_ - lines_received;
  lines_sent_ = 0;
  core_.lose_all(now());
}

void CxlCacheDevice::link_up() {
  is_down_ = false;
  wakeup_.at(now());
}

std::string CxlCacheDevice::waiting() const {
  return is_quiet() ? ""
                    : fmt::format("{}: {} lines wait for the home, {} CXL.cache requests are out\n",
                                  name(), core_.lines_out(), rules_.outstanding());
}

std::map<std::string, std::uint64_t> CxlCacheDevice::errors() const {
  std::map<std::string, std::uint64_t> errors = core_.errors();
  errors["cxl_line_lost"] = lost_lines_;
  errors["unexpected_cxl_message"] = rules_.bad_messages().total();
  return errors;
}

std::vector<CheckResult> CxlCacheDevice::checks() const {
  if (!is_quiet()) {
    return {};
  }
  return {core_.check(name())};
}

void CxlCacheDevice::start_window() {
  window_ = done_;
  core_.start_window(now());
  to_link.start_window(now());
}

std::vector<WaitResult> CxlCacheDevice::waits() const {
  return core_.waits(
      {name(), "cxl_ids", ResourceRole::kSlots, "up", "", "device.cxl.cache.requests"},
      to_link.waits(name(), "up"));
}

CxlCacheResult CxlCacheDevice::result() const {
  CxlCacheResult result = done_;
  result -= window_;
  result.device = name();
  return result;
}

}  // namespace flitwise
