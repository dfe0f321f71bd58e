// SPDX-License-Identifier: Apache-2.0
#include "trace/wire_state.h"

#include <algorithm>

namespace flitwise {
namespace {

std::uint64_t key_of(Bdf requester, std::uint16_t tag) {
  return std::uint64_t{requester.value} << 16 | tag;
}

bool is_tlp(const Packet& packet) {
  return packet.kind == PacketKind::kTlp && !packet.malformed;
}

}  // namespace

bool is_last_completion(const Tlp& completion) {
  if (!has_data(completion.type) || completion.status != CplStatus::kSC) {
    return true;
  }
  const unsigned skipped = completion.lower_address % 4U;
  return completion.byte_count + skipped <= 4U * completion.length_dw;
}

void WireState::begin(const std::array<HeaderCredits, kFcClasses>& credits) {
  for (std::size_t i = 0; i < credits.size(); ++i) {
    const HeaderCredits& one = credits[i];
    announced_[i] = {!one.is_infinite, one.has_shared, one.used + one.left};
    if (!one.is_infinite) {
      amounts_[kHeaderCredits + i] = one.left;
    }
  }
}

// From where it shows on, all amounts are told.
void WireState::follow(const TraceEvent& event) {
  if (event.is_shown && !is_shown_) {
    for (std::size_t i = 0; i < kWireValues; ++i) {
      if (amounts_[i]) {
        changes_.note(std::min(event.first, event.told), *this, i, WireChanges::Kind::kAdd, 0);
      }
    }
  }
  is_shown_ = event.is_shown;
}

// What is sent again has taken its credits, and is out, since the first time.
void WireState::sent(const TraceEvent& event) {
  follow(event);
  const Packet& packet = *event.packet;
  if (packet.kind != PacketKind::kTlp || event.is_replay) {
    return;
  }
  const Tlp& tlp = packet.tlp;
  const FcClass fc = fc_class(tlp.type);
  const auto place = static_cast<std::size_t>(fc);
  const Announced& announced = announced_[place];
  if (announced.is_counted && (!announced.has_shared || packet.uses_dedicated_credits)) {
    changes_.note(event.first, *this, kHeaderCredits + place, WireChanges::Kind::kAdd, -1);
  }
  if (fc != FcClass::kNonPosted || packet.malformed) {
    return;
  }
  // Completions go to the BDF behind a handle. [DHI D16]
  const bool is_raw = tlp.id_is_handle && !packet.has_identity;
  const Bdf requester =
      tlp.id_is_handle && packet.has_identity ? packet.identity.bdf : tlp.requester_id;
  const Asked asked{packet.uid, tlp.requester_id, tlp.id_is_handle, is_raw};
  if (asked_.insert_or_assign(key_of(requester, tlp.tag), asked).second) {
    changes_.note(event.first, *this, kRequestsOut, WireChanges::Kind::kAdd, 1);
  }
}

// A refusal echoes the handle; of a request that was made as it stands, nobody but the host knows
// what its handle stands for.
WireState::AskedRequests::iterator WireState::request_of(const Tlp& completion) {
  if (!completion.id_is_handle) {
    const auto found = asked_.find(key_of(completion.requester_id, completion.tag));
    if (found != asked_.end()) {
      return found;
    }
  }
  return std::find_if(asked_.begin(), asked_.end(), [&](const auto& one) {
    const Asked& asked = one.second;
    return (one.first & 0xffffU) == completion.tag && asked.is_handle &&
           (completion.id_is_handle ? asked.id == completion.requester_id : asked.is_raw);
  });
}

// Its receiver takes it, the first time.
bool WireState::takes_effect(const TraceEvent& completion) {
  const std::uint64_t uid = completion.packet->uid;
  if (completion.is_damaged || completion.is_lost) {
    missed_.insert(uid);
    return false;
  }
  return !completion.is_replay || missed_.erase(uid) > 0;
}

std::uint64_t WireState::came(const TraceEvent& event) {
  follow(event);
  const Packet& packet = *event.packet;
  if (packet.kind == PacketKind::kDllp) {
    if (!event.is_damaged && !event.is_lost) {
      announce(packet.dllp, event.last);
    }
    return 0;
  }
  if (!is_tlp(packet) || !is_completion(packet.tlp.type)) {
    return 0;
  }
  const bool counts = takes_effect(event);
  const auto request = request_of(packet.tlp);
  if (request == asked_.end()) {
    return 0;
  }
  const std::uint64_t uid = request->second.uid;
  if (counts && is_last_completion(packet.tlp)) {
    asked_.erase(request);
    changes_.note(event.last, *this, kRequestsOut, WireChanges::Kind::kAdd, -1);
  }
  return uid;
}

// Counters are of 8 bits, in the units of the scale. [LNK-8.2] [LNK-8.3] A link that comes up anew
// has lost what it carried. [LNK-10.4]
void WireState::announce(const Dllp& dllp, Time at) {
  if (!is_flow_control(dllp.type) || dllp.vc != 0 || dllp.is_shared) {
    return;
  }
  constexpr std::array<unsigned, 4> kShifts = {0, 0, 2, 4};
  const unsigned shift = kShifts[dllp.hdr_scale % 4U];
  const auto place = static_cast<std::size_t>(dllp.fc_class);
  Announced& announced = announced_[place];
  const std::uint32_t limit = std::uint32_t{dllp.hdr_fc} << shift;
  if (dllp.type == DllpType::kInitFc1) {
    announced = {dllp.hdr_fc != 0, announced.has_shared, limit};
    if (announced.is_counted) {
      changes_.note(at, *this, kHeaderCredits + place, WireChanges::Kind::kSet, limit);
    }
    if (!asked_.empty()) {
      asked_.clear();
      missed_.clear();
      changes_.note(at, *this, kRequestsOut, WireChanges::Kind::kSet, 0);
    }
    return;
  }
  if (dllp.type == DllpType::kUpdateFc && announced.is_counted) {
    const std::uint32_t more = (limit - announced.limit) & ((0x100U << shift) - 1U);
    announced.limit += more;
    changes_.note(at, *this, kHeaderCredits + place, WireChanges::Kind::kAdd, more);
  }
}

}  // namespace flitwise
