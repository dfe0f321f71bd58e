// SPDX-License-Identifier: Apache-2.0
// The host's lines of a device's memory at their link.
#include "cxl/hdm_host.h"

#include <fmt/format.h>

namespace flitwise {
namespace {

HostLinesConfig rules_for(const Config& config) {
  HostLinesConfig rules;
  rules.ways = config.host.cxl_mem.cache.ways;
  rules.sets =
      static_cast<std::uint32_t>(config.host.cxl_mem.cache.size / kCxlLineBytes / rules.ways);
  rules.tags = config.host.cxl_mem.outstanding;
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

CxlHdmHost::CxlHdmHost(const sc_core::sc_module_name& name, const Config& config, PacketPool& pool,
                       LatencyTracer& tracer, LineStateListener* listener)
    : sc_module(name),
      config_(config),
      pool_(pool),
      wakeup_("wakeup", config.host.timing.clock),
      core_(pool, tracer, read_of(config.host.cxl_mem.read), CoreOp::kWrite),
      rules_(rules_for(config), listener) {
  from_link.register_nb_transport_fw(this, &CxlHdmHost::receive, 0);
  wakeup_.wakes("work_process", [this] { work(); });
}

void CxlHdmHost::work() {
  wakeup_.taken();
  if (is_down_) {
    wakeup_.at(core_.tell_engine(now()));
    return;
  }
  wakeup_.at(core_.ask_for_lines(
      now(), config_.host.cxl_mem.cache.lines_per_clock,
      [this](const CoreRequest& request) {
        return rules_.obstacle(request, core_.answers_under_way());
      },
      [this](const CoreRequest& request, PacketRef packet) { ask(request, std::move(packet)); }));
}

void CxlHdmHost::ask(const CoreRequest& request, PacketRef packet) {
  asking_ = std::move(packet);
  counts_ = asking_->counts;
  count(request.is_write() ? done_.host_writes : done_.host_reads);
  rules_.request(request, out_, results_);
  if (!results_.empty()) {
    count(done_.host_hits);
  }
  const Time lookup = config_.host.cxl_mem.cache.lookup;
  send_all(lookup);
  asking_.reset();
  core_.finish(results_, now() + lookup);
}

// What a core asks for travels in its own packet; an eviction that makes room for it does not.
void CxlHdmHost::send_all(Time inward) {
  const Time ready = now() + inward + config_.host.cxl_mem.bridge;
  for (const CxlOut& out : out_) {
    count_sent(out.message);
    const bool is_asked =
        asking_ && out.message.channel == CxlChannel::kM2sReq && !gives_line_up(out.message);
    PacketRef packet = is_asked ? asking_ : cxl_packet(pool_, out, counts_);
    if (is_asked) {
      put_into(*packet, out.message);
    }
    to_link.send(std::move(packet), ready);
  }
  out_.clear();
}

void CxlHdmHost::count_sent(const CxlMessage& message) {
  if (gives_line_up(message)) {
    count(done_.host_evictions);
  } else if (message.channel == CxlChannel::kM2sRwd && message.id >= HostLines::kWriteBackTag) {
    count(done_.write_backs);
  }
}

tlm::tlm_sync_enum CxlHdmHost::receive(int /*id*/, Packet& packet, tlm::tlm_phase& /*phase*/,
                                       sc_core::sc_time& /*delay*/) {
  counts_ = packet.counts;
  const std::uint64_t early = rules_.early_conflicts(), late = rules_.late_conflicts();
  rules_.receive(*packet.cxl, line_with(packet), out_, results_);
  count(done_.conflicts_early, rules_.early_conflicts() - early);
  count(done_.conflicts_late, rules_.late_conflicts() - late);
  const Time inward = config_.host.cxl_mem.bridge + config_.host.cxl_mem.cache.lookup;
  send_all(inward);
  core_.finish(results_, now() + inward, true);
  wakeup_.at(now());
  return tlm::TLM_COMPLETED;
}

void CxlHdmHost::link_lost() {
  is_down_ = true;
  to_link.clear();
  lost_lines_ += rules_.lose_all();
  core_.lose_all(now());
}

void CxlHdmHost::link_up() {
  is_down_ = false;
  wakeup_.at(now());
}

std::string CxlHdmHost::waiting() const {
  return is_quiet() ? ""
                    : fmt::format(
                          "{}: {} lines wait for the device, {} CXL.mem requests and BISnp are "
                          "out\n",
                          name(), core_.lines_out(), rules_.outstanding());
}

std::map<std::string, std::uint64_t> CxlHdmHost::errors() const {
  std::map<std::string, std::uint64_t> errors = core_.errors();
  errors["cxl_line_lost"] = lost_lines_;
  errors["unexpected_cxl_message"] = rules_.bad_messages().total();
  return errors;
}

std::vector<CheckResult> CxlHdmHost::checks() const {
  if (!is_quiet()) {
    return {};
  }
  return {core_.check(name())};
}

void CxlHdmHost::start_window() {
  core_.start_window(now());
  to_link.start_window(now());
}

std::vector<WaitResult> CxlHdmHost::waits() const {
  return core_.waits(
      {name(), "cxl_ids", ResourceRole::kSlots, "down", "", "host.cxl_mem.outstanding"},
      to_link.waits(name(), "down"));
}

void CxlHdmHost::tell(CxlHdmDbResult& result) const {
  result.host_reads = done_.host_reads;
  result.host_writes = done_.host_writes;
  result.host_hits = done_.host_hits;
  result.host_evictions = done_.host_evictions;
  result.write_backs = done_.write_backs;
  result.conflicts_early = done_.conflicts_early;
  result.conflicts_late = done_.conflicts_late;
}

}  // namespace flitwise
