// SPDX-License-Identifier: Apache-2.0
// The timed part of a link.
#include "link/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "link/cxl256_cachemem.h"
#include "link/flit_framer.h"
#include "monitor/link_monitor.h"
#include "tlp/wire_size.h"

namespace flitwise {
namespace {

constexpr std::size_t kWireSlots = 64;  // grows when a long wire holds more

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

bool is_of_cachemem(const WireUnit& unit) {
  return unit.is_flit() && unit.packet->flit->is_cachemem;
}

CxlDirection direction_of(LinkSide side) {
  return side == LinkSide::kUpstream ? CxlDirection::kDownstream : CxlDirection::kUpstream;
}

const char* name_of(FcClass fc) {
  switch (fc) {
    case FcClass::kPosted:
      return "posted";
    case FcClass::kNonPosted:
      return "non-posted";
    case FcClass::kCompletion:
      return "completion";
  }
  return "?";
}

}  // namespace

Link::End::End(LinkSide side, const LinkConfig& link, const MessageConfig& message,
               const DirectionFaults& faults, const Random& random, PacketPool& pool,
               bool has_cachemem)
    : queues(link.queue_depth, link.relaxed_passing),
      messages(has_cachemem || link.preset.cxl == CxlFlits::k68
                   ? std::make_unique<CxlQueues>(direction_of(side), link.cxl.queue_depth)
                   : nullptr),
      framer(make_framer(link, message, queues, messages.get(), pool)),
      lanes(coding_of(link)),
      errors(link.error_rate, faults, random, link.error_burst),
      wire(kWireSlots) {}

Link::Link(const sc_core::sc_module_name& name, const LinkConfig& link,
           const MessageConfig& message, const FaultsConfig& faults, const Random& random,
           PacketPool& pool, const std::array<LinkCredits, 2>& advertised, Agents agents)
    : sc_module(name),
      config_(link),
      faults_(faults),
      flight_(link.timing.propagation + link.timing.receive +
              (link.is_in_flit_mode() ? link.timing.fec : Time{})),
      lookahead_(link.timing.clock + LaneStream(coding_of(link)).symbol_time()),
      agenda_("work", link.timing.clock),
      pool_(pool) {
  static constexpr const char* kNames[] = {"upstream", "downstream"};
  for (int side = 0; side < 2; ++side) {
    const auto i = static_cast<std::size_t>(side);
    const std::string side_name = kNames[i];
    LinkConfig own = link;
    own.credits = advertised[i];
    ends_[i] = std::make_unique<End>(static_cast<LinkSide>(side), own, message,
                                     side == 1 ? faults.up : faults.down, random.split(side_name),
                                     pool, agents.has_cache || agents.has_mem);
    from_port[i] = std::make_unique<LinkTarget<Link>>(("from_" + side_name).c_str());
    to_port[i] = std::make_unique<LinkInitiator<Link>>(("to_" + side_name).c_str());
    from_port[i]->register_nb_transport_fw(this, &Link::port_sends, side);
    to_port[i]->register_nb_transport_bw(this, &Link::port_frees, side);
    ends_[i]->framer->start(Time{});
    agenda_.at(kTransmit + i, Time{});
  }
  if (agents.has_cache) {
    open(cache, "cache");
  }
  if (agents.has_mem) {
    open(mem, "mem");
  }
  sc_core::sc_spawn_options options;
  options.spawn_method();
  options.dont_initialize();
  agenda_.wakes(options);
  sc_core::sc_spawn([this] { work(); }, "work_process", &options);
}

tlm::tlm_sync_enum Link::port_sends(int side, Packet& packet, tlm::tlm_phase& /*phase*/,
                                    sc_core::sc_time& delay) {
  const auto i = static_cast<std::size_t>(side);
  End& end = *ends_[i];
  if (is_down_) {
    end.account.lost.add(packet);
    return tlm::TLM_COMPLETED;
  }
  const FcClass fc = fc_class(packet.tlp.type);
  if (!end.queues.has_room(fc)) {
    end.refused[static_cast<std::size_t>(fc)] = true;
    return tlm::TLM_ACCEPTED;
  }
  const Time arrival = now() + Time{static_cast<std::int64_t>(delay.value())};
  if (packet.stamped(Hop::kQueued) == kNotStamped) {
    packet.stamp(Hop::kQueued, arrival);
  }
  end.taken.add(packet);
  end.queues.push(PacketRef(&packet), arrival);
  if (monitor_ != nullptr) {
    monitor_->queued(i, fc, packet);
  }
  agenda_.at(kTransmit + i, std::max(arrival, next_slot(end)));
  const bool is_full = !end.queues.has_room(fc);
  end.refused[static_cast<std::size_t>(fc)] = is_full;
  return is_full ? tlm::TLM_UPDATED : tlm::TLM_COMPLETED;
}

void Link::open(AgentSockets& sockets, const char* protocol) {
  static constexpr std::array<const char*, 2> kNames = {"upstream", "downstream"};
  for (int side = 0; side < 2; ++side) {
    const auto i = static_cast<std::size_t>(side);
    sockets.from[i] =
        std::make_unique<LinkTarget<Link>>(fmt::format("{}_from_{}", protocol, kNames[i]).c_str());
    sockets.to[i] =
        std::make_unique<LinkInitiator<Link>>(fmt::format("{}_to_{}", protocol, kNames[i]).c_str());
    sockets.from[i]->register_nb_transport_fw(this, &Link::agent_sends, side);
    sockets.to[i]->register_nb_transport_bw(this, &Link::port_frees, side);
  }
}

tlm::tlm_sync_enum Link::agent_sends(int side, Packet& packet, tlm::tlm_phase& /*phase*/,
                                     sc_core::sc_time& delay) {
  const auto i = static_cast<std::size_t>(side);
  End& end = *ends_[i];
  if (is_down_) {
    end.account.lost.add(packet);
    return tlm::TLM_COMPLETED;
  }
  if (!end.messages->has_room(packet.cxl->channel)) {
    end.refused_agent = true;
    return tlm::TLM_ACCEPTED;
  }
  const Time arrival = now() + Time{static_cast<std::int64_t>(delay.value())};
  packet.stamp(Hop::kQueued, arrival);
  end.taken.add(packet);
  end.messages->push(PacketRef(&packet), arrival);
  if (monitor_ != nullptr) {
    monitor_->queued_message(packet);
  }
  agenda_.at(kTransmit + i, std::max(arrival, next_slot(end)));
  return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum Link::port_frees(int side, Packet& packet, tlm::tlm_phase& /*phase*/,
                                    sc_core::sc_time& /*delay*/) {
  const auto i = static_cast<std::size_t>(side);
  End& end = *ends_[i];
  if (is_down_) {
    return tlm::TLM_COMPLETED;  // it counts for nothing: all buffers are free when the link comes
                                // up
  }
  end.framer->freed(packet, now());
  agenda_.at(kTransmit + i, std::max(end.framer->deadline(), next_slot(end)));
  return tlm::TLM_COMPLETED;
}

// From when on transmit() finds its wire free less than the look-ahead.
Time Link::next_slot(const End& end) const {
  return end.lanes.free_at() - lookahead_ + Time{1};
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
    if (agenda_.take(kTransmit + side, t)) {
      transmit(side);
    }
  }
  agenda_.end();
}

// On an idle wire in flit mode the next flit has yet to begin: what comes until then shares it.
// [LNK-11.4]
bool Link::waits_for_slot(std::size_t side, Time t) {
  const End& from = *ends_[side];
  if (from.lanes.free_at() > t) {
    return false;
  }
  const Time slot = from.lanes.next_start(t);
  if (slot < t + lookahead_ || std::min(from.framer->deadline(), from.first_arrival()) > t) {
    return false;
  }
  agenda_.at(kTransmit + side, slot - lookahead_ + Time{1});
  return true;
}

// Fills the wire up to one clock and one symbol ahead: several units may leave on one edge.
void Link::transmit(std::size_t side) {
  End& from = *ends_[side];
  const Time t = now();
  if (from.lanes.coding().blocks_per_flit != 0 && waits_for_slot(side, t)) {
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

bool Link::begins_counted(const WireUnit& unit) {
  if (!unit.is_flit()) {
    return unit.packet->kind != PacketKind::kDllp && unit.packet->counts;
  }
  const std::vector<PacketRef>& tlps = unit.packet->flit->starts;
  return std::any_of(tlps.begin(), tlps.end(), [](const PacketRef& one) { return one->counts; });
}

bool Link::is_damaged(End& from, const WireUnit& unit) {
  if (unit.is_flit() && unit.size.fec > 0) {
    const FlitDamage damage = from.errors.strike_flit(unit.has_payload());
    from.account.corrected += damage == FlitDamage::kCorrected ? 1 : 0;
    return damage == FlitDamage::kUncorrectable;
  }
  const std::uint32_t bits = unit.size.total();
  return unit.has_payload() ? from.errors.damages_tlp(bits) : from.errors.damages_dllp(bits);
}

void Link::put_on_wire(std::size_t side, InFlight&& flying, Time earliest) {
  End& from = *ends_[side];
  const WireUnit& unit = flying.unit;
  if (from.opens_window && begins_counted(unit)) {
    open_window(from, std::max(earliest, from.lanes.free_at()));
  }
  const std::uint32_t bits = unit.size.total();
  const Placement placement = from.lanes.place(bits / from.lanes.coding().unit_bits, earliest);
  flying.arrival = placement.last + flight_;
  flying.is_damaged = from.errors.is_active() && is_damaged(from, unit);
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
  account_for(from, unit, placement);
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
    from.framer->damaged(unit, now());
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
    sink_->record({placement.first, placement.last, basename(), side == 1, sent.is_replay,
                   flying.is_damaged, flying.is_lost, &packet != sent.packet.get(), sent.sequence,
                   &packet});
  };
  tell(*sent.packet);
  if (sent.is_flit()) {
    for (const PacketRef& packet : sent.packet->flit->ends) {
      tell(*packet);
    }
    for (const FlitPart& part : sent.packet->flit->parts) {
      if (part.ends) {
        sink_->record({placement.first, placement.last, basename(), side == 1, part.is_replay,
                       part.is_damaged, flying.is_lost, true, part.sequence, part.packet.get()});
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
  if (from.wire.full()) {
    from.wire.set_capacity(from.wire.capacity() * 2);
  }
  const Time arrival = flying.arrival;
  from.wire.push_back(std::move(flying));
  if (from.wire.size() == 1) {
    agenda_.at(kReceive + 1 - side, arrival);
  }
}

// A wire keeps the order of what is on it: a late unit makes those behind it late.
void Link::strike(std::size_t side, InFlight& flying) {
  End& from = *ends_[side];
  const Strike strike = from.wire_faults.strike(flying.unit);
  // 68-byte flits have no numbers and no gaps: where one is missing, the wire carries something
  // else, and where messages were to come twice, they come garbled. [CXL-3.6]
  const bool is_flit68 = flying.unit.is_flit() && flying.unit.size.fec == 0;
  const bool is_cachemem = is_flit68 && is_of_cachemem(flying.unit);
  const bool is_garbled = (is_flit68 && strike.is_lost) || (is_cachemem && strike.is_doubled);
  flying.is_damaged = flying.is_damaged || strike.is_damaged || is_garbled;
  flying.is_lost = strike.is_lost && !is_garbled;
  from.account.damaged += strike.is_damaged || strike.is_lost || is_garbled ? 1 : 0;
  from.delayed_to = std::max(from.delayed_to, flying.arrival + strike.delay);
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

void Link::on_rollover(LinkSide side, std::function<void()> action) {
  ends_[static_cast<std::size_t>(side)]->rolled_over = std::move(action);
}

void Link::add_fault(LinkSide sender, const WireFault& fault) {
  ends_[static_cast<std::size_t>(sender)]->wire_faults.add(fault);
}

void Link::send_dllp(LinkSide sender, const Dllp& dllp) {
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
  WireUnit& unit = flying.unit;
  unit.packet = std::move(packet);
  unit.size = wire_size_of(dllp);
  if (config_.is_in_flit_mode()) {
    unit = FlitFramer::nop_with(std::move(unit.packet), pool_);
  }
  put_on_wire(side, std::move(flying), now());
}

// A TLP counts in the flit in which it begins; the last symbol is that of the last flit with a part
// of one.
void Link::account_for(End& from, const WireUnit& unit, const Placement& placement) {
  Account& account = from.account;
  if (unit.is_replay) {
    account.bits.replay += unit.size.total();
    return;
  }
  account.bits.header += unit.size.header;
  account.bits.identity += unit.size.identity;
  account.bits.payload += unit.size.payload;
  account.bits.padding += unit.size.padding;
  account.bits.framing += unit.size.framing;
  account.bits.crc += unit.size.crc;
  account.bits.dllp += unit.size.dllp;
  account.bits.fec += unit.size.fec;
  account.bits.idle += unit.size.idle;
  account.bits.replay += unit.size.replay;
  const bool has_slots_in_use = unit.size.header + unit.size.payload + unit.size.padding > 0;
  if (!unit.has_payload() || (is_of_cachemem(unit) && !has_slots_in_use)) {
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

void Link::receive(std::size_t side) {
  End& to = *ends_[side];
  End& from = *ends_[1 - side];
  const Time t = now();
  while (!from.wire.empty() && from.wire.front().arrival <= t) {
    const InFlight& arrived = from.wire.front();
    if (arrived.is_half) {
      to.framer->receive_half(arrived.unit, to.delivered);
    } else if (!arrived.is_lost) {
      take(side, arrived, t);
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
  // Acks and credits may have opened the way for what waits here, and something may be owed to the
  // other end.
  const Time wanted = std::min(to.first_arrival(), to.framer->deadline());
  if (wanted != Time::never()) {
    agenda_.at(kTransmit + side, std::max(wanted, next_slot(to)));
  }
}

void Link::take(std::size_t side, const InFlight& arrived, Time t) {
  End& to = *ends_[side];
  if (monitor_ != nullptr && !arrived.is_damaged) {
    monitor_->arrived(side, arrived.unit, t);
  }
  to.framer->receive(arrived.unit, arrived.is_damaged, t, to.delivered);
  if (monitor_ != nullptr) {
    monitor_->accepted(side, arrived.unit, arrived.is_damaged, to.delivered, t);
  }
}

void Link::deliver(std::size_t side, const PacketRef& packet, Time t) {
  tlm::tlm_phase phase = tlm::BEGIN_REQ;
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  const bool is_of_agent = packet->kind == PacketKind::kCxl;
  LinkInitiator<Link>& to = !is_of_agent ? *to_port[side]
                            : info_of(packet->cxl->channel).protocol == CxlProtocol::kMem
                                ? *mem.to[side]
                                : *cache.to[side];
  if (to->nb_transport_fw(*packet, phase, delay) == tlm::TLM_COMPLETED) {
    ends_[side]->framer->freed(*packet, t);
  }
}

void Link::tell_room(std::size_t side) {
  End& end = *ends_[side];
  if (end.refused_agent) {
    end.refused_agent = false;
    tlm::tlm_phase phase = tlm::END_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const PacketRef any = pool_.make(PacketKind::kCxl);
    for (const AgentSockets* const agents : {&cache, &mem}) {
      if (agents->from[side]) {
        (*agents->from[side])->nb_transport_bw(*any, phase, delay);
      }
    }
  }
  for (std::size_t fc = 0; fc < kFcClasses; ++fc) {
    if (end.refused[fc] && end.queues.has_room(static_cast<FcClass>(fc))) {
      end.refused[fc] = false;
      // The packet is of no interest to the port; any one of the class tells it that there is room.
      tlm::tlm_phase phase = tlm::END_REQ;
      sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
      const PacketRef any = is_down_ ? pool_.make(PacketKind::kTlp) : end.wire.back().unit.packet;
      (*from_port[side])->nb_transport_bw(*any, phase, delay);
    }
  }
}

// Both directions fall silent for so long. [LNK-10.2]
Time Link::train(Time t) {
  const Time until = t + config_.timing.retrain;
  for (std::size_t side = 0; side < 2; ++side) {
    ends_[side]->lanes.hold_until(until);
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
  is_down_ = true;
  for (std::size_t side = 0; side < 2; ++side) {
    End& from = *ends_[side];
    from.framer->reset(now());
    from.queues.reset(now());
    if (from.messages) {
      from.messages->reset();
    }
    from.wire.clear();
    from.delayed_to = Time{};
    write_off(side);
  }
  if (monitor_ != nullptr) {
    monitor_->went_down();
  }
  // What the ports kept back goes the same way.
  for (std::size_t side = 0; side < 2; ++side) {
    tell_room(side);
  }
}

// What the port gave and the other has not got is lost, wherever it was. [LNK-10.4]
void Link::write_off(std::size_t side) {
  End& from = *ends_[side];
  const Load& arrived = ends_[1 - side]->delivered_load;
  Load& off = from.written_off;
  Load& lost = from.account.lost;
  lost.tlps += from.taken.tlps - arrived.tlps - off.tlps;
  lost.writes += from.taken.writes - arrived.writes - off.writes;
  lost.written_bytes += from.taken.written_bytes - arrived.written_bytes - off.written_bytes;
  off = {from.taken.tlps - arrived.tlps, from.taken.writes - arrived.writes,
         from.taken.written_bytes - arrived.written_bytes};
}

// [LNK-10.7]
void Link::bring_up() {
  is_down_ = false;
  const Time until = train(now());
  for (const std::unique_ptr<End>& end : ends_) {
    end->framer->start(until);
  }
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
    end->framer->break_rules(faults_);
    if (faults_.breaks(BrokenRule::kOrdering)) {
      end->queues.break_ordering();
    }
    if (end->messages && faults_.breaks(BrokenRule::kCxlMessages)) {
      end->messages->break_order();
    }
  }
}

void Link::start_window(bool from_first_counted) {
  for (auto& end : ends_) {
    open_window(*end, now());
    end->opens_window = from_first_counted;
  }
}

Link::Tally Link::tally(const End& end, const LaneStream& settled, Time when) {
  return {end.account,         settled.phy_bits(),      settled.idle_bits(), settled.skps(),
          end.framer->stats(), end.queues.stalls(when), settled.free_at()};
}

Link::Tally Link::tally_now(const End& end) {
  LaneStream lanes = end.lanes;
  lanes.settle(now());
  return tally(end, lanes, now());
}

void Link::open_window(End& end, Time when) {
  end.opens_window = false;
  end.lanes.settle(when);
  end.account.first_symbol = Time::never();
  end.window_begin = tally(end, end.lanes, now());
}

void Link::end_window() {
  for (auto& end : ends_) {
    end->window_end = tally_now(*end);
  }
}

void Link::extend_window() {
  for (auto& end : ends_) {
    end->window_end.reset();
  }
}

DirectionResult Link::direction(const End& from) const {
  const Tally b = from.window_end ? *from.window_end : tally_now(from);
  const Tally& a = from.window_begin;
  const bool is_empty = b.account.first_symbol == Time::never();
  DirectionResult r;
  r.tlps = b.account.tlps - a.account.tlps;
  r.payload_bytes = b.account.payload_bytes - a.account.payload_bytes;
  r.first_symbol = is_empty ? Time{} : b.account.first_symbol;
  r.last_symbol = is_empty ? Time{} : b.account.last_symbol;
  r.window = b.at - a.at;
  r.bits = b.account.bits;
  r.bits.phy = b.phy;
  r.bits.idle += b.idle;
  WireBits before = a.account.bits;
  before.phy = a.phy;
  before.idle += a.idle;
  r.bits -= before;
  r.stalls = {b.stalls.credits_posted - a.stalls.credits_posted,
              b.stalls.credits_nonposted - a.stalls.credits_nonposted,
              b.stalls.credits_completion - a.stalls.credits_completion,
              Time{},
              b.framer.replay_buffer_stall - a.framer.replay_buffer_stall,
              Time{}};
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

LinkResult Link::result() const {
  LinkResult result;
  result.name = basename();
  result.is_bit_packed = config_.carrier == Carrier::kBitPacked;
  result.up = direction(end(LinkSide::kDownstream));
  result.down = direction(end(LinkSide::kUpstream));
  return result;
}

void Link::draw_skp_phases(Random random) {
  for (auto& end : ends_) {
    if (const std::uint64_t period = end->lanes.skp_period(); period > 0) {
      end->lanes.advance_skps(random.below(period));
    }
  }
}

bool Link::carries_tlps() const {
  for (std::size_t side = 0; side < 2; ++side) {
    const End& from = *ends_[side];
    if (from.taken.tlps != ends_[1 - side]->delivered_load.tlps + from.written_off.tlps) {
      return true;
    }
  }
  return false;
}

bool Link::is_quiet() const {
  return std::all_of(ends_.begin(), ends_.end(), [](const auto& end) {
    return end->framer->is_quiet() && end->lanes.free_at() <= now() &&
           std::none_of(end->wire.begin(), end->wire.end(),
                        [](const InFlight& flying) { return flying.unit.has_payload(); });
  });
}

std::size_t Link::on_wire() const {
  std::size_t packets = 0;
  for (const auto& end : ends_) {
    for (const InFlight& flying : end->wire) {
      const WireUnit& unit = flying.unit;
      if (flying.is_copy) {
        continue;
      }
      packets += 1U + (unit.ack ? 1U : 0U) + (unit.dllp ? 1U : 0U);
      if (unit.is_flit()) {
        const std::vector<FlitPart>& parts = unit.packet->flit->parts;
        packets += static_cast<std::size_t>(std::count_if(
            parts.begin(), parts.end(), [](const FlitPart& part) { return part.ends; }));
      }
    }
  }
  return packets;
}

std::string Link::waiting() const {
  std::string text;
  static constexpr const char* kDirections[] = {"down", "up"};
  for (std::size_t i = 0; i < 2; ++i) {
    for (int c = 0; c < kFcClasses; ++c) {
      const auto fc = static_cast<FcClass>(c);
      const TransactionQueues& queues = ends_[i]->queues;
      if (queues.size(fc) == 0) {
        continue;
      }
      text += fmt::format("{} {}: {} {} TLPs queued, {}\n", name(), kDirections[i], queues.size(fc),
                          name_of(fc),
                          queues.starved(fc) != nullptr ? "the first waits for flow control credits"
                                                        : "the first waits behind an older TLP");
    }
    if (const std::string held = ends_[i]->framer->waiting(); !held.empty()) {
      text += fmt::format("{} {}: {}\n", name(), kDirections[i], held);
    }
    if (!ends_[i]->framer->is_active()) {
      text += fmt::format("{} {}: {}\n", name(), kDirections[i],
                          is_down_ ? "the link is down" : "flow control is not initialised");
    }
  }
  return text;
}

std::vector<CheckResult> Link::checks() const {
  std::vector<CheckResult> checks;
  for (std::size_t i = 0; i < 2; ++i) {
    const FramerStats& stats = ends_[i]->framer->stats();
    const std::string at =
        fmt::format("{} {}", basename(), i == 0 ? "upstream end" : "downstream end");
    checks.push_back({at + ": credits conserved", ends_[i]->framer->is_conserved(), ""});
    const DirectionResult sent = direction(*ends_[i]);
    const std::uint64_t raw = ends_[i]->lanes.raw_bits(sent.window);
    checks.push_back({at + ": wire bits add up", sent.bits.total() == raw,
                      fmt::format("{} counted of {}", sent.bits.total(), raw)});
    checks.push_back({at + ": no TLP without credits", stats.credit_overruns == 0,
                      fmt::format("{} came without", stats.credit_overruns)});
  }
  return checks;
}

}  // namespace flitwise
