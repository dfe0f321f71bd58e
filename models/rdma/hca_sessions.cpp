// SPDX-License-Identifier: Apache-2.0
// Packets of an RDMA adapter and the sessions that carry them.
#include "rdma/hca_sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "flitwise/error.h"
#include "network/addresses.h"
#include "rdma/rdma_frame.h"
#include "srdma/configured_rules.h"

namespace flitwise {
namespace {

// A packet that rates and windows limit.
bool is_request(const HcaBuilt& built, const RdmaPacket& packet) {
  return info_of(packet.opcode).is_request() && built.probed == kNoSessionIndex;
}

bool is_request(const HcaBuilt& built) {
  return is_request(built, *built.packet);
}

}  // namespace

// ---- out

bool HcaSessions::next_packet(HcaBuilt& made, RdmaPacket& packet, Time now) {
  const std::uint32_t number = made.pair;
  Group& group = group_of(number);
  Pair& pair = pairs_[number];
  QueuePair& rules = s_.pairs[number].rules;
  if (!pair.carried) {
    return false;
  }
  made.made = now;
  made.probed = rules.state() == QpState::kRts ? group.carrier.take_probe() : kNoSessionIndex;
  if (made.probed != kNoSessionIndex) {
    rules.probe(packet);
    return true;
  }
  Time may_go;
  const bool has_room = pair.carried->may_request(now + lead_, may_go);
  if (rules.next(packet, now, !has_room)) {
    room_waits_.set(number, false, now);
    if (is_request(made, packet)) {
      pair.carried->begin_request(wire_bytes_of(packet) + rules_.host.extra_bytes, now);
    }
    return true;
  }
  if (has_room) {
    wake_one(group, now);
  } else if (rules.requester().is_ready()) {
    block(number, now, may_go);
  }
  return false;
}

// It goes on at a time that is known, or when something of its group has arrived.
void HcaSessions::block(std::uint32_t number, Time now, Time may_go) {
  Pair& pair = pairs_[number];
  room_waits_.set(number, true, now);
  if (may_go != Time::never()) {
    pair.may_go = may_go - lead_;
    arm(number, pair.may_go);
  } else if (!pair.is_blocked) {
    pair.is_blocked = true;
    group_of(number).blocked.push_back(number);
  }
}

// It wakes the next one where it does not need the room.
void HcaSessions::wake_one(Group& group, Time now) {
  if (group.blocked.empty()) {
    return;
  }
  const std::uint32_t number = group.blocked.front();
  group.blocked.pop_front();
  pairs_[number].is_blocked = false;
  s_.kicks.kick(number, now);
}

// The session is chosen when the packet leaves. [LR-4]
HcaCarriers::Sent HcaSessions::send(HcaBuilt& built, Time now) {
  obey(now);
  Group& group = group_of(built.pair);
  Pair& pair = pairs_[built.pair];
  const SessionBalancer& balancer = group.carrier.balancer();
  if (built.probed != kNoSessionIndex && !balancer.stats(built.probed).is_eligible) {
    return Sent::kNo;
  }
  if (balancer.choice().usable() == 0) {
    const SessionGroups& groups = end_.groups();
    const bool is_over = !groups.is_open(*group.slot) || groups.at(*group.slot).has_failed();
    return is_over ? Sent::kNo : Sent::kLater;
  }
  RdmaPacket& packet = *built.packet;
  SessionIndex session = built.probed;
  if (is_request(built)) {
    const std::uint32_t bytes = wire_bytes_of(built.frame->bytes.size()) + rules_.host.extra_bytes;
    session = pair.carried->send_request(packet, bytes, now);
  } else if (session != kNoSessionIndex) {
    pair.carried->send_probe(packet, session, now);
  } else {
    session = pair.carried->send_answer(packet, now);
  }
  set_frame(built, session, now);
  ++carried_;
  set_eligible(group);
  ask_at(end_.manager().next_deadline());
  return Sent::kYes;
}

// What has no payload is made again: what it tells has changed since.
void HcaSessions::set_frame(HcaBuilt& built, SessionIndex session, Time now) {
  Group& group = group_of(built.pair);
  Frame& frame = *built.frame;
  RdmaPacket& packet = *built.packet;
  if (packet.has_echo) {
    packet.echo.hold_ns += static_cast<std::uint32_t>((now - built.made).ns());
  }
  if (packet.has_echo || built.probed != kNoSessionIndex) {
    built.parts = make_frame(packet, {s_.config.adapter, group.peer}, frame.bytes);
  }
  const RdmaOpcodeInfo& info = info_of(packet.opcode);
  FLITWISE_CHECK(
      !info.is_request() ||
          end_.groups().may_send_to(*group.slot, built.pair + kFirstQueuePair, packet.queue_pair),
      "a packet for another queue pair than the peer's [TX-1]");
  const bool is_data = info.is_request() || info.kind == RdmaPacketKind::kReadResponse;  // [NW-4]
  frame.bytes[built.parts.ip + 1] = is_data ? rules_.host.data_tos : rules_.host.answer_tos;
  const auto slot = static_cast<SessionSlot>(group.carrier.balancer().session(session).place);
  const SessionPlace place{*group.slot, slot};
  end_.carry(place, built.parts, frame.bytes, now);
  if (!is_request(built)) {
    end_.groups().settle(place, 1, now);  // nobody acknowledges it
  }
  frame.wire_bytes = wire_bytes_of(frame.bytes.size());
}

unsigned HcaSessions::choice_clocks(std::uint32_t pair) const {
  const SessionChoice& choice = groups_[group_number(pair)].carrier.balancer().choice();
  return decision_cycles(rules_.host.carrier.balancer.choice.policy,
                         static_cast<unsigned>(choice.usable()));
}

void HcaSessions::drop(const HcaBuilt& built) {
  if (is_request(built)) {
    pairs_[built.pair].carried->drop_request();
  }
}

void HcaSessions::take_control(ByteVector& frame) {
  constexpr std::size_t kMacTo = 5, kMacFrom = 11, kIpTo = 14 + 19;
  frame = std::move(control_.front());
  control_.pop_front();
  frame[kMacTo] = frame[kIpTo];
  frame[kMacFrom] = address_byte(s_.config.adapter);
  ++controls_;
}

// ---- in

const char* HcaSessions::receive(HcaArrived& arrived, Time now) {
  obey(now);
  ByteVector& bytes = arrived.frame->bytes;
  const ReceivedFrame received = end_.receive(bytes, now);
  obey(now);
  if (received.outcome != ReceiveCounter::kData) {
    return received.outcome == ReceiveCounter::kControl ? kRxControl : name_of(received.outcome);
  }
  RoceParts parts;
  auto packet = packet_of(bytes, parts, extensions_);
  if (!packet) {
    return "not_roce";
  }
  const SessionGroup& group = end_.groups().at(received.place.group);
  packet->session = group.session(received.place.session).id;
  arrived.pair = packet->queue_pair - kFirstQueuePair;
  group_of(arrived.pair).carrier.received(packet->session, arrived.frame->wire_bytes, now);
  arrived.packet = s_.arrived.make(*packet);
  arrived.payload = static_cast<std::uint32_t>(parts.payload);
  return nullptr;
}

// What has come waits here as it waited at the peer: that is no time of the network. [MO-1]
void HcaSessions::before_rules(const HcaArrived& arrived, Time now) {
  Pair& pair = pairs_[arrived.pair];
  if (pair.carried && arrived.packet->has_echo) {
    arrived.packet->echo.hold_ns += static_cast<std::uint32_t>((now - arrived.came).ns());
    pair.carried->take_echo(*arrived.packet, now);
  }
}

void HcaSessions::slow_down(const HcaArrived& arrived, Time now) {
  if (pairs_[arrived.pair].carried) {
    pairs_[arrived.pair].carried->take_cnp(*arrived.packet, now);
  }
}

void HcaSessions::after_rules(std::uint32_t number, Time now) {
  Pair& pair = pairs_[number];
  const QueuePair& rules = s_.pairs[number].rules;
  if (!pair.carried) {
    return;
  }
  if (!is_one_of(rules.state(), kSendingStates)) {
    reset(number, now);
    return;
  }
  Group& group = group_of(number);
  const bool has_progress = pair.oldest != rules.requester().oldest();
  pair.carried->note_progress(pair.oldest, now);
  pair.oldest = rules.requester().oldest();
  settle_group(group, now);
  arm(number, rules.due());
  if (has_progress) {
    wake_one(group, now);
  }
}

// What is in flight as the carrier has it; sessions that drain may end.
void HcaSessions::settle_group(Group& group, Time now) {
  SessionGroups& groups = end_.groups();
  const SessionGroup& known = groups.at(*group.slot);
  for (unsigned slot = 0; slot < known.slots(); ++slot) {
    const GroupSession& session = known.session(static_cast<SessionSlot>(slot));
    if (session.in_flight == 0 || session.state == SessionState::kClosed) {
      continue;
    }
    const std::uint32_t left = group.carrier.balancer().in_flight(group.by_slot[slot]);
    if (left < session.in_flight) {
      groups.settle({*group.slot, static_cast<SessionSlot>(slot)}, session.in_flight - left, now);
      ask_at(now);
    }
  }
}

void HcaSessions::reset(std::uint32_t number, Time now) {
  Pair& pair = pairs_[number];
  if (!pair.carried) {
    return;
  }
  pair.carried->forget(now);
  pair.oldest = s_.pairs[number].rules.requester().oldest();
  settle_group(group_of(number), now);
  wake_one(group_of(number), now);
  s_.packets.sessions_are_back(now);  // what waits for it need wait no more
}

// ---- times of queue pairs

void HcaSessions::arm(std::uint32_t number, Time when) {
  Pair& pair = pairs_[number];
  if (when < pair.armed) {
    pair.armed = when;
    due_.emplace(when, number);
    ask_at(when);
  }
}

// Gaps, ACKs that were put off, and rates. [RX-3] [RX-5]
bool HcaSessions::run_pairs(Time now) {
  bool has_moved = false;
  for (; !due_.empty() && due_.top().first <= now; has_moved = true) {
    const auto [when, number] = due_.top();
    due_.pop();
    Pair& pair = pairs_[number];
    if (pair.armed != when) {
      continue;
    }
    pair.armed = Time::never();
    QueuePair& rules = s_.pairs[number].rules;
    const bool is_due = rules.due() <= now;
    if (is_due) {
      rules.expire(now);
      s_.outcomes.after_rules(number, now);
    }
    if (is_due || pair.may_go <= now) {
      pair.may_go = Time::never();
      s_.kicks.kick(number, now);
    }
    arm(number, std::max(std::min(rules.due(), pair.may_go), now + s_.config.rdma.timing.clock));
  }
  return has_moved;
}

// ---- what it tells

std::string HcaSessions::waiting() const {
  std::string text;
  for (const Group& group : groups_) {
    std::string what;
    if (group.failure != nullptr) {
      what = fmt::format("the handshake with adapter {} has failed: {}", group.peer, group.failure);
    } else if (!group.is_up) {
      what = fmt::format("the handshake with adapter {} is not over", group.peer);
    } else if (end_.groups().at(*group.slot).is_down()) {
      what = fmt::format("no session with adapter {} may be used", group.peer);
    }
    text += (text.empty() || what.empty() ? "" : ", ") + what;
  }
  return text;
}

void HcaSessions::add_errors(std::map<std::string, std::uint64_t>& errors) const {
  const CmChannel::Counts& channel = end_.channel().counts();
  errors["rx_cm_auth"] += channel.auth;
  errors["rx_cm_replay"] += channel.replayed;
  errors["rx_cm_malformed"] += channel.malformed;
  const ConnectionManager::Counts& manager = end_.manager().counts();
  errors["cm_resent"] += manager.resent;
  errors["cm_failed"] += manager.failed;
  errors["cm_no_port"] += manager.no_port;
}

void HcaSessions::start_window(Time now) {
  HcaModule::start_window(now);
  room_waits_.start_window(now);
  before_ = carried();
}

HcaStageResult HcaSessions::result(Time now) const {
  HcaStageResult row = HcaModule::result(now);
  row.entries = carried() - before_;
  return row;
}

void HcaSessions::add_more_waits(const std::string& place, Time /*now*/,
                                 std::vector<WaitResult>& all) const {
  all.push_back(room_waits_.result({place, "session_room", ResourceRole::kSlots, "down", "write",
                                    pace_key(rules_.srdma), rules_.srdma.sessions}));
}

std::vector<SrdmaSessionResult> HcaSessions::sessions(const std::string& device) const {
  std::vector<SrdmaSessionResult> rows;
  for (const Group& group : groups_) {
    if (!group.is_up) {
      continue;
    }
    const SessionBalancer& balancer = group.carrier.balancer();
    const GroupId id = end_.groups().at(*group.slot).id();
    for (SrdmaSessionResult& past : past_session_results(device, id, balancer)) {
      rows.push_back(std::move(past));
    }
    for (SessionIndex index = 0; index < balancer.sessions(); ++index) {
      if (balancer.stats(index).sent_packets > 0) {
        rows.push_back(session_result(device, id, balancer, index));
      }
    }
  }
  return rows;
}

bool HcaSessions::are_scores_sound() const {
  const auto is_sound = [](double value) { return value >= 0 && value <= 1; };
  for (const Group& group : groups_) {
    const SessionBalancer& balancer = group.carrier.balancer();
    for (SessionIndex index = 0; index < balancer.sessions(); ++index) {
      const SessionScore score = balancer.score(index);
      if (!is_sound(score.level) || !is_sound(score.weight)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace flitwise
