// SPDX-License-Identifier: Apache-2.0
// The host's lines of a device's memory at their link.
#include "cxl/hdm_host.h"

#include <fmt/format.h>

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

}  // namespace

CxlHdmHost::CxlHdmHost(const sc_core::sc_module_name& name, const HostConfig& config,
                       PacketPool& pool, LatencyTracer& tracer, LineStateListener* listener)
    : LineAgent(name, config.timing.clock, pool,
                LineCore(pool, tracer, read_of(config.cxl_mem.read), CoreOp::kWrite), "down",
                "host.cxl_mem.outstanding"),
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

}  // namespace flitwise
