// SPDX-License-Identifier: Apache-2.0
// Time and paths of a session group that lines of a script drive.
#include "script/rcm_script.h"

#include <algorithm>

#include "flitwise/error.h"

namespace flitwise {
namespace {

// In scripts the run's seed stands for the keyed generator of the NIC.
BalancerSeeds rcm_seeds(const Random& random) {
  Random salt = random.split("hrw");
  const std::uint64_t low = salt.next();
  return {{low, salt.next()}, random};
}

}  // namespace

RcmScript::Group::Group(const RcmSetup& of)
    : setup(of), balancer(setup.balancer, rcm_seeds(Random(of.seed)), {}) {}

bool RcmScript::Group::has_room() const {
  unsigned open = 0;
  for (SessionIndex i = 0; i < balancer.sessions(); ++i) {
    open += balancer.stats(i).is_open ? 1 : 0;
  }
  return open < setup.balancer.control.most_sessions;
}

void RcmScript::run(const RcmLine& line, const Sink& sink) {
  sink_ = sink;
  try {
    if (!group_ && !begins_rcm({line.verb->name})) {
      const RcmLine plain = parse_rcm_line({"rcm", Json::object()}, 0);
      plain.verb->apply(*this, plain);
    }
    line.verb->apply(*this, line);
  } catch (const SimulationError& error) {
    sink_({{"event", "error"}, {"kind", "rcm_aborted"}, {"detail", error.what()}});
    group_.reset();
  }
}

void RcmScript::add(SessionId id) {
  Group& own = *group_;
  BalancedSession session = own.setup.session;
  session.id = id;
  session.tuple = {0x0a00'0001, 0x0a00'0002, static_cast<std::uint16_t>(49152 + id % 16384),
                   static_cast<std::uint16_t>(49152 + id / 16384)};
  const std::vector<double>& thresholds = own.setup.thresholds;
  if (id < thresholds.size() && thresholds[id] >= 0) {
    session.threshold = thresholds[id];
  }
  if (own.setup.path) {
    own.paths.try_emplace(id, Path{*own.setup.path, {}, {}});
  }
  own.balancer.add(own.now, session);
  own.next_id = std::max<std::uint32_t>(own.next_id, id + 1U);
}

void RcmScript::send(Psn psn, Sent& sent, bool tells) {
  Group& own = *group_;
  const ChosenSession choice =
      own.balancer.choose(own.now, {own.setup.qpn, psn, sent.message, sent.resends}, own.own);
  if (tells) {
    Json event = {{"event", "rcm_choice"}, {"psn", psn}, {"resends", sent.resends}};
    if (choice.session == kNoSessionIndex) {
      event["session"] = "none";
    } else {
      event["session"] = own.balancer.session(choice.session).id;
    }
    event["version"] = choice.version;
    sink_(event);
  }
  if (choice.session != kNoSessionIndex) {
    own.balancer.assigned(choice.session, own.setup.bytes);
    own.balancer.sent(own.now, sent.packet, choice.session, own.setup.bytes);
    launch(psn, choice.session);
  }
}

void RcmScript::launch(Psn psn, SessionIndex session) {
  Group& own = *group_;
  const SessionId id = own.balancer.session(session).id;
  const auto found = own.paths.find(id);
  if (found == own.paths.end() || found->second.of.is_dead) {
    return;
  }
  Path& path = found->second;
  const Time begin = std::max(own.now, path.free_at);
  path.most_wait = std::max(path.most_wait, begin - own.now);
  path.free_at = begin + path.of.service;
  own.answers.push(
      {path.free_at + path.of.rtt, own.orders++, id, psn, begin - own.now > path.of.mark});
}

// The first of the answers.
void RcmScript::arrive() {
  Group& own = *group_;
  const Answer answer = own.answers.top();
  own.answers.pop();
  const SessionIndex session = own.balancer.find(answer.session);
  if (session == kNoSessionIndex) {
    return;
  }
  const auto sent = own.window.find(answer.psn);
  own.balancer.received(own.now, session, own.setup.bytes);
  own.balancer.echo(own.now, session, answer.psn,
                    sent == own.window.end() ? nullptr : &sent->second.packet, {}, answer.ce);
  if (sent != own.window.end() && !sent->second.packet.is_in_flight) {
    own.window.erase(sent);
  }
}

void RcmScript::advance(Time end, std::optional<Time> gap) {
  Group& own = *group_;
  Time next_send = gap ? own.now : Time::never();
  for (;;) {
    const Time next_answer = own.answers.empty() ? Time::never() : own.answers.top().at;
    const Time next = std::min({next_send, next_answer, own.balancer.next_tick()});
    if (next > end || (next == end && next == next_send)) {
      break;
    }
    own.now = std::max(own.now, next);
    if (next == next_answer) {
      arrive();
    } else if (next == next_send) {
      send(own.next_psn, own.window[own.next_psn] = {}, false);
      own.next_psn = psn_plus(own.next_psn, 1);
      next_send += *gap;
    } else {
      tick();
    }
  }
  own.now = end;
}

void RcmScript::tick() {
  Group& own = *group_;
  const ControlDecision decision = own.balancer.tick(own.now);
  if (decision.action != ControlDecision::Action::kNone) {
    const bool adds = decision.action == ControlDecision::Action::kAdd;
    Json event = {{"event", "rcm_decision"},
                  {"action", name_of(decision.action)},
                  {"cause", name_of(decision.cause)}};
    auto id = static_cast<SessionId>(own.next_id);
    while (adds && own.balancer.find(id) != kNoSessionIndex) {
      ++id;
    }
    id = adds ? id : own.balancer.session(decision.victim).id;
    if (own.setup.acts || !adds) {
      event["session"] = id;
    }
    sink_(event);
    if (own.setup.acts && adds && own.has_room()) {
      own.balancer.begin_add(own.now);
      add(id);
      own.balancer.end_add(own.now, true);
    } else if (own.setup.acts && !adds) {
      own.balancer.set_eligible(decision.victim, false);
      own.balancer.remove(decision.victim);
    }
  }
  std::vector<SessionIndex> probes;
  own.balancer.for_each_probe(own.now, own.has_queue,
                              [&](SessionIndex session) { probes.push_back(session); });
  for (const SessionIndex session : probes) {
    const Psn psn = psn_plus(own.next_psn, kPsnMask);  // the one before: acknowledged, as it were
    own.balancer.probe_sent(own.now, session, psn);
    sink_({{"event", "rcm_probe"}, {"session", own.balancer.session(session).id}, {"psn", psn}});
    launch(psn, session);
  }
}

}  // namespace flitwise
