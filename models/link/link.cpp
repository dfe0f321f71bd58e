// SPDX-License-Identifier: Apache-2.0
// The timed part of a link.
#include "link/link.h"

#include <algorithm>
#include <utility>

#include "monitor/link_monitor.h"

namespace flitwise {
namespace {

constexpr std::array<const char*, 2> kSideNames = {"upstream", "downstream"};  // by LinkSide

// The packet is of no interest; any one of the class tells that there is room.
void say_room(const Link::Sockets& sockets, std::size_t side, Packet& any) {
  if (sockets.from[side]) {
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    (*sockets.from[side])->nb_transport_bw(any, phase, delay);
  }
}

}  // namespace

Link::Link(const sc_core::sc_module_name& name, const LinkConfig& link,
           const MessageConfig& message, const FaultsConfig& faults, const Random& random,
           PacketPool& pool, const std::array<LinkCredits, 2>& advertised, Agents agents)
    : ComponentModule(name),
      config_(link),
      faults_(faults),
      flight_(link.timing.propagation + link.timing.receive +
              (link.is_in_flit_mode() ? link.timing.fec : Time{})),
      lookahead_(link.timing.clock + LaneStream(coding_of(link)).symbol_time()),
      agenda_("work", link.timing.clock),
      pool_(pool) {
  for (std::size_t i = 0; i < 2; ++i) {
    LinkConfig own = link;
    own.credits = advertised[i];
    ends_[i] = std::make_unique<End>(static_cast<LinkSide>(i), own, message,
                                     i == 1 ? faults.up : faults.down, random.split(kSideNames[i]),
                                     pool, agents.has_cache || agents.has_mem);
    ends_[i]->framer->start(Time{});
    agenda_.at(kTransmit + i, Time{});
  }
  open(port, "");
  if (agents.has_cache) {
    open(cache, "cache_");
  }
  if (agents.has_mem) {
    open(mem, "mem_");
  }
  agenda_.wakes("work_process", [this] { work(); });
}

void Link::open(Sockets& sockets, const std::string& prefix) {
  for (int side = 0; side < 2; ++side) {
    const auto i = static_cast<std::size_t>(side);
    const std::string name = kSideNames[i];
    sockets.from[i] = std::make_unique<LinkTarget<Link>>((prefix + "from_" + name).c_str());
    sockets.to[i] = std::make_unique<LinkInitiator<Link>>((prefix + "to_" + name).c_str());
    sockets.from[i]->register_nb_transport_fw(this, &Link::port_sends, side);
    sockets.to[i]->register_nb_transport_bw(this, &Link::port_frees, side);
  }
}

// A packet of the port, or a message of an agent of CXL.cache or CXL.mem.
[[gnu::flatten]] tlm::tlm_sync_enum Link::port_sends(int side, Packet& packet,
                                                     tlm::tlm_phase& /*phase*/,
                                                     sc_core::sc_time& delay) {
  const auto i = static_cast<std::size_t>(side);
  End& end = *ends_[i];
  if (is_resting_) {
    wake();
  }
  if (is_down_) {
    end.account.lost.add(packet);
    return tlm::TLM_COMPLETED;
  }
  const bool is_message = packet.kind == PacketKind::kCxl;
  const FcClass fc = fc_class(packet.tlp.type);
  bool& is_refused = is_message ? end.refused_agent : end.refused[static_cast<std::size_t>(fc)];
  if (is_message ? !end.messages->has_room(packet.cxl->channel) : !end.queues.has_room(fc)) {
    is_refused = true;
    return tlm::TLM_ACCEPTED;
  }
  const Time arrival = now() + Time{static_cast<std::int64_t>(delay.value())};
  if (is_message || packet.stamped(Hop::kQueued) == kNotStamped) {
    packet.stamp(Hop::kQueued, arrival);
  }
  end.taken.add(packet);
  if (is_message) {
    end.messages->push(PacketRef(&packet), arrival);
  } else {
    end.queues.push(PacketRef(&packet), arrival);
  }
  if (monitor_ != nullptr) {
    is_message ? monitor_->queued_message(packet) : monitor_->queued(i, fc, packet);
  }
  agenda_.at(kTransmit + i, std::max(arrival, next_slot(end)));
  if (is_message) {
    return tlm::TLM_COMPLETED;
  }
  is_refused = !end.queues.has_room(fc);
  return is_refused ? tlm::TLM_UPDATED : tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum Link::port_frees(int side, Packet& packet, tlm::tlm_phase& /*phase*/,
                                    sc_core::sc_time& /*delay*/) {
  const auto i = static_cast<std::size_t>(side);
  End& end = *ends_[i];
  if (is_resting_) {
    wake();
  }
  if (is_down_) {
    return tlm::TLM_COMPLETED;  // it counts for nothing: the link comes up with all buffers free
  }
  end.framer->freed(packet, now());
  agenda_.at(kTransmit + i, std::max(end.framer->deadline(), next_slot(end)));
  return tlm::TLM_COMPLETED;
}

// What has arrived on an edge counts for what is sent on it.
void Link::work() {
  agenda_.begin();
  const Time t = now();
  for (std::size_t side = 0; side < 2; ++side) {
    if (agenda_.take(kReceive + side, t)) {
      receive(side);
    }
  }
  for (std::size_t side = 0; side < 2; ++side) {
    if (agenda_.take(kTransmit + side, t) && !is_resting_) {
      transmit(side);
    }
  }
  agenda_.end();
}

// On an idle wire in flit mode the next flit has yet to begin: what comes until then shares it.
// [LNK-11.4] When to look at the lanes again, where it cannot begin yet.
std::optional<Time> Link::later_slot(const End& from, Time t) const {
  if (from.lanes.coding().blocks_per_flit == 0 || from.lanes.free_at() > t) {
    return std::nullopt;
  }
  const Time slot = from.lanes.next_start(t);
  return slot < t + lookahead_ ? std::nullopt : std::optional(slot - lookahead_ + Time{1});
}

bool Link::waits_for_slot(std::size_t side, Time t) {
  const End& from = *ends_[side];
  const std::optional<Time> slot = later_slot(from, t);
  if (!slot || std::min(from.framer->deadline(), from.first_arrival()) > t) {
    return false;
  }
  agenda_.at(kTransmit + side, *slot);
  return true;
}

// Fills the wire up to one clock and one symbol ahead: several units may leave on one edge.
[[gnu::flatten]] void Link::transmit(std::size_t side) {
  End& from = *ends_[side];
  const Time t = now();
  if (from.is_held_up(t)) {
    agenda_.at(kTransmit + side, from.delayed_to);
    return;
  }
  if (waits_for_slot(side, t)) {
    return;
  }
  const Time horizon = t + lookahead_;
  bool sent_tlp = false;
  bool more = true;
  while (more && from.lanes.free_at() < horizon) {
    InFlight flying;
    more = from.framer->next(t, flying.unit);
    if (more) {
      sent_tlp = sent_tlp || flying.unit.has_payload();
      put_on_wire(side, std::move(flying), t);
    }
  }
  if (from.messages) {
    from.messages->note_stalls(t);
  }
  if (from.framer->take_recovery_request()) {
    recover(t);
    if (from.rolled_over && from.framer->was_replay_num()) {
      from.rolled_over();
    }
  }
  // The next edge on which the wire takes another unit, or on which one arrives; what waits for
  // credits is woken by them.
  if (from.lanes.free_at() >= horizon && (more || from.has_queued())) {
    agenda_.at(kTransmit + side, next_slot(from));
  } else if (from.has_queued()) {
    agenda_.at(kTransmit + side, from.next_arrival(t));
  }
  const Time deadline = from.framer->deadline();
  if (deadline != Time::never()) {
    agenda_.at(kTransmit + side, std::max(deadline, next_slot(from)));
  }
  // Last, so that what comes now does not ask for a later wake-up before the nearer one is set.
  if (sent_tlp) {
    tell_room(side);
  }
}

[[gnu::flatten]] void Link::receive(std::size_t side) {
  End& to = *ends_[side];
  End& from = *ends_[1 - side];
  const Time t = now();
  while (!from.wire.empty() && from.wire.front().arrival <= t) {
    const InFlight& arrived = from.wire.front();
    if (arrived.is_half) {
      to.framer->receive_half(arrived.unit, to.delivered);
    } else if (!arrived.is_lost) {
      if (monitor_ != nullptr && !arrived.is_damaged) {
        monitor_->arrived(side, arrived.unit, t);
      }
      to.framer->receive(arrived.unit, arrived.is_damaged, t, to.delivered);
      if (monitor_ != nullptr) {
        monitor_->accepted(side, arrived.unit, arrived.is_damaged, to.delivered, t);
      }
    }
    for (const PacketRef& packet : to.delivered) {
      packet->stamp(Hop::kReceived, t);
      to.delivered_load.add(*packet);
      deliver(side, packet, t);
      if (monitor_ != nullptr) {
        packet->kind == PacketKind::kCxl ? monitor_->delivered_message(*packet, t)
                                         : monitor_->delivered(side, *packet, t);
      }
    }
    to.delivered.clear();
    from.wire.pop_front();
  }
  if (!from.wire.empty()) {
    agenda_.at(kReceive + side, from.wire.front().arrival);
  }
  if (to.messages) {
    to.messages->note_stalls(t);
  }
  // Acks and credits may have opened the way for what waits here, and something may be owed to the
  // other end.
  const Time wanted = std::min(to.first_arrival(), to.framer->deadline());
  if (wanted != Time::never()) {
    agenda_.at(kTransmit + side, std::max(wanted, next_slot(to)));
  }
}

void Link::deliver(std::size_t side, const PacketRef& packet, Time t) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const Sockets& sockets = packet->kind != PacketKind::kCxl                              ? port
                           : info_of(packet->cxl->channel).protocol == CxlProtocol::kMem ? mem
                                                                                         : cache;
  if ((*sockets.to[side])->nb_transport_fw(*packet, phase, delay) == tlm::TLM_COMPLETED) {
    ends_[side]->framer->freed(*packet, t);
  }
}

void Link::tell_room(std::size_t side) {
  End& end = *ends_[side];
  if (end.refused_agent) {
    end.refused_agent = false;
    const PacketRef any = pool_.make(PacketKind::kCxl);
    say_room(cache, side, *any);
    say_room(mem, side, *any);
  }
  for (std::size_t fc = 0; fc < kFcClasses; ++fc) {
    if (end.refused[fc] && end.queues.has_room(static_cast<FcClass>(fc))) {
      end.refused[fc] = false;
      const PacketRef any = is_down_ ? pool_.make(PacketKind::kTlp) : end.wire.back().unit.packet;
      say_room(port, side, *any);
    }
  }
}

void Link::draw_skp_phases(Random random) {
  for (auto& end : ends_) {
    if (const std::uint64_t period = end->lanes.skp_period(); period > 0) {
      end->lanes.advance_skps(random.below(period));
    }
  }
}

}  // namespace flitwise
