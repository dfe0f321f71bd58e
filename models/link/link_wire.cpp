// SPDX-License-Identifier: Apache-2.0
// What a link does with a unit on its wire: damage, faults, trace and account; and a link that
// trains again, goes down or comes up. [LNK-10.2] to [LNK-10.7]
#include <algorithm>
#include <utility>

#include "common/ranges.h"
#include "faults/broken_rules.h"
#include "link/cxl_cachemem.h"
#include "link/flit_framer.h"
#include "link/link.h"
#include "monitor/link_monitor.h"
#include "tlp/wire_size.h"

namespace flitwise {
namespace {

// The first TLP that counts for the window begins in it.
bool begins_counted(const WireUnit& unit) {
  if (!unit.is_flit()) {
    return unit.packet->kind != PacketKind::kDllp && unit.packet->counts;
  }
  const std::vector<PacketRef>& tlps = unit.packet->flit->starts;
  return std::any_of(tlps.begin(), tlps.end(), [](const PacketRef& one) { return one->counts; });
}

}  // namespace

[[gnu::flatten]] void Link::put_on_wire(std::size_t side, InFlight&& flying, Time earliest) {
  End& from = *ends_[side];
  const WireUnit& unit = flying.unit;
  const bool opens_window = from.opens_window && begins_counted(unit);
  if (opens_window) {
    from.open_window(std::max(earliest, from.lanes.free_at()));
  }
  const std::uint32_t bits = unit.size.total();
  const Placement placement = from.lanes.place(bits / from.lanes.coding().unit_bits, earliest);
  flying.arrival = placement.last + flight_;
  flying.is_damaged = from.errors.is_active() && from.is_damaged(unit);
  const auto stamp = [&](Packet& packet) {
    if (packet.stamped(Hop::kSent) == kNotStamped) {
      packet.stamp(Hop::kSent, placement.first);
    }
  };
  if (unit.is_flit()) {
    for (const PacketRef& packet : unit.packet->flit->starts) {
      stamp(*packet);
    }
  } else if (unit.has_payload()) {
    stamp(*unit.packet);
  }
  from.framer->sent(unit, placement.last);
  from.count(unit, placement);
  if (opens_window && unit.is_flit() && !unit.is_replay) {
    from.leave_out_warmup(*unit.packet->flit);
  }
  from.account.damaged += flying.is_damaged ? 1 : 0;
  if (monitor_ != nullptr) {
    monitor_->sent(side, unit, placement.first);
  }
  if (unit.is_flit() && unit.packet->flit->ends_in_half > 0) {
    flying.half_arrival = half_arrival(from, placement);
  }
  if (!from.wire_faults.empty() || from.delayed_to > flying.arrival) {
    strike(side, flying);
  }
  if (flying.is_damaged) {
    from.note_damage(unit);
  }
  if (sink_ != nullptr) {
    record(side, flying, placement);
  }
  fly(side, std::move(flying));
}

// A flit, the TLPs that end in it (their first symbol may be in an earlier one), its Ack and DLLP.
void Link::record(std::size_t side, const InFlight& flying, const Placement& placement) const {
  const WireUnit& sent = flying.unit;
  const auto tell = [&](const Packet& packet) {
    sink_->record({placement.first, placement.last, name(), side == 1, sent.is_replay,
                   flying.is_damaged, flying.is_lost, &packet != sent.packet.get(), sent.sequence,
                   &packet, now()});
  };
  tell(*sent.packet);
  if (sent.is_flit()) {
    for (const PacketRef& packet : sent.packet->flit->ends) {
      tell(*packet);
    }
    for (const FlitPart& part : sent.packet->flit->parts) {
      if (part.ends) {
        sink_->record({placement.first, placement.last, name(), side == 1, part.is_replay,
                       part.is_damaged, flying.is_lost, true, part.sequence, part.packet.get(),
                       now()});
      }
    }
  }
  if (sent.ack) {
    tell(*sent.ack);
  }
  if (sent.dllp) {
    tell(*sent.dllp);
  }
}

// A half with a wrong bit waits for FEC, and so for the whole flit. [CXL-6.6]
Time Link::half_arrival(const End& from, const Placement& placement) const {
  if (!from.errors.is_first_half_good()) {
    return Time::never();
  }
  const Time middle{(placement.first.fs + placement.last.fs) / 2};
  const Time flight = kHalfTakesFecTime ? flight_ : flight_ - config_.timing.fec;
  const Time before = from.wire.empty() ? Time{} : from.wire.back().arrival;
  return std::max(middle + flight, before);
}

void Link::fly(std::size_t side, InFlight&& flying) {
  End& from = *ends_[side];
  if (flying.half_arrival != Time::never()) {
    InFlight half = flying;
    half.arrival = std::exchange(flying.half_arrival, Time::never());
    half.half_arrival = Time::never();
    half.is_copy = half.is_half = true;
    fly(side, std::move(half));
  }
  make_room(from.wire);
  const Time arrival = flying.arrival;
  from.wire.push_back(std::move(flying));
  if (from.wire.size() == 1) {
    agenda_.at(kReceive + 1 - side, arrival);
  }
}

// A wire keeps the order of what is on it: a late unit makes those behind it late.
[[gnu::noinline]] void Link::strike(std::size_t side, InFlight& flying) {
  End& from = *ends_[side];
  const Strike strike = from.wire_faults.strike(flying.unit);
  // 68-byte flits have no numbers and no gaps: where one is missing, the wire carries something
  // else, and where messages were to come twice, they come garbled. [CXL-3.6]
  const bool is_flit68 = flying.unit.is_flit() && flying.unit.size.fec == 0;
  const bool is_cachemem = is_flit68 && flying.unit.is_of_cachemem();
  const bool is_garbled = (is_flit68 && strike.is_lost) || (is_cachemem && strike.is_doubled);
  flying.is_damaged = flying.is_damaged || strike.is_damaged || is_garbled;
  flying.is_lost = strike.is_lost && !is_garbled;
  from.account.damaged += strike.is_damaged || strike.is_lost || is_garbled ? 1 : 0;
  if (from.delayed_to <= flying.arrival) {
    from.held_up = 0;  // all that was late has arrived
  }
  from.delayed_to = std::max(from.delayed_to, flying.arrival + strike.delay);
  from.held_up += from.delayed_to > flying.arrival ? 1 : 0;
  if (strike.is_damaged || strike.is_lost || flying.arrival != from.delayed_to) {
    flying.half_arrival = Time::never();
  }
  flying.arrival = from.delayed_to;
  if (strike.is_doubled && !is_garbled) {
    fly(side, InFlight(flying));
    flying.is_copy = true;
    flying.half_arrival = Time::never();
  }
}

void Link::send_dllp(LinkSide sender, const Dllp& dllp) {
  wake();
  if (is_down_) {
    return;
  }
  PacketRef packet = pool_.make(PacketKind::kDllp);
  packet->dllp = dllp;
  packet->is_raw = true;
  const auto side = static_cast<std::size_t>(sender);
  if (ends_[side]->framer->stage(packet)) {
    agenda_.at(kTransmit + side, std::max(now(), next_slot(*ends_[side])));
    return;
  }
  InFlight flying;
  if (config_.is_in_flit_mode()) {
    flying.unit = FlitFramer::nop_with(std::move(packet), pool_);
  } else {
    flying.unit.packet = std::move(packet);
    flying.unit.size = wire_size_of(dllp);
  }
  put_on_wire(side, std::move(flying), now());
}

void Link::hold_faults() {
  for (const std::unique_ptr<End>& end : ends_) {
    end->held = std::move(end->errors);
    end->errors = BitErrors(0, DirectionFaults(), Random(0));
  }
}

void Link::release_faults() {
  for (const std::unique_ptr<End>& end : ends_) {
    if (end->held) {
      end->errors = std::move(*end->held);
      end->held.reset();
    }
    end->framer->set_hooks({broken_acks(faults_), broken_updates(faults_)});
    if (faults_.breaks(BrokenRule::kOrdering)) {
      end->queues.break_ordering();
    }
    if (end->messages) {
      end->messages->gate().set_hook(broken_cxl_credits(faults_));
      if (faults_.breaks(BrokenRule::kCxlMessages)) {
        end->messages->break_order();
      }
    }
  }
}

// An UpdateFC on its wire says nothing that changes what an end without TLPs does. [LNK-8.12]
void Link::rest() {
  const auto says_nothing_new = [](const PacketRef& packet) {
    return packet->kind == PacketKind::kDllp &&
           (is_update_fc(packet->dllp.type) || packet->dllp.type == DllpType::kOptimizedUpdateFc);
  };
  const auto is_periodic = [&](const InFlight& flying) {
    const WireUnit& unit = flying.unit;
    if (!unit.is_flit()) {
      return says_nothing_new(unit.packet);
    }
    return !unit.has_payload() && !unit.ack && (!unit.dllp || says_nothing_new(unit.dllp)) &&
           all_of(unit.packet->flit->parts,
                  [&](const FlitPart& part) { return says_nothing_new(part.packet); });
  };
  is_resting_ =
      is_resting_ || (!is_down_ && sink_ == nullptr && all_of(ends_, [&](const auto& end) {
        return end->framer->may_rest() && !end->errors.is_active() && end->wire_faults.empty() &&
               all_of(end->wire, is_periodic);
      }));
}

// The same edges, and the same places on the lanes, as in work().
void Link::wake() {
  for (std::size_t side = 0; is_resting_ && side < 2; ++side) {
    End& from = *ends_[side];
    const auto next = [&] { return std::max(from.framer->next_update(), next_slot(from)); };
    for (Time due = next(); due < now(); due = next()) {
      Time edge = next_edge(due, config_.timing.clock);
      if (const std::optional<Time> slot = later_slot(from, edge)) {
        edge = next_edge(*slot, config_.timing.clock);
      }
      if (edge >= now()) {
        break;
      }
      while (from.framer->next_update() <= edge && from.lanes.free_at() < edge + lookahead_) {
        const WireSize size = from.framer->skip_update(edge);
        from.lanes.place(size.total() / from.lanes.coding().unit_bits, edge);
        from.count_bits(size);
      }
    }
    agenda_.at(kTransmit + side, next());
  }
  is_resting_ = false;
}

// Both directions fall silent for so long. [LNK-10.2]
Time Link::train(Time t) {
  const Time until = t + config_.timing.retrain;
  for (std::size_t side = 0; side < 2; ++side) {
    End& from = *ends_[side];
    if (from.delayed_to > until + flight_) {
      from.lose_delayed(until + flight_, config_.preset.cxl == CxlFlits::k68);
      agenda_.at(kReceive + 1 - side, until + flight_);
    }
    from.lanes.settle(until);
    agenda_.at(kTransmit + side, until);
  }
  return until;
}

// What is not acknowledged goes out again afterwards. [LNK-10.3]
void Link::recover(Time t) {
  const Time until = train(t);
  for (const std::unique_ptr<End>& end : ends_) {
    end->framer->recovered(until);
  }
}

void Link::take_down() {
  wake();
  is_down_ = true;
  for (std::size_t side = 0; side < 2; ++side) {
    End& from = *ends_[side];
    from.framer->reset(now());
    from.queues.reset(now());
    if (from.messages) {
      from.messages->reset();
      from.messages->note_stalls(now());
    }
    from.wire.clear();
    from.delayed_to = Time{};
    from.held_up = 0;
    // What the port gave and the other has not got is lost, wherever it was. [LNK-10.4]
    LinkLoad missing = from.taken;
    missing -= ends_[1 - side]->delivered_load;
    from.account.lost += missing;
    from.account.lost -= std::exchange(from.written_off, missing);
  }
  if (monitor_ != nullptr) {
    monitor_->went_down();
  }
  // What the ports kept back goes the same way.
  for (std::size_t side = 0; side < 2; ++side) {
    tell_room(side);
  }
}

// [LNK-10.7]
void Link::bring_up() {
  is_down_ = false;
  const Time until = train(now());
  for (const std::unique_ptr<End>& end : ends_) {
    end->framer->start(until);
  }
}

}  // namespace flitwise
