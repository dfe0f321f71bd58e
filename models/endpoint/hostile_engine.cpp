// SPDX-License-Identifier: Apache-2.0
// A device gone bad.
#include "endpoint/hostile_engine.h"

#include <fmt/format.h>

#include "tlp/raw_packet.h"

namespace flitwise {

HostileEngine::HostileEngine(const HostileTarget& target, const Random& random, PacketPool& pool,
                             Plan plan)
    : source_(target, random),
      pool_(pool),
      plan_(std::move(plan)),
      total_(plan_.warmup + plan_.counted) {}

PacketRef HostileEngine::next(const MaySend& may_send) {
  if (is_done() || !may_send(std::nullopt)) {
    return {};
  }
  if (sent_ == plan_.warmup) {
    plan_.counting_starts();
  }
  PacketRef packet = pool_.make(PacketKind::kTlp);
  const std::vector<std::uint8_t>& bytes = source_.next();
  write_raw(*packet, bytes.data(), bytes.size());
  packet->counts = sent_ >= plan_.warmup;
  ++sent_;
  if (is_done()) {
    plan_.work_ended();
  }
  return packet;
}

std::string HostileEngine::waiting() const {
  return is_done() ? "" : fmt::format("{} of {} hostile TLPs sent", sent_, total_);
}

}  // namespace flitwise
