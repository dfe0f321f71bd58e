// SPDX-License-Identifier: Apache-2.0
// The verbs of a session group, a row each.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "script/rcm_script.h"

namespace flitwise {

/// What the verbs do.
struct RcmActions {
  using Group = RcmScript::Group;
  static constexpr std::size_t kMostPackets = 200'000;
  static constexpr std::uint64_t kMostChoices = 2'000'000, kMostSends = 10'000;

  static Group& own(RcmScript& script) { return *script.group_; }
  static void tell(RcmScript& script, const Json& event) { script.sink_(event); }
  static void refuse(RcmScript& script, const RcmLine& line, const std::string& detail) {
    tell(script, {{"event", "error"},
                  {"kind", "rcm_refused"},
                  {"detail", fmt::format("{}: {}", line.verb->name, detail)}});
  }

  /// The session has to be there; it is the first number.
  template <void (*apply)(RcmScript&, const RcmLine&, SessionIndex)>
  static void of_session(RcmScript& script, const RcmLine& line) {
    const SessionIndex session =
        own(script).balancer.find(static_cast<SessionId>(line.numbers.front()));
    if (session == kNoSessionIndex) {
      refuse(script, line, fmt::format("there is no session {}", line.numbers.front()));
    } else {
      apply(script, line, session);
    }
  }
  /// The packet has to be known; its PSN is the number at that place.
  template <void (*apply)(RcmScript&, const RcmLine&, RcmScript::Sent&)>
  static void of_packet(RcmScript& script, const RcmLine& line) {
    const auto found = own(script).window.find(static_cast<Psn>(line.numbers.front()));
    if (found == own(script).window.end()) {
      refuse(script, line, fmt::format("no packet of PSN {} was sent", line.numbers.front()));
    } else {
      apply(script, line, found->second);
    }
  }

  static void set_up(RcmScript& script, const RcmLine& line);
  static void send(RcmScript& script, const RcmLine& line);
  static void drive(RcmScript& script, const RcmLine& line);
  static void share(RcmScript& script, const RcmLine& line);
  static void map(RcmScript& script, const RcmLine& line);
  static SessionId chosen(RcmScript& script, Psn psn);
  static void add(RcmScript& script, const RcmLine& line);
  static void end_add(RcmScript& script, const RcmLine& line);
  static void answer(RcmScript& script, const RcmLine& line, SessionIndex session);
  static void change_weights(RcmScript& script, const RcmLine& line);
  static void set_path(RcmScript& script, const RcmLine& line, SessionIndex session);
  static void tell_stats(RcmScript& script, const RcmLine& line, SessionIndex session);
  static void wait(RcmScript& script, const RcmLine& line) {
    script.advance(own(script).now + ns_of(line, 0), {});
  }
  static Time ns_of(const RcmLine& line, std::size_t at) {
    return Time::from_ns(static_cast<std::int64_t>(line.numbers[at]));
  }
  static void resend(RcmScript& script, const RcmLine& line, RcmScript::Sent& sent) {
    ++sent.resends;
    script.send(static_cast<Psn>(line.numbers.front()), sent, true);
  }
  static void lost(RcmScript& script, const RcmLine& /*line*/, RcmScript::Sent& sent) {
    own(script).balancer.lost(own(script).now, sent.packet);
  }
  static void delivered(RcmScript& script, const RcmLine& /*line*/, RcmScript::Sent& sent) {
    own(script).balancer.delivered(own(script).now, sent.packet);
  }
  static void timed_out(RcmScript& script, const RcmLine& /*line*/, RcmScript::Sent& sent) {
    own(script).balancer.timed_out(sent.packet);
  }
};

void RcmActions::set_up(RcmScript& script, const RcmLine& line) {
  std::vector<double> thresholds;
  for (const double threshold : line.setup.thresholds) {
    if (threshold >= 0) {
      thresholds.push_back(threshold);
    }
  }
  std::vector<std::string> refusals = refusals_of(line.setup.balancer, thresholds);
  const unsigned most = line.setup.balancer.control.most_sessions;
  if (line.setup.sessions > most) {
    refusals.push_back(
        fmt::format("{} sessions seen; expected up to {}", line.setup.sessions, most));
  }
  for (const std::string& refusal : refusals) {
    refuse(script, line, refusal);
  }
  if (refusals.empty()) {
    script.group_.emplace(line.setup);
    for (unsigned i = 0; i < line.setup.sessions; ++i) {
      script.add(static_cast<SessionId>(i));
    }
  }
}

void RcmActions::add(RcmScript& script, const RcmLine& line) {
  const auto id = static_cast<SessionId>(line.numbers.front());
  Group& group = own(script);
  if (group.balancer.find(id) != kNoSessionIndex) {
    refuse(script, line, fmt::format("there is a session {}", id));
  } else if (!group.has_room()) {
    refuse(script, line,
           fmt::format("expected up to {} sessions", group.setup.balancer.control.most_sessions));
  } else {
    script.add(id);
  }
}

void RcmActions::send(RcmScript& script, const RcmLine& line) {
  Group& group = own(script);
  if (line.numbers[0] > kMostSends || group.window.size() + line.numbers[0] > kMostPackets) {
    refuse(script, line,
           fmt::format("{} packets seen; expected up to {}, and {} known at a time",
                       line.numbers[0], kMostSends, kMostPackets));
    return;
  }
  for (std::uint64_t i = 0; i < line.numbers[0]; ++i) {
    RcmScript::Sent& sent = group.window[group.next_psn] = {};
    sent.message = static_cast<std::uint32_t>(line.numbers[1]);
    const Psn psn = group.next_psn;
    group.next_psn = psn_plus(psn, 1);
    script.send(psn, sent, true);
  }
}

// A packet each so many nanoseconds.
void RcmActions::drive(RcmScript& script, const RcmLine& line) {
  const std::uint64_t gap = line.numbers[1];
  if (gap == 0 || own(script).window.size() + line.numbers[0] / gap > kMostPackets) {
    refuse(script, line,
           fmt::format("a packet each {} ns for {} ns seen; expected up to {} packets", gap,
                       line.numbers[0], kMostPackets));
    return;
  }
  script.advance(own(script).now + ns_of(line, 0), ns_of(line, 1));
}

// What a packet of this PSN would take; nothing is sent.
SessionId RcmActions::chosen(RcmScript& script, Psn psn) {
  Group& group = own(script);
  QpChoice alone;
  const ChosenSession choice =
      group.balancer.choose(group.now, {group.setup.qpn, psn, psn, 0}, alone);
  return choice.session == kNoSessionIndex ? kNoSessionIndex
                                           : group.balancer.session(choice.session).id;
}

void RcmActions::share(RcmScript& script, const RcmLine& line) {
  const std::uint64_t packets = line.numbers[0];
  if (packets == 0 || packets > kMostChoices) {
    refuse(script, line, fmt::format("{} packets seen; expected 1 to {}", packets, kMostChoices));
    return;
  }
  std::map<SessionId, std::uint64_t> counts;
  for (std::uint64_t i = 0; i < packets; ++i) {
    ++counts[chosen(script, static_cast<Psn>(i) & kPsnMask)];
  }
  for (const auto& [session, count] : counts) {
    tell(script, {{"event", "rcm_share"},
                  {"session", session},
                  {"packets", count},
                  {"share", static_cast<double>(count) / static_cast<double>(packets)}});
  }
}

// What packets of the first PSNs take, and which of them took another session at the last line of
// this kind.
void RcmActions::map(RcmScript& script, const RcmLine& line) {
  const std::uint64_t packets = line.numbers[0];
  if (packets == 0 || packets > kMostChoices) {
    refuse(script, line, fmt::format("{} packets seen; expected 1 to {}", packets, kMostChoices));
    return;
  }
  std::vector<SessionId> now(packets);
  std::map<std::pair<SessionId, SessionId>, std::uint64_t> moves;
  std::uint64_t moved = 0;
  for (std::size_t i = 0; i < packets; ++i) {
    now[i] = chosen(script, static_cast<Psn>(i) & kPsnMask);
    if (i < script.map_.size() && script.map_[i] != now[i]) {
      ++moves[{script.map_[i], now[i]}];
      ++moved;
    }
  }
  for (const auto& [move, count] : moves) {
    tell(script,
         {{"event", "rcm_moved"}, {"from", move.first}, {"to", move.second}, {"packets", count}});
  }
  tell(script, {{"event", "rcm_map"}, {"packets", packets}, {"moved", moved}});
  script.map_ = std::move(now);
}

void RcmActions::answer(RcmScript& script, const RcmLine& line, SessionIndex session) {
  Group& group = own(script);
  const ChosenSession choice =
      group.balancer.answer(group.now, session, {group.setup.qpn, 0, 0, 0}, group.own);
  Json event = {{"event", "rcm_answer"}, {"cause", line.numbers.front()}};
  if (choice.session == kNoSessionIndex) {
    event["session"] = "none";
  } else {
    event["session"] = group.balancer.session(choice.session).id;
  }
  tell(script, event);
}

void RcmActions::end_add(RcmScript& script, const RcmLine& line) {
  Group& group = own(script);
  if (group.balancer.control().pending() == 0) {
    refuse(script, line, "no handshake is under way");
  } else {
    group.balancer.end_add(group.now, line.numbers.front() != 0);
  }
}

void RcmActions::change_weights(RcmScript& script, const RcmLine& line) {
  Group& group = own(script);
  WeightSetup weights = group.weights_now();
  read_rcm_weights(line.object, weights);
  const unsigned most = group.setup.balancer.control.most_sessions;
  if (weights.is_capability() != group.setup.balancer.weights.is_capability()) {
    refuse(script, line,
           "form capability seen, or another one; expected what the group began with");
  } else if (const auto refusals = refusals_of(weights, most); !refusals.empty()) {
    refuse(script, line, refusals.front());
  } else {
    group.weights = std::move(weights);
    group.balancer.change_weights(*group.weights, Random(group.setup.seed));
  }
}

void RcmActions::set_path(RcmScript& script, const RcmLine& line, SessionIndex /*session*/) {
  read_rcm_path(line.object, own(script).paths[static_cast<SessionId>(line.numbers.front())].of);
}

void RcmActions::tell_stats(RcmScript& script, const RcmLine& line, SessionIndex session) {
  Group& group = own(script);
  const SessionStats& stats = group.balancer.stats(session);
  Json event = {{"event", "rcm_stats"},
                {"session", line.numbers[0]},
                {"sent", stats.sent_packets},
                {"delivered", stats.delivered_packets},
                {"delivered_bytes", stats.delivered_bytes},
                {"losses", stats.losses},
                {"echoes", stats.echoes},
                {"ce_echoes", stats.ce_echoes},
                {"probes", stats.probes},
                {"rtt_samples", stats.rtt_samples},
                {"rtt_ns", stats.rtt_ewma.ns()},
                {"base_ns", stats.rtt_base.ns()}};
  const auto path = group.paths.find(static_cast<SessionId>(line.numbers[0]));
  if (path != group.paths.end()) {
    event["most_wait_ns"] = std::exchange(path->second.most_wait, Time{}).ns();
  }
  tell(script, event);
}

namespace {

double rounded(double value) {
  return std::round(value * 1e6) / 1e6;
}

void eligible_session(RcmScript& script, const RcmLine& line, SessionIndex session) {
  RcmActions::own(script).balancer.set_eligible(session, line.numbers[1] != 0);
}

void remove_session(RcmScript& script, const RcmLine& line, SessionIndex session) {
  auto& group = RcmActions::own(script);
  group.balancer.remove(session);
  group.paths.erase(static_cast<SessionId>(line.numbers[0]));
}

void echo_came(RcmScript& script, const RcmLine& line, SessionIndex session) {
  auto& group = RcmActions::own(script);
  const auto psn = static_cast<Psn>(line.numbers[1]);
  const auto sent = group.window.find(psn);
  group.balancer.echo(group.now, session, psn,
                      sent == group.window.end() ? nullptr : &sent->second.packet,
                      RcmActions::ns_of(line, 2), line.numbers[3] != 0);
}

void packet_came(RcmScript& script, const RcmLine& /*line*/, SessionIndex session) {
  auto& group = RcmActions::own(script);
  group.balancer.received(group.now, session, group.setup.bytes);
}

void assign_bytes(RcmScript& script, const RcmLine& line, SessionIndex session) {
  RcmActions::own(script).balancer.assigned(session, static_cast<std::uint32_t>(line.numbers[1]));
}

void set_queue(RcmScript& script, const RcmLine& line) {
  RcmActions::own(script).has_queue = line.numbers[0] != 0;
}

void begin_add(RcmScript& script, const RcmLine& /*line*/) {
  auto& group = RcmActions::own(script);
  group.balancer.begin_add(group.now);
}

void tell_session(RcmScript& script, const RcmLine& line, SessionIndex session) {
  const auto& balancer = RcmActions::own(script).balancer;
  const SessionScore score = balancer.score(session);
  const SessionStats& stats = balancer.stats(session);
  RcmActions::tell(script, {{"event", "rcm_session"},
                            {"session", line.numbers[0]},
                            {"level", rounded(score.level)},
                            {"weight", rounded(score.weight)},
                            {"eligible", stats.is_eligible},
                            {"alive", stats.is_alive},
                            {"timed_out", stats.is_timed_out},
                            {"usable", balancer.choice().is_usable(session)},
                            {"in_flight", balancer.in_flight(session)}});
}

void tell_group(RcmScript& script, const RcmLine& /*line*/) {
  using Cause = ControlDecision::Cause;
  const auto& balancer = RcmActions::own(script).balancer;
  const SessionControl& control = balancer.control();
  RcmActions::tell(script, {{"event", "rcm_group"},
                            {"usable", balancer.choice().usable()},
                            {"version", balancer.choice().version()},
                            {"cost", rounded(balancer.cost())},
                            {"pending", control.pending()},
                            {"failed_adds", control.failed_adds()},
                            {"add_refused_max", control.count(Cause::kMost)},
                            {"add_refused_wait", control.count(Cause::kAddWait)},
                            {"remove_refused_min", control.count(Cause::kLeast)},
                            {"remove_refused_wait", control.count(Cause::kRemoveWait)}});
}

}  // namespace

const std::vector<RcmVerb>& rcm_verbs() {
  using A = RcmArgument;
  using Do = RcmActions;
  static const std::vector<RcmVerb> kVerbs = {
      {"rcm", {A::kSetup}, Do::set_up},
      {"add", {A::kSession}, Do::add},
      {"remove", {A::kSession}, Do::of_session<remove_session>},
      {"eligible", {A::kSession, A::kFlag}, Do::of_session<eligible_session>},
      {"path", {A::kSession, A::kPath}, Do::of_session<Do::set_path>},
      {"weights", {A::kWeights}, Do::change_weights},
      {"send", {A::kNumber, A::kNumber}, Do::send},
      {"drive", {A::kNs, A::kNs}, Do::drive},
      {"wait", {A::kNs}, Do::wait},
      {"resend", {A::kPsn}, Do::of_packet<Do::resend>},
      {"lost", {A::kPsn}, Do::of_packet<Do::lost>},
      {"delivered", {A::kPsn}, Do::of_packet<Do::delivered>},
      {"timeout", {A::kPsn}, Do::of_packet<Do::timed_out>},
      {"echo", {A::kSession, A::kPsn, A::kNs, A::kFlag}, Do::of_session<echo_came>},
      {"received", {A::kSession}, Do::of_session<packet_came>},
      {"assign", {A::kSession, A::kNumber}, Do::of_session<assign_bytes>},
      {"queue", {A::kFlag}, set_queue},
      {"answer", {A::kSession}, Do::of_session<Do::answer>},
      {"share", {A::kNumber}, Do::share},
      {"map", {A::kNumber}, Do::map},
      {"begin_add", {}, begin_add},
      {"end_add", {A::kFlag}, Do::end_add},
      {"session", {A::kSession}, Do::of_session<tell_session>},
      {"stats", {A::kSession}, Do::of_session<Do::tell_stats>},
      {"group", {}, tell_group}};
  return kVerbs;
}

}  // namespace flitwise
