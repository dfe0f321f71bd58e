// SPDX-License-Identifier: Apache-2.0
// A device gone bad.
#include "endpoint/hostile_engine.h"

#include <fmt/format.h>

#include "tlp/raw_packet.h"

namespace flitwise {
namespace {

HostileTarget target_of(const Config& config, Bdf base, HandleRange handles) {
  return {base,
          config.device.functions.count,
          config.host.memory.size,
          config.workload.buffer_base,
          {config.link.identity, config.link.dhi_form, config.device.dhi.bits},
          handles};
}

}  // namespace

HostileEngine::HostileEngine(const Config& config, Bdf base, HandleRange handles,
                             const Random& random, PacketPool& pool,
                             std::function<void()> counting_starts,
                             std::function<void()> work_ended)
    : source_(target_of(config, base, handles), random),
      pool_(pool),
      counting_starts_(std::move(counting_starts)),
      work_ended_(std::move(work_ended)),
      warmup_(config.run.warmup),
      total_(config.run.warmup + config.workload.requests) {}

PacketRef HostileEngine::next(const MaySend& may_send) {
  if (is_done() || !may_send(std::nullopt)) {
    return {};
  }
  if (sent_ == warmup_) {
    counting_starts_();
  }
  PacketRef packet = pool_.make(PacketKind::kTlp);
  const std::vector<std::uint8_t>& bytes = source_.next();
  write_raw(*packet, bytes.data(), bytes.size());
  packet->counts = sent_ >= warmup_;
  ++sent_;
  if (is_done()) {
    work_ended_();
  }
  return packet;
}

std::string HostileEngine::waiting() const {
  return is_done() ? "" : fmt::format("{} of {} hostile TLPs sent", sent_, total_);
}

}  // namespace flitwise
