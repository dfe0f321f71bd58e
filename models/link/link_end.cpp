// SPDX-License-Identifier: Apache-2.0
// What an end of a link counts.
#include "link/link_end.h"

#include <algorithm>
#include <utility>

#include "flitwise/link_socket.h"

namespace flitwise {
namespace {

constexpr std::size_t kWireSlots = 64;  // grows when a long wire holds more

}  // namespace

LineCoding coding_of(const LinkConfig& link) {
  if (link.carrier == Carrier::kBitPacked) {
    return bit_stream(link.preset);
  }
  if (link.is_in_flit_mode()) {
    return flit_coding(link.preset, link.skp);
  }
  return link.preset.cxl == CxlFlits::k68 ? flit68_coding(link.preset, link.skp)
                                          : line_coding(link.preset, link.skp);
}

LinkEnd::LinkEnd(LinkSide side, const LinkConfig& link, const MessageConfig& message,
                 const DirectionFaults& faults, const Random& random, PacketPool& pool,
                 bool has_cachemem)
    : queues(link.queue_depth, link.relaxed_passing),
      messages(has_cachemem || link.preset.cxl == CxlFlits::k68
                   ? std::make_unique<CxlQueues>(side == LinkSide::kUpstream
                                                     ? CxlDirection::kDownstream
                                                     : CxlDirection::kUpstream,
                                                 link.cxl.queue_depth)
                   : nullptr),
      framer(make_framer(link, message, queues, messages.get(), pool)),
      lanes(coding_of(link)),
      errors(link.error_rate, faults, random, link.error_burst),
      wire(kWireSlots) {}

bool LinkEnd::is_damaged(const WireUnit& unit) {
  if (unit.is_flit() && unit.size.fec > 0) {
    const FlitDamage damage = errors.strike_flit(unit.has_payload());
    account.corrected += damage == FlitDamage::kCorrected ? 1 : 0;
    return damage == FlitDamage::kUncorrectable;
  }
  const std::uint32_t bits = unit.size.total();
  return unit.has_payload() ? errors.damages_tlp(bits) : errors.damages_dllp(bits);
}

void LinkEnd::note_damage(const WireUnit& unit) {
  account.damaged_alone += unit.has_payload() ? 0 : 1;
  framer->damaged(unit, now());
}

// Where a 68-byte flit is missing, the wire carries something else. [CXL-3.6]
void LinkEnd::lose_delayed(Time end, bool is_flit68) {
  while (!is_flit68 && !wire.empty() && wire.back().arrival > end) {
    wire.pop_back();
  }
  for (InFlight& flying : wire) {
    if (flying.arrival > end) {
      flying.arrival = end;
      if (!std::exchange(flying.is_damaged, true)) {
        ++account.damaged;
        note_damage(flying.unit);
      }
    }
  }
  delayed_to = Time{};
  held_up = 0;
}

// A TLP counts in the flit in which it begins; the last symbol is that of the last flit with a part
// of one.
void LinkEnd::count_bits(const WireSize& size) {
  account.bits.header += size.header;
  account.bits.identity += size.identity;
  account.bits.payload += size.payload;
  account.bits.padding += size.padding;
  account.bits.framing += size.framing;
  account.bits.crc += size.crc;
  account.bits.dllp += size.dllp;
  account.bits.fec += size.fec;
  account.bits.idle += size.idle;
  account.bits.replay += size.replay;
}

void LinkEnd::count(const WireUnit& unit, const Placement& placement) {
  if (unit.is_replay) {
    account.bits.replay += unit.size.total();
    return;
  }
  count_bits(unit.size);
  const bool has_slots_in_use = unit.size.header + unit.size.payload + unit.size.padding > 0;
  if (!unit.has_payload() || (unit.is_of_cachemem() && !has_slots_in_use)) {
    return;  // nothing, or credits alone
  }
  if (unit.is_flit()) {
    account.tlps += unit.packet->flit->starts.size();
    for (const PacketRef& packet : unit.packet->flit->starts) {
      account.payload_bytes += packet->payload_bytes;
    }
  } else {
    ++account.tlps;
    account.payload_bytes += unit.size.payload / 8;
  }
  account.first_symbol = std::min(account.first_symbol, placement.first);
  account.last_symbol = placement.last;
}

void LinkEnd::leave_out_warmup(const Flit& flit) {
  Account& before = window_begin.account;
  for (const PacketRef& packet : flit.starts) {
    if (packet->counts) {
      return;
    }
    ++before.tlps;
    before.payload_bytes += packet->payload_bytes;
  }
}

LinkEnd::Tally LinkEnd::tally(const LaneStream& settled, Time when) const {
  return {account,         settled.phy_bits(),  settled.idle_bits(), settled.skps(),
          framer->stats(), queues.stalls(when), settled.free_at(),   waits_at(when)};
}

LinkEnd::Tally LinkEnd::tally_now() const {
  LaneStream now_lanes = lanes;
  now_lanes.settle(now());
  return tally(now_lanes, now());
}

void LinkEnd::open_window(Time when) {
  opens_window = false;
  lanes.settle(when);
  account.first_symbol = Time::never();
  window_begin = tally(lanes, now());
}

DirectionResult LinkEnd::result() const {
  const Tally b = window_end ? *window_end : tally_now();
  const Tally& a = window_begin;
  const bool is_empty = b.account.first_symbol == Time::never();
  DirectionResult r;
  r.tlps = b.account.tlps - a.account.tlps;
  r.payload_bytes = b.account.payload_bytes - a.account.payload_bytes;
  r.first_symbol = is_empty ? Time{} : b.account.first_symbol;
  r.last_symbol = is_empty ? Time{} : b.account.last_symbol;
  r.window = b.at - a.at;
  r.window_end = b.at;
  r.bits = b.account.bits;
  r.bits.phy = b.phy;
  r.bits.idle += b.idle;
  WireBits before = a.account.bits;
  before.phy = a.phy;
  before.idle += a.idle;
  r.bits -= before;
  const LinkWaits waited = waits();
  r.stalls = {};
  r.stalls.credits_posted = b.stalls.credits_posted - a.stalls.credits_posted;
  r.stalls.credits_nonposted = b.stalls.credits_nonposted - a.stalls.credits_nonposted;
  r.stalls.credits_completion = b.stalls.credits_completion - a.stalls.credits_completion;
  r.stalls.credits_cxl_req = waited[kFirstCxlLimit].time;
  r.stalls.credits_cxl_rsp = waited[kFirstCxlLimit + 1].time;
  r.stalls.credits_cxl_data = waited[kFirstCxlLimit + 2].time;
  r.stalls.replay_buffer = waited[kReplayBufferLimit].time;
  r.replays = b.framer.replays - a.framer.replays;
  r.replay_events = b.framer.replay_events - a.framer.replay_events;
  r.naks = b.framer.naks - a.framer.naks;
  r.acks = b.framer.acks - a.framer.acks;
  r.update_fcs = b.framer.update_fcs - a.framer.update_fcs;
  r.retrains = b.framer.retrains - a.framer.retrains;
  r.skps = b.skps - a.skps;
  r.corrupted = b.account.damaged - a.account.damaged;
  r.flits_corrected = b.account.corrected - a.account.corrected;
  r.lost_tlps = b.account.lost.tlps - a.account.lost.tlps;
  return r;
}

LinkWaits LinkEnd::waits_at(Time when) const {
  LinkWaits waits{};
  const auto of_tlps = queues.waits(when);
  std::copy(of_tlps.begin(), of_tlps.end(), waits.begin());
  if (messages) {
    const auto of_messages = messages->waits(when);
    std::copy(of_messages.begin(), of_messages.end(), waits.begin() + kFirstCxlLimit);
  }
  const FramerStats& stats = framer->stats();
  waits[kReplayBufferLimit] = {stats.replay_buffer_stall, stats.replay_buffer_waits};
  return waits;
}

LinkWaits LinkEnd::waits() const {
  LinkWaits waits = window_end ? window_end->waits : waits_at(now());
  for (std::size_t limit = 0; limit < kLinkLimits; ++limit) {
    waits[limit] = waits[limit] - window_begin.waits[limit];
  }
  return waits;
}

}  // namespace flitwise
