// SPDX-License-Identifier: Apache-2.0
// The verbs of two ends of session groups, a row each.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/random.h"
#include "script/srdma_frames.h"
#include "script/srdma_script.h"
#include "srdma/frame_fields.h"

namespace flitwise {

/// What the verbs do.
struct SrdmaActions {
  static constexpr std::uint64_t kMostPassNs = 20'000'000, kMostGuesses = 1'000'000;
  using Wire = std::deque<SrdmaScript::Flight>;

  static SrdmaScript::End& own(SrdmaScript& script, const SrdmaLine& line) {
    return *script.ends_[line.end];
  }
  static SessionGroups& groups(SrdmaScript& script, const SrdmaLine& line) {
    return own(script, line).end.groups();
  }
  static ConnectionManager& manager(SrdmaScript& script, const SrdmaLine& line) {
    return own(script, line).end.manager();
  }
  static Wire& arriving(SrdmaScript& script, const SrdmaLine& line) {
    return own(script, line).arriving;
  }
  static Time now(const SrdmaScript& script) { return script.now_; }
  static void tell(SrdmaScript& script, const Json& event) { script.sink_(event); }
  static void refuse(SrdmaScript& script, const SrdmaLine& line, const std::string& detail) {
    tell(script, {{"event", "error"},
                  {"kind", "srdma_refused"},
                  {"detail", fmt::format("{} of end {}: {}", line.verb->name, line.end, detail)}});
  }
  static void note(SrdmaScript& script, const SrdmaLine& line, const CmTicket& ticket) {
    if (ticket.id == 0) {
      refuse(script, line, name_of(ticket.reason));
    }
  }
  static void put(SrdmaScript& script, unsigned to, ByteVector bytes) {
    script.put(to, std::move(bytes));
  }

  /// The group has to be there.
  template <void (*apply)(SrdmaScript&, const SrdmaLine&)>
  static void of_group(SrdmaScript& script, const SrdmaLine& line) {
    if (groups(script, line).is_open(line.group)) {
      apply(script, line);
    } else {
      refuse(script, line, fmt::format("there is no group {}", line.group));
    }
  }
  /// The session has to be there.
  template <void (*apply)(SrdmaScript&, const SrdmaLine&, SessionPlace)>
  static void of_session(SrdmaScript& script, const SrdmaLine& line) {
    if (!groups(script, line).is_open(line.group)) {
      refuse(script, line, fmt::format("there is no group {}", line.group));
      return;
    }
    const SessionGroup& group = groups(script, line).at(line.group);
    const unsigned slot = group.slot_of(line.session);
    if (slot == group.slots()) {
      refuse(script, line,
             fmt::format("there is no session {} in group {}", line.session, line.group));
    } else {
      apply(script, line, {line.group, static_cast<SessionSlot>(slot)});
    }
  }
  /// A frame has to be on its way to the end.
  template <void (*apply)(SrdmaScript&, const SrdmaLine&, Wire&)>
  static void of_frame(SrdmaScript& script, const SrdmaLine& line) {
    Wire& wire = arriving(script, line);
    if (wire.empty()) {
      refuse(script, line, "no frame is on its way to it");
    } else {
      apply(script, line, wire);
    }
  }

  static void set_up(SrdmaScript& script, const SrdmaLine& line) { script.set_up(line.setup); }
  static void restart(SrdmaScript& script, const SrdmaLine& line) { script.start(line.end); }
  static void deliver(SrdmaScript& script, const SrdmaLine& line, Wire& /*wire*/) {
    script.deliver(line.end);
  }
  static void run(SrdmaScript& script, const SrdmaLine& /*line*/) {
    script.settle();
    for (bool moves = true; std::exchange(moves, false);) {
      for (unsigned end = 0; end < 2; ++end) {
        if (!script.ends_[end]->arriving.empty()) {
          script.deliver(end);
          moves = true;
        }
      }
    }
  }
  static void pass(SrdmaScript& script, const SrdmaLine& line, bool arrives) {
    if (line.numbers[0] > kMostPassNs) {
      refuse(script, line,
             fmt::format("{} ns seen; expected up to {} a line", line.numbers[0], kMostPassNs));
    } else {
      script.settle();
      script.pass(Time::from_ns(static_cast<std::int64_t>(line.numbers[0])), arrives);
    }
  }
  static void pass_time(SrdmaScript& script, const SrdmaLine& line) { pass(script, line, true); }
  static void wait(SrdmaScript& script, const SrdmaLine& line) { pass(script, line, false); }
  static void lose(SrdmaScript& script, const SrdmaLine& line) {
    script.losses_[static_cast<std::size_t>(line.kind)] =
        static_cast<std::uint32_t>(line.numbers[0]);
  }
  static void connect(SrdmaScript& script, const SrdmaLine& line) {
    ConnectRequest request = line.connect;
    const std::uint32_t here = own(script, line).end.address();
    request.remote = script.ends_[1 - line.end]->end.address();
    for (std::size_t i = 0; i < request.paths.size(); ++i) {
      const auto other = static_cast<std::uint32_t>(i) << 8;
      request.paths[i] = {here + other, request.remote + other};
    }
    if (request.pairs.empty()) {
      request.pairs = {{0x100, 0}};
    }
    note(script, line, manager(script, line).connect(request, script.now_));
  }
};

namespace {

using SrdmaDo = SrdmaActions;

void add_session(SrdmaScript& script, const SrdmaLine& line) {
  SrdmaDo::note(script, line,
                SrdmaDo::manager(script, line).add_session(line.group, SrdmaDo::now(script)));
}
void delete_session(SrdmaScript& script, const SrdmaLine& line, SessionPlace place) {
  SrdmaDo::note(script, line,
                SrdmaDo::manager(script, line).delete_session(place, SrdmaDo::now(script)));
}
void refresh_session(SrdmaScript& script, const SrdmaLine& line, SessionPlace place) {
  SrdmaDo::note(script, line, SrdmaDo::manager(script, line).refresh(place, SrdmaDo::now(script)));
}
void attach_pair(SrdmaScript& script, const SrdmaLine& line) {
  const CmPair pair{static_cast<std::uint32_t>(line.numbers[0]), 0};
  SrdmaDo::note(script, line,
                SrdmaDo::manager(script, line).attach(line.group, pair, SrdmaDo::now(script)));
}
void detach_pair(SrdmaScript& script, const SrdmaLine& line) {
  SrdmaDo::note(
      script, line,
      SrdmaDo::manager(script, line)
          .detach(line.group, static_cast<std::uint32_t>(line.numbers[0]), SrdmaDo::now(script)));
}
void disconnect_group(SrdmaScript& script, const SrdmaLine& line) {
  SrdmaDo::note(script, line,
                SrdmaDo::manager(script, line).disconnect(line.group, SrdmaDo::now(script)));
}
void advertise_timer(SrdmaScript& script, const SrdmaLine& line) {
  SrdmaDo::manager(script, line)
      .advertise(line.group, Time::from_ns(static_cast<std::int64_t>(line.numbers[0])));
}

// A frame of a queue pair by the session, for the queue pair of the peer that the line names.
void send_frame(SrdmaScript& script, const SrdmaLine& line, SessionPlace place) {
  SessionGroups& groups = SrdmaDo::groups(script, line);
  if ((groups.at(place.group).eligible() >> place.session & 1U) == 0) {
    SrdmaDo::refuse(script, line, fmt::format("session {} is not eligible", line.session));
    return;
  }
  const auto peer = static_cast<std::uint32_t>(line.numbers[0]);
  const auto& pairs = groups.at(place.group).pairs();
  if (std::none_of(pairs.begin(), pairs.end(), [&](const GroupPair& one) {
        return groups.may_send_to(place.group, one.own, peer);
      })) {
    SrdmaDo::refuse(script, line,
                    fmt::format("tx_qp_mismatch: {:#x} is the peer of no queue pair of group {}",
                                peer, place.group));
    return;
  }
  ByteVector frame;
  const RoceParts parts = make_roce({roce_opcode(0x04), false, false, 64}, frame);
  put(&frame[parts.bth], frame_field::kDestinationPair, line.numbers[0]);
  SrdmaDo::own(script, line).end.carry(place, parts, frame, SrdmaDo::now(script));
  SrdmaDo::put(script, 1 - line.end, std::move(frame));
}
void settle_packets(SrdmaScript& script, const SrdmaLine& line, SessionPlace place) {
  SrdmaDo::groups(script, line)
      .settle(place, static_cast<std::uint32_t>(line.numbers[0]), SrdmaDo::now(script));
}
void set_alive(SrdmaScript& script, const SrdmaLine& line, SessionPlace place) {
  SrdmaDo::groups(script, line).set_alive(place, line.numbers[0] != 0, SrdmaDo::now(script));
}

void drop_frame(SrdmaScript& /*script*/, const SrdmaLine& /*line*/, SrdmaDo::Wire& wire) {
  wire.pop_front();
}
void repeat_frame(SrdmaScript& script, const SrdmaLine& line, SrdmaDo::Wire& wire) {
  SrdmaDo::put(script, line.end, wire.front().bytes);
}
void swap_frames(SrdmaScript& /*script*/, const SrdmaLine& /*line*/, SrdmaDo::Wire& wire) {
  if (wire.size() > 1) {
    std::swap(wire[0].bytes, wire[1].bytes);
  }
}
void replay_frame(SrdmaScript& script, const SrdmaLine& line) {
  SrdmaDo::put(script, line.end, SrdmaDo::own(script, line).last);
}
void flip_bit(SrdmaScript& script, const SrdmaLine& line, SrdmaDo::Wire& wire) {
  ByteVector& bytes = wire.front().bytes;
  if (line.numbers[0] / 8 >= bytes.size()) {
    SrdmaDo::refuse(
        script, line,
        fmt::format("bit {} seen; expected one of {} bytes", line.numbers[0], bytes.size()));
    return;
  }
  bytes[line.numbers[0] / 8] ^= static_cast<std::uint8_t>(0x80U >> line.numbers[0] % 8);
}

void edit_frame(SrdmaScript& script, const SrdmaLine& line, SrdmaDo::Wire& wire) {
  if (!change_frame(line.fields, wire.front().bytes)) {
    SrdmaDo::refuse(script, line, "the frame has no fields to change");
  }
}

void inject_frame(SrdmaScript& script, const SrdmaLine& line, const SessionTuple& tuple,
                  std::uint32_t key_id) {
  SrdmaDo::put(script, line.end, made_up_frame(line.fields, tuple, key_id));
}
void inject_like(SrdmaScript& script, const SrdmaLine& line, SessionPlace place) {
  const GroupSession& session =
      SrdmaDo::groups(script, line).at(place.group).session(place.session);
  inject_frame(script, line, session.tuple.reverse(), key_id_of(session.id, 0));
}
void inject_any(SrdmaScript& script, const SrdmaLine& line) {
  inject_frame(script, line, {0x0a000001 + (1 - line.end), 0x0a000001 + line.end, 49152, 49152}, 0);
}

// Tuples with the right addresses and ports drawn from the default range, without bytes.
void guess_tuples(SrdmaScript& script, const SrdmaLine& line) {
  if (line.numbers[1] > SrdmaDo::kMostGuesses) {
    SrdmaDo::refuse(
        script, line,
        fmt::format("{} guesses seen; expected up to {}", line.numbers[1], SrdmaDo::kMostGuesses));
    return;
  }
  constexpr PortRange kRange;
  Random random(1);
  ReceiveChecks checks(SrdmaDo::groups(script, line), 4791);
  for (std::uint64_t i = 0; i < line.numbers[1]; ++i) {
    const auto port = [&] {
      return static_cast<std::uint16_t>(kRange.first + random.below(kRange.size()));
    };
    const std::uint16_t source = port(), destination = port();
    checks.check({0x0a000001 + (1 - line.end), 0x0a000001 + line.end, source, destination},
                 static_cast<std::uint32_t>(line.numbers[0]), std::nullopt, SrdmaDo::now(script));
  }
  SrdmaDo::tell(script, {{"event", "srdma_guesses"},
                         {"end", line.end},
                         {"unknown", checks.count(ReceiveCounter::kUnknownTuple)},
                         {"hits", line.numbers[1] - checks.count(ReceiveCounter::kUnknownTuple)}});
}

void bind_port(SrdmaScript& script, const SrdmaLine& line) {
  if (!SrdmaDo::groups(script, line).ports().bind(static_cast<std::uint16_t>(line.numbers[0]))) {
    SrdmaDo::refuse(script, line, fmt::format("a session has port {}", line.numbers[0]));
  }
}

void tell_group(SrdmaScript& script, const SrdmaLine& line) {
  constexpr const char* kStates[] = {"reserved", "pending", "up"};
  const SessionGroup& group = SrdmaDo::groups(script, line).at(line.group);
  SrdmaDo::tell(script, {{"event", "srdma_group"},
                         {"end", line.end},
                         {"group", line.group},
                         {"sg", group.id()},
                         {"state", name_in(kStates, group.state())},
                         {"eligible", group.eligible_sessions()},
                         {"sessions", group.sessions()},
                         {"qps", group.pairs().size()}});
  for (SessionSlot slot = 0; slot < group.slots(); ++slot) {
    const GroupSession& session = group.session(slot);
    if (session.state == SessionState::kClosed) {
      continue;
    }
    Json event = {{"event", "srdma_session"},
                  {"end", line.end},
                  {"group", line.group},
                  {"session", session.id},
                  {"state", name_of(session.state)},
                  {"eligible", (group.eligible() >> slot & 1U) != 0},
                  {"in_flight", session.in_flight},
                  {"src_port", session.tuple.source_port},
                  {"dst_port", session.tuple.destination_port}};
    if (session.keys) {
      event["epoch"] = session.keys->current().number;
    }
    SrdmaDo::tell(script, event);
  }
}

void tell_srdma_counts(SrdmaScript& script, const SrdmaLine& line) {
  SrdmaEnd& end = SrdmaDo::own(script, line).end;
  Json event = {{"event", "srdma_counts"}, {"end", line.end}};
  for (int i = 0; i < kReceiveCounters; ++i) {
    const auto counter = static_cast<ReceiveCounter>(i);
    event[name_of(counter)] = end.checks().count(counter);
  }
  const CmChannel::Counts& channel = end.channel().counts();
  event["rx_cm_auth"] = channel.auth;
  event["rx_cm_replay"] = channel.replayed;
  event["rx_cm_malformed"] = channel.malformed;
  const ConnectionManager::Counts& manager = end.manager().counts();
  event["cm_sent"] = manager.sent;
  event["cm_resent"] = manager.resent;
  event["cm_repeated"] = manager.repeated;
  event["cm_stray"] = manager.stray;
  event["cm_refused"] = manager.refused;
  event["cm_failed"] = manager.failed;
  event["no_port"] = manager.no_port;
  event["refreshes"] = manager.refreshes;
  event["replacements"] = manager.replacements;
  event["ports"] = end.groups().ports().in_use();
  SrdmaDo::tell(script, event);
}

}  // namespace

const std::vector<SrdmaVerb>& srdma_verbs() {
  using A = SrdmaArgument;
  using Do = SrdmaActions;
  static const std::vector<SrdmaVerb> kVerbs = {
      {"srdma", {A::kSetup}, Do::set_up},
      {"connect", {A::kEnd, A::kConnect}, Do::connect},
      {"add", {A::kEnd, A::kGroup}, Do::of_group<add_session>},
      {"delete", {A::kEnd, A::kGroup, A::kSession}, Do::of_session<delete_session>},
      {"refresh", {A::kEnd, A::kGroup, A::kSession}, Do::of_session<refresh_session>},
      {"attach", {A::kEnd, A::kGroup, A::kQpn}, Do::of_group<attach_pair>},
      {"detach", {A::kEnd, A::kGroup, A::kQpn}, Do::of_group<detach_pair>},
      {"disconnect", {A::kEnd, A::kGroup}, Do::of_group<disconnect_group>},
      {"advertise", {A::kEnd, A::kGroup, A::kNumber}, Do::of_group<advertise_timer>},
      {"send", {A::kEnd, A::kGroup, A::kSession, A::kQpn}, Do::of_session<send_frame>},
      {"settle", {A::kEnd, A::kGroup, A::kSession, A::kNumber}, Do::of_session<settle_packets>},
      {"alive", {A::kEnd, A::kGroup, A::kSession, A::kFlag}, Do::of_session<set_alive>},
      {"deliver", {A::kEnd}, Do::of_frame<Do::deliver>},
      {"drop", {A::kEnd}, Do::of_frame<drop_frame>},
      {"duplicate", {A::kEnd}, Do::of_frame<repeat_frame>},
      {"reorder", {A::kEnd}, Do::of_frame<swap_frames>},
      {"replay", {A::kEnd}, replay_frame},
      {"flip", {A::kEnd, A::kNumber}, Do::of_frame<flip_bit>},
      {"edit", {A::kEnd, A::kFields}, Do::of_frame<edit_frame>},
      {"forge", {A::kEnd, A::kGroup, A::kSession, A::kFields}, Do::of_session<inject_like>},
      {"inject", {A::kEnd, A::kFields}, inject_any},
      {"guess", {A::kEnd, A::kQpn, A::kNumber}, guess_tuples},
      {"bind", {A::kEnd, A::kPort}, bind_port},
      {"lose", {A::kKind, A::kNumber}, Do::lose},
      {"restart", {A::kEnd}, Do::restart},
      {"run", {}, Do::run},
      {"pass", {A::kNumber}, Do::pass_time},
      {"wait", {A::kNumber}, Do::wait},
      {"status", {A::kEnd, A::kGroup}, Do::of_group<tell_group>},
      {"counts", {A::kEnd}, tell_srdma_counts}};
  return kVerbs;
}

}  // namespace flitwise
