// SPDX-License-Identifier: Apache-2.0
// Both ends of a memory that host and device cache.
#include "cxl/hdm_db.h"

#include <fmt/format.h>

#include <utility>

namespace flitwise {
namespace {

HostLinesConfig rules_for(const HostConfig& config) {
  HostLinesConfig rules;
  rules.ways = config.cxl_mem.cache.ways;
  rules.sets = static_cast<std::uint32_t>(config.cxl_mem.cache.size / kCxlLineBytes / rules.ways);
  rules.tags = config.cxl_mem.outstanding;
  return rules;
}

// Gives a line up: MemClnEvct, or MemWr that no BISnp has asked for.
bool gives_line_up(const CxlMessage& message) {
  return message.channel == CxlChannel::kM2sReq
             ? static_cast<cxl::M2sReq>(message.opcode) == cxl::M2sReq::kMemClnEvct
             : message.channel == CxlChannel::kM2sRwd &&
                   static_cast<cxl::M2sRwd>(message.opcode) == cxl::M2sRwd::kMemWr &&
                   message.id < HostLines::kWriteBackTag;
}

DeviceMemoryConfig rules_for(const CxlDeviceConfig& config) {
  DeviceMemoryConfig rules;
  rules.ways = config.own_cache.ways;
  rules.sets = static_cast<std::uint32_t>(config.own_cache.size / kCxlLineBytes / rules.ways);
  rules.bitags = config.own_cache.snoops;
  rules.size = config.memory;
  return rules;
}

}  // namespace

CxlHdmHost::CxlHdmHost(const sc_core::sc_module_name& name, const HostConfig& config,
                       PacketPool& pool, LatencyTracer& tracer, LineStateListener* listener)
    : LineAgent(name, config.timing.clock, pool,
                LineCore(pool, tracer, read_of(config.cxl_mem.read), CoreOp::kWrite), "down",
                "host.cxl_mem.outstanding", config.cxl_mem.outstanding, "host.cxl_mem.cache.size"),
      config_(config),
      rules_(rules_for(config), listener) {}

bool CxlHdmHost::is_asked(const CxlMessage& message) {
  return message.channel == CxlChannel::kM2sReq && !gives_line_up(message);
}

void CxlHdmHost::count_asked(bool is_write, bool is_hit) {
  count(is_write ? done_.host_writes : done_.host_reads);
  count(done_.host_hits, is_hit ? 1 : 0);
}

void CxlHdmHost::count_sent(const CxlMessage& message) {
  if (gives_line_up(message)) {
    count(done_.host_evictions);
  } else if (message.channel == CxlChannel::kM2sRwd && message.id >= HostLines::kWriteBackTag) {
    count(done_.write_backs);
  }
}

void CxlHdmHost::come(Packet& packet) {
  const std::uint64_t early = rules_.early_conflicts(), late = rules_.late_conflicts();
  rules_.receive(*packet.cxl, line_with(packet), out_, results_);
  count(done_.conflicts_early, rules_.early_conflicts() - early);
  count(done_.conflicts_late, rules_.late_conflicts() - late);
  const Time inward = config_.cxl_mem.bridge + cache().lookup;
  send_all(inward);
  core_.finish(results_, now() + inward, true);
}

std::string CxlHdmHost::waiting() const {
  return is_quiet() ? ""
                    : fmt::format(
                          "{}: {} lines wait for the device, {} CXL.mem requests and BISnp are "
                          "out\n",
                          name(), core_.lines_out(), rules_.outstanding());
}

CxlHdmDevice::CxlHdmDevice(const sc_core::sc_module_name& name, const DeviceConfig& config,
                           CxlStandIn stand_in, PacketPool& pool, LatencyTracer& tracer,
                           LineStateListener* listener)
    : LineAgent(name, config.timing.clock, pool,
                LineCore(pool, tracer, CoreOp::kRead, CoreOp::kWrite), "up",
                "device.cxl.own_cache.snoops", config.cxl.own_cache.snoops,
                "device.cxl.own_cache.size"),
      config_(config.cxl),
      rules_(rules_for(config_), *this, listener),
      stand_in_(std::move(stand_in)) {}

// What memory has done goes first: the core may find its line free.
void CxlHdmDevice::work() {
  wakeup_.taken();
  const Time t = now();
  end_accesses(t);
  wakeup_.at(core_.ask_for_lines(
      t, config_.own_cache.lines_per_clock,
      [this](const CoreRequest& request) {
        return is_in_memory(request) ? rules_.obstacle(request) : CoreObstacle::kNone;
      },
      [this](const CoreRequest& request, const PacketRef& packet) {
        ask(request, packet->counts);
      }));
  wakeup_.at(accesses_.next());
}

void CxlHdmDevice::end_accesses(Time now) {
  inward_ = Time{};
  while (accesses_.is_due(now)) {
    const Access done = accesses_.take();
    counts_ = done.counts;
    if (done.is_read) {
      rules_.memory_read(done.token, done.line, out_, results_);
    } else {
      rules_.memory_written(done.token, out_, results_);
    }
    send_all();
    core_.finish(results_, now);
  }
}

void CxlHdmDevice::ask(const CoreRequest& request, bool counts) {
  if (!is_in_memory(request)) {  // as the host's requests are refused [COH-7.3]
    results_.push_back({request.op, request.token, request.address, true, {}});
    core_.finish(results_, now());
    return;
  }
  counts_ = counts;
  count(request.is_write() ? done_.device_writes : done_.device_reads);
  inward_ = config_.own_cache.lookup;
  const bool has_line = rules_.state(line_of(request.address)) != LineState::kInvalid;
  rules_.request(request, out_, results_);
  if (has_line && !results_.empty()) {
    count(done_.device_hits);
  }
  send_all();
  core_.finish(results_, now() + inward_);
}

// Messages leave behind the controller.
void CxlHdmDevice::send_all() {
  const Time ready = now() + inward_ + config_.timing.controller;
  while (!out_.empty()) {
    sent_.swap(out_);
    for (const CxlOut& out : sent_) {
      if (out.message.channel == CxlChannel::kS2mBiSnp) {
        count(done_.back_invalidations);
      }
      if (!(stand_in_ && is_answered(out))) {
        to_link.send(cxl_packet(pool_, out, counts_), ready);
      }
    }
    sent_.clear();
  }
}

bool CxlHdmDevice::is_answered(const CxlOut& out) {
  const std::optional<CxlMessage> answer = stand_in_(out.message);
  if (answer) {
    rules_.receive(*answer, CxlLine{}, out_, results_);
  }
  return answer.has_value();
}

void CxlHdmDevice::come(Packet& packet) {
  inward_ = config_.timing.controller;
  rules_.receive(*packet.cxl, line_with(packet), out_, results_);
  send_all();
  core_.finish(results_, now() + inward_);
}

// Lines change and are read in the order in which the rules ask; the time it takes is theirs.
void CxlHdmDevice::read(std::uint32_t token, std::uint64_t line) {
  access({token, true, counts_, lines_.read(line)});
}

void CxlHdmDevice::write(std::uint32_t token, std::uint64_t line, const CxlLine& data,
                         std::uint64_t byte_enables) {
  lines_.write(line, data, byte_enables);
  access({token, false, counts_, {}});
}

void CxlHdmDevice::access(const Access& wanted) {
  const Time done = now() + inward_ + config_.timing.latency;
  accesses_.add(wanted, done);
  wakeup_.at(done);
}

void CxlHdmDevice::link_lost() {
  to_link.clear();
  inward_ = Time{};
  rules_.host_lost(results_);
  core_.finish(results_, now());
  wakeup_.at(now());
}

std::string CxlHdmDevice::waiting() const {
  return is_quiet()
             ? ""
             : fmt::format(
                   "{}: {} lines wait, {} requests at work, {} BISnp out, {} lines at memory\n",
                   name(), core_.lines_out(), rules_.outstanding(), rules_.bitags_out(),
                   accesses_.size());
}

std::map<std::string, std::uint64_t> CxlHdmDevice::errors() const {
  const BadMessageCounts& bad = rules_.bad_messages();
  const std::uint64_t outside = bad[BadMessage::kBadAddress];
  std::map<std::string, std::uint64_t> errors = core_.errors();
  errors["cxl_address_outside_memory"] = outside;
  errors["unexpected_cxl_message"] = bad.total() - outside;
  return errors;
}

}  // namespace flitwise
