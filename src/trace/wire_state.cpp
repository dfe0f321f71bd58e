// SPDX-License-Identifier: Apache-2.0
#include "trace/wire_state.h"

namespace flitwise {
namespace {

/// Its receiver takes it, the first time.
bool takes_effect(const TraceEvent& event) {
  return !event.is_replay && !event.is_lost && !event.is_damaged;
}

}  // namespace

bool is_last_completion(const Tlp& completion) {
  if (!has_data(completion.type) || completion.status != CplStatus::kSC) {
    return true;
  }
  const unsigned skipped = completion.lower_address % 4U;
  return completion.byte_count + skipped <= 4U * completion.length_dw;
}

void WireState::sent(const TraceEvent& event) {
  const Packet& packet = *event.packet;
  if (packet.kind != PacketKind::kTlp || event.is_replay) {
    return;
  }
  const FcClass fc = fc_class(packet.tlp.type);
  ++credits_[static_cast<std::size_t>(fc)].taken;
  if (fc == FcClass::kNonPosted && takes_effect(event)) {
    out_.emplace(RequestName{packet.tlp.requester_id, packet.tlp.tag}.key(), packet.uid);
  }
}

void WireState::came(const TraceEvent& event) {
  if (!takes_effect(event)) {
    return;
  }
  const Packet& packet = *event.packet;
  if (packet.kind == PacketKind::kTlp && is_completion(packet.tlp.type) &&
      is_last_completion(packet.tlp)) {
    out_.erase(RequestName{packet.tlp.requester_id, packet.tlp.tag}.key());
  }
  if (packet.kind != PacketKind::kDllp || !is_flow_control(packet.dllp.type) ||
      packet.dllp.vc != 0 || packet.dllp.is_shared) {
    return;
  }
  const Dllp& dllp = packet.dllp;
  Credits& credits = credits_[static_cast<std::size_t>(dllp.fc_class)];
  if (dllp.type != DllpType::kUpdateFc) {
    credits.is_infinite = dllp.hdr_fc == 0;  // [LNK-8.3]
  }
  constexpr std::array<unsigned, 4> kShifts = {0, 0, 2, 4};
  credits.is_told = true;
  credits.shift = kShifts[dllp.hdr_scale % 4U];
  credits.limit = std::uint32_t{dllp.hdr_fc} << credits.shift;
}

// Counters are of 8 bits, in the units of the scale. [LNK-8.2]
std::optional<std::uint32_t> WireState::header_credits(FcClass fc_class) const {
  const Credits& credits = credits_[static_cast<std::size_t>(fc_class)];
  if (!credits.is_told || credits.is_infinite) {
    return std::nullopt;
  }
  return (credits.limit - credits.taken) & ((0x100U << credits.shift) - 1U);
}

}  // namespace flitwise
