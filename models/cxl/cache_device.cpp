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
  static constexpr CoreOp kWrites[] = {CoreOp::kWrite, CoreOp::kWriteThrough, CoreOp::kWritePosted};
  return kWrites[static_cast<std::size_t>(write)];
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

CxlCacheDevice::CxlCacheDevice(const sc_core::sc_module_name& name, const DeviceConfig& config,
                               std::uint8_t cache_id, PacketPool& pool, LatencyTracer& tracer,
                               LineStateListener* listener)
    : LineAgent(
          name, config.timing.clock, pool,
          LineCore(pool, tracer, read_of(config.cxl.cache.read), write_of(config.cxl.cache.write)),
          "up", "device.cxl.cache.requests"),
      config_(config),
      rules_(rules_for(config.cxl.cache, cache_id), listener) {}

bool CxlCacheDevice::is_asked(const CxlMessage& message) {
  return message.channel == CxlChannel::kD2hReq && !evicts(message);
}

void CxlCacheDevice::count_asked(bool is_write, bool is_hit) {
  ++(is_write ? done_.writes : done_.reads);
  done_.hits += is_hit ? 1 : 0;
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

void CxlCacheDevice::send(PacketRef message) {
  lines_sent_ += is_line(*message->cxl) ? 1 : 0;  // the home counts it too
  to_link.send(std::move(message), now());
}

void CxlCacheDevice::come(Packet& packet) {
  rules_.receive(*packet.cxl, line_with(packet), out_, results_);
  send_all(cache().lookup);
  core_.finish(results_, now() + cache().lookup, true);
}

void CxlCacheDevice::link_lost(std::uint64_t lines_received) {
  lose(rules_.lose_all() + lines_sent_ - lines_received);
  lines_sent_ = 0;
}

std::string CxlCacheDevice::waiting() const {
  return is_quiet() ? ""
                    : fmt::format("{}: {} lines wait for the home, {} CXL.cache requests are out\n",
                                  name(), core_.lines_out(), rules_.outstanding());
}

void CxlCacheDevice::start_window() {
  window_ = done_;
  LineAgent::start_window();
}

void CxlCacheDevice::report(RunResult& result) const {
  CxlCacheResult row = done_;
  row -= window_;
  row.device = name();
  result.rows<CxlCacheResult>().push_back(row);
}

}  // namespace flitwise
