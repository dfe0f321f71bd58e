// SPDX-License-Identifier: Apache-2.0
// What comes of lines of session groups, as events.
#include "script/srdma_script.h"

#include <algorithm>
#include <utility>

namespace flitwise {
namespace {

constexpr std::size_t kMostSrdmaFrames = 4096;
constexpr std::uint32_t kFirstSrdmaAnswer = 0x200;  // queue pairs that answer requests

Json event_of_message(const CmMessage& message, unsigned end, bool is_lost) {
  Json event = {{"event", "srdma_message"},
                {"end", end},
                {"kind", name_of(message.kind)},
                {"sg", message.group}};
  if (is_reply(message.kind)) {
    event["reason"] = name_of(message.reason);
  }
  if (!message.sessions.empty()) {
    event["sessions"] = message.sessions.size();
  }
  if (!message.pairs.empty()) {
    event["qps"] = message.pairs.size();
  }
  if (is_lost) {
    event["lost"] = true;
  }
  return event;
}

Json event_of_session(const SessionEvent& told, unsigned end) {
  using Kind = SessionEvent::Kind;
  Json event = {{"event", "srdma_event"}, {"end", end}, {"kind", name_of(told.kind)}};
  event["group"] = told.place.group;
  switch (told.kind) {
    case Kind::kSessionUp:
    case Kind::kSessionDraining:
    case Kind::kSessionExpired:
    case Kind::kSessionClosed:
    case Kind::kRefreshing:
    case Kind::kRefreshed: event["session"] = told.session; break;
    case Kind::kPairReady: event["psn"] = told.peer_psn; [[fallthrough]];
    case Kind::kPairDetached:
      event["qpn"] = told.pair;
      event["peer_qpn"] = told.peer_pair;
      break;
    case Kind::kGapTimer: event["ns"] = told.span.fs / Time::from_ns(1).fs; break;
    case Kind::kGroupClosed:
    case Kind::kFailed: event["reason"] = name_of(told.reason); break;
    default: break;
  }
  return event;
}

}  // namespace

void SrdmaScript::run(const SrdmaLine& line, const Sink& sink) {
  sink_ = sink;
  if (!ends_[0]) {
    set_up(parse_srdma_line({"srdma", Json::object()}, 0).setup);
  }
  line.verb->apply(*this, line);
  settle();
}

void SrdmaScript::set_up(const SrdmaScriptSetup& setup) {
  setup_ = setup;
  losses_ = {};
  starts_ = 0;
  now_ = {};
  for (unsigned end = 0; end < 2; ++end) {
    start(end);
  }
}

// Each start is a later one than those before it.
void SrdmaScript::start(unsigned number) {
  SrdmaEndSetup own = setup_.ends[number];
  own.channel.start = own.manager.start = ++starts_;
  own.seed += starts_ > 2 ? starts_ : 0;
  ends_[number] = std::make_unique<End>(own);
  End& end = *ends_[number];
  end.next_pair = kFirstSrdmaAnswer;
  for (const ServiceId service : {1, 2}) {
    end.end.manager().listen(service,
                             [&end](std::uint32_t /*peer*/, const std::vector<CmPair>& asked,
                                    std::vector<CmPair>& own_pairs) {
                               for (std::size_t i = 0; i < asked.size(); ++i) {
                                 own_pairs.push_back({end.next_pair++ & 0xff'ffff, 0});
                               }
                               return CmReason::kNone;
                             });
  }
}

void SrdmaScript::settle() {
  for (unsigned end = 0; end < 2; ++end) {
    tell_events(end);
    send_control(end);
  }
}

void SrdmaScript::tell_events(unsigned number) {
  SessionEvent event;
  while (ends_[number]->end.groups().take_event(event)) {
    sink_(event_of_session(event, number));
  }
}

void SrdmaScript::send_control(unsigned number) {
  SrdmaEnd& end = ends_[number]->end;
  CmMessage message;
  ByteVector frame;
  while (end.next_control(frame, message)) {
    std::uint32_t& losses = losses_[static_cast<std::size_t>(message.kind)];
    const bool is_lost = losses > 0;
    losses -= is_lost ? 1 : 0;
    sink_(event_of_message(message, number, is_lost));
    if (!is_lost) {
      put(1 - number, std::move(frame));
    }
  }
}

void SrdmaScript::put(unsigned to, ByteVector bytes) {
  std::deque<Flight>& wire = ends_[to]->arriving;
  if (wire.size() < kMostSrdmaFrames) {
    wire.push_back({now_ + setup_.latency, std::move(bytes)});
  }
}

void SrdmaScript::deliver(unsigned number) {
  End& to = *ends_[number];
  ByteVector frame = std::move(to.arriving.front().bytes);
  to.arriving.pop_front();
  to.last = frame;
  const ReceivedFrame received = to.end.receive(frame, now_);
  if (received.outcome != ReceiveCounter::kControl) {
    Json event = {
        {"event", "srdma_frame"}, {"end", number}, {"outcome", name_of(received.outcome)}};
    if (received.outcome == ReceiveCounter::kData) {
      event["group"] = received.place.group;
      event["session"] =
          to.end.groups().at(received.place.group).session(received.place.session).id;
      event["qpn"] = received.queue_pair;
      event["bytes"] = received.parts.payload_bytes;
    }
    sink_(event);
  }
  settle();
}

void SrdmaScript::pass(Time span, bool arrives) {
  const Time until = now_ + span;
  for (;;) {
    Time then = until;
    for (const auto& end : ends_) {
      then = std::min(then, std::max(now_, end->end.manager().next_deadline()));
      if (arrives && !end->arriving.empty()) {
        then = std::min(then, std::max(now_, end->arriving.front().at));
      }
    }
    now_ = then;
    bool moves = false;
    for (unsigned number = 0; number < 2; ++number) {
      End& end = *ends_[number];
      moves = moves || end.end.manager().next_deadline() <= now_;
      end.end.tick(now_);
      settle();
      if (arrives && !end.arriving.empty() && end.arriving.front().at <= now_) {
        deliver(number);
        moves = true;
      }
    }
    if (!moves && now_ >= until) {
      return;
    }
  }
}

}  // namespace flitwise
