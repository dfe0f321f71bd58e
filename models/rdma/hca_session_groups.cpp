// SPDX-License-Identifier: Apache-2.0
// Session groups of an RDMA adapter: handshakes, what their events mean for queue pairs, and what
// time brings.
#include <fmt/format.h>

#include <algorithm>

#include "network/addresses.h"
#include "rdma/hca_sessions.h"
#include "srdma/configured_rules.h"

namespace flitwise {
namespace {

// Both ends have it before they start. [SEL-8]
SecretKey provisioned_key(std::uint64_t seed) {
  return derive_key(
      {}, "flitwise provisioned",
      context_of({static_cast<std::uint32_t>(seed >> 32), static_cast<std::uint32_t>(seed)}));
}

SrdmaEndSetup end_setup(const HcaConfig& config) {
  const HcaSessionRules& rules = *config.sessions;
  const SrdmaConfig& srdma = rules.srdma;
  SrdmaEndSetup setup;
  setup.address = ipv4_of_port(config.adapter);
  setup.seed = rules.seed;
  take_from(srdma, setup.sessions);
  take_from(srdma, setup.ports);
  take_from(srdma, setup.manager);
  setup.manager.capabilities.has_echo = setup.manager.capabilities.needs_echo = true;
  setup.manager.capabilities.mtu = static_cast<std::uint16_t>(config.rdma.mtu);
  setup.channel.port = static_cast<std::uint16_t>(srdma.cm_port);
  setup.channel.is_plain = srdma.cm_plain;
  setup.channel.provisioned = provisioned_key(rules.seed);
  return setup;
}

}  // namespace

HcaSessions::HcaSessions(const HcaParts& parts, Hooks hooks)
    : HcaModule("sessions"),
      s_(parts),
      rules_(*parts.config.sessions),
      extensions_{rules_.host.pair.has_echo, rules_.host.pair.has_sack,
                  rules_.host.pair.mode == ReceiveMode::kDirect},
      chunks_(std::max((parts.config.pairs_of_each() + kGroupPairs - 1) / kGroupPairs,
                       std::min(rules_.srdma.groups, parts.config.pairs_of_each()))),
      lead_(parts.config.rdma.timing.kick + parts.config.rdma.timing.fetch +
            parts.config.rdma.timing.build),
      hooks_(std::move(hooks)),
      end_(end_setup(parts.config)),
      pairs_(parts.config.pairs),
      room_waits_(parts.config.pairs) {
  add_groups();
}

// One with each peer, and more where so it is said, or its queue pairs are too many for one.
void HcaSessions::add_groups() {
  const HcaConfig& config = s_.config;
  KeyedStream salts(rules_.seed, fmt::format("hrw/{}", config.adapter));
  const Random random = Random(rules_.seed).split(fmt::format("sessions {}", config.adapter));
  for (const HcaPeer& peer : config.peers) {
    for (std::uint32_t chunk = 0; chunk < chunks_; ++chunk) {
      const SipKey salt{salts.next(), salts.next()};
      groups_.emplace_back(rules_, salt, random.split(std::to_string(groups_.size())), Time{});
      groups_.back().peer = peer.adapter;
    }
  }
  for (std::uint32_t pair = 0; pair < config.pairs; ++pair) {
    group_of(pair).pairs.push_back(pair);
  }
  for (std::uint32_t chunk = 0; chunk < chunks_; ++chunk) {
    end_.manager().listen(chunk + 1,
                          [this](std::uint32_t peer, const std::vector<CmPair>& asked,
                                 std::vector<CmPair>& own) { return accept(peer, asked, own); });
  }
}

// The end with the lower number asks.
void HcaSessions::connect(Time now) {
  for (std::size_t number = 0; number < groups_.size(); ++number) {
    Group& group = groups_[number];
    if (s_.config.adapter > group.peer) {
      continue;
    }
    ConnectRequest request;
    request.remote = ipv4_of_port(group.peer);
    request.service = number % chunks_ + 1;
    request.sessions = rules_.srdma.sessions;
    for (const std::uint32_t pair : group.pairs) {
      request.pairs.push_back({pair + kFirstQueuePair, s_.config.setup(pair).first_psn});
    }
    const CmTicket ticket = end_.manager().connect(request, now);
    group.failure = ticket.id == 0 ? name_of(ticket.reason) : nullptr;
    group.asked = ticket.id;
  }
  collect_control(now);
  ask_at(now);
}

// Those that lead to the ones of the peer.
CmReason HcaSessions::accept(std::uint32_t address, const std::vector<CmPair>& asked,
                             std::vector<CmPair>& own) {
  const HcaConfig& config = s_.config;
  const std::uint32_t each = config.pairs_of_each();
  for (std::uint32_t place = 0; place < config.peers.size(); ++place) {
    const HcaPeer& peer = config.peers[place];
    for (const CmPair& one : asked) {
      const std::uint32_t index = one.number - kFirstQueuePair - peer.first_pair;
      if (ipv4_of_port(peer.adapter) == address && index < each) {
        const std::uint32_t pair = place * each + index;
        own.push_back({pair + kFirstQueuePair, config.setup(pair).first_psn});
      }
    }
  }
  return own.size() == asked.size() ? CmReason::kNone : CmReason::kBadQp;
}

void HcaSessions::collect_control(Time now) {
  ByteVector frame;
  CmMessage message;
  while (end_.next_control(frame, message)) {
    control_.push_back(std::move(frame));
  }
  if (has_control()) {
    s_.packets.control_waits(now);
  }
}

// ---- what has become of groups and sessions

// What time has brought comes first.
void HcaSessions::obey(Time now) {
  if (end_.manager().next_deadline() <= now) {
    end_.tick(now);
  }
  SessionEvent event;
  while (end_.groups().take_event(event)) {
    take(event, now);
  }
  collect_control(now);
}

HcaSessions::Group* HcaSessions::group_at(GroupSlot slot) {
  const auto found = by_slot_.find(slot);
  return found == by_slot_.end() ? nullptr : &groups_[found->second];
}

void HcaSessions::take(const SessionEvent& event, Time now) {
  using Kind = SessionEvent::Kind;
  if (event.kind == Kind::kPairReady) {
    pair_ready(event);
    return;
  }
  Group* const group = group_at(event.place.group);
  if (group == nullptr) {  // a handshake that has come to nothing
    for (Group& one : groups_) {
      const bool is_meant = event.kind == Kind::kFailed && one.asked == event.ticket;
      one.failure = is_meant ? name_of(event.reason) : one.failure;
    }
    return;
  }
  SessionBalancer& balancer = group->carrier.balancer();
  switch (event.kind) {
    case Kind::kGroupUp: group_up(*group, now); break;
    case Kind::kSessionUp: {
      const GroupSession& added = end_.groups().at(event.place.group).session(event.place.session);
      group->by_slot[event.place.session] =
          group->carrier.add(event.session, added.tuple, now, event.place.session);
      group->eligible |= std::uint64_t{1} << event.place.session;
      wake_one(*group, now);
      break;
    }
    case Kind::kSessionExpired:
      set_eligible(*group);
      resend(*group, event.session, now);
      break;
    case Kind::kSessionClosed:
      if (balancer.find(event.session) != kNoSessionIndex) {
        group->eligible &= ~(std::uint64_t{1} << event.place.session);
        group->carrier.close(event.session);
        resend(*group, event.session, now);
      }
      break;
    case Kind::kGroupFailed:
    case Kind::kGroupClosed:
      for (const std::uint32_t pair : group->pairs) {
        if (s_.pairs[pair].rules.state() != QpState::kReset) {
          s_.pairs[pair].rules.give_up();
          s_.outcomes.after_rules(pair, now);
        }
      }
      s_.packets.sessions_are_back(now);  // they need not wait any more
      break;
    case Kind::kGapTimer:
      for (const std::uint32_t pair : group->pairs) {
        s_.pairs[pair].rules.set_gap_time(event.span);
      }
      break;
    case Kind::kDone:
    case Kind::kFailed:
      if (event.ticket == group->asked && group->is_adding) {
        balancer.end_add(now, event.kind == Kind::kDone);
      }
      if (event.ticket == group->asked) {
        group->asked = 0;
        group->is_adding = false;
      }
      break;
    default: break;
  }
  set_eligible(*group);
  if (balancer.choice().usable() > 0) {
    s_.packets.sessions_are_back(now);
    wake_one(*group, now);
  }
}

// Both ends know its number, and the first PSN of the other.
void HcaSessions::pair_ready(const SessionEvent& event) {
  const std::uint32_t pair = event.pair - kFirstQueuePair;
  by_slot_[event.place.group] = group_number(pair);
  group_of(pair).slot = event.place.group;
  QueuePair& rules = s_.pairs[pair].rules;
  if (rules.state() == QpState::kReset) {
    rules.set_first_psns(rules.setup().first_psn, event.peer_psn);
    rules.modify(QpState::kInit);
    rules.modify(QpState::kRtr);
  }
}

// [VB-3]
void HcaSessions::group_up(Group& group, Time now) {
  group.is_up = true;
  ++connected_;
  for (const std::uint32_t pair : group.pairs) {
    QueuePair& rules = s_.pairs[pair].rules;
    rules.modify(QpState::kRts);
    pairs_[pair].carried.emplace(group.carrier, rules);
    pairs_[pair].oldest = rules.requester().oldest();
    hooks_.connected(pair);
  }
  if (connected_ == groups_.size()) {
    hooks_.all_connected(now);
  }
}

// What has left by the session, and has no answer, is lost. [KY-4]
void HcaSessions::resend(Group& group, SessionId session, Time now) {
  for (const std::uint32_t pair : group.pairs) {
    s_.pairs[pair].rules.resend(session);
    s_.outcomes.after_rules(pair, now);
    s_.kicks.kick(pair, now);
  }
}

// By which slots packets may leave: the carrier learns of those that have changed.
void HcaSessions::set_eligible(Group& group) {
  const SessionGroup& known = end_.groups().at(*group.slot);
  std::uint64_t changed = known.eligible() ^ group.eligible;
  group.eligible = known.eligible();
  for (; changed != 0; changed &= changed - 1) {
    const auto slot = static_cast<unsigned>(__builtin_ctzll(changed));
    SessionBalancer& balancer = group.carrier.balancer();
    if (balancer.find(known.session(static_cast<SessionSlot>(slot)).id) != kNoSessionIndex) {
      balancer.set_eligible(group.by_slot[slot], (known.eligible() >> slot & 1) != 0);
    }
  }
}

// ---- time

bool HcaSessions::run(Time now) {
  bool has_moved = false;
  if (end_.manager().next_deadline() <= now) {
    has_moved = true;
  }
  obey(now);
  has_moved = run_groups(now) || has_moved;
  has_moved = run_pairs(now) || has_moved;
  collect_control(now);
  return has_moved;
}

// Weights, probes and control. A probe leaves with the PSN of any queue pair. [MO-3]
bool HcaSessions::run_groups(Time now) {
  bool has_moved = false;
  for (Group& group : groups_) {
    if (!group.is_up || group.carrier.balancer().next_tick() > now) {
      continue;
    }
    has_moved = true;
    const auto sends = [&](std::uint32_t pair) {
      return s_.pairs[pair].rules.state() == QpState::kRts && !s_.pairs.is_down(pair);
    };
    const bool has_queue = std::any_of(
        group.pairs.begin(), group.pairs.end(),
        [&](std::uint32_t pair) { return s_.pairs[pair].rules.requester().waiting() > 0; });
    decide(group, group.carrier.tick(now, has_queue), now);
    if (const auto timer = group.carrier.take_gap_timer()) {  // [RX-3]
      end_.manager().advertise(*group.slot, *timer);
      for (const std::uint32_t pair : group.pairs) {
        s_.pairs[pair].rules.set_own_gap_time(*timer);
      }
    }
    const auto sender = std::find_if(group.pairs.begin(), group.pairs.end(), sends);
    if (group.carrier.has_probe() && sender != group.pairs.end()) {
      s_.kicks.kick(*sender, now);
    }
    wake_one(group, now);
  }
  return has_moved;
}

// [CT-1]
void HcaSessions::decide(Group& group, const ControlDecision& decision, Time now) {
  SessionBalancer& balancer = group.carrier.balancer();
  ConnectionManager& manager = end_.manager();
  if (decision.action == ControlDecision::Action::kAdd && group.asked == 0) {
    balancer.begin_add(now);
    group.asked = manager.add_session(*group.slot, now).id;
    group.is_adding = group.asked != 0;
    if (group.asked == 0) {
      balancer.end_add(now, false);
    }
  } else if (decision.action == ControlDecision::Action::kRemove) {
    const auto slot = static_cast<SessionSlot>(balancer.session(decision.victim).place);
    manager.delete_session({*group.slot, slot}, now);
    obey(now);
  }
}

void HcaSessions::settle(Time /*now*/) {
  Time next = end_.manager().next_deadline();
  for (const Group& group : groups_) {
    next = group.is_up ? std::min(next, group.carrier.balancer().next_tick()) : next;
  }
  next = due_.empty() ? next : std::min(next, due_.top().first);
  ask(next, next);
}

Time HcaSessions::waits_until() const {
  const bool waits = std::any_of(groups_.begin(), groups_.end(), [this](const Group& group) {
    return !group.is_up || end_.groups().at(*group.slot).is_down();
  });
  return waits ? end_.manager().next_deadline() : Time::never();
}

}  // namespace flitwise
