// SPDX-License-Identifier: Apache-2.0
/// Two ends of session groups and a network between them that may lose, repeat, delay and change
/// frames, in simulated time.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "srdma/srdma_end.h"

namespace flitwise::two_ends {

inline constexpr std::uint32_t kLow = 0x0a000001, kHigh = 0x0a000002;
inline constexpr ServiceId kService = 77;
inline constexpr Time kLatency = Time::from_us(5);

inline SrdmaEndSetup default_setup(unsigned end) {
  SrdmaEndSetup setup;
  setup.address = end == 0 ? kLow : kHigh;
  setup.channel.provisioned.fill(0x42);
  setup.channel.port = 4790;
  return setup;
}

/// A frame on its way, and what it carries where that is a control message of a sound end.
struct OnWire {
  Time at{};
  unsigned to = 0;
  ByteVector bytes;
  CmKind kind = CmKind::kTimer;
  bool is_control = false;
};

class TwoEnds {
 public:
  using Change = std::function<void(SrdmaEndSetup& setup, unsigned end)>;
  explicit TwoEnds(const Change& change = {}) {
    for (unsigned end = 0; end < 2; ++end) {
      setups[end] = default_setup(end);
      if (change) {
        change(setups[end], end);
      }
      restart(end);
    }
  }
  /// An end forgets all, and starts again.
  void restart(unsigned end) {
    ends[end] = std::make_unique<SrdmaEnd>(setups[end]);
    events[end].clear();
    at(end).manager().listen(
        kService, [this, end](std::uint32_t /*peer*/, const auto& asked, std::vector<CmPair>& own) {
          for (std::size_t i = 0; i < asked.size(); ++i) {
            own.push_back({next_pair[end]++, 1000});
          }
          return CmReason::kNone;
        });
  }

  SrdmaEnd& at(unsigned end) { return *ends[end]; }
  SessionGroups& groups(unsigned end) { return at(end).groups(); }
  ConnectionManager& manager(unsigned end) { return at(end).manager(); }

  /// From end `from` to the other one.
  CmTicket connect(unsigned from, unsigned sessions = 2, std::size_t pairs = 1,
                   ServiceId service = kService) {
    ConnectRequest request;
    request.remote = setups[1 - from].address;
    request.service = service;
    request.sessions = sessions;
    for (std::size_t i = 0; i < pairs; ++i) {
      request.pairs.push_back({next_pair[from]++, 500});
    }
    return manager(from).connect(request, now);
  }

  /// What leaves both ends now goes on its way; `lose` is asked about each frame.
  void flush() {
    for (unsigned end = 0; end < 2; ++end) {
      CmMessage message;
      ByteVector bytes;
      while (at(end).next_control(bytes, message)) {
        sent.push_back(message);
        ship({now + kLatency, 1 - end, bytes, message.kind, true});
      }
      SessionEvent event;
      while (groups(end).take_event(event)) {
        events[end].push_back(event);
      }
    }
  }
  void ship(OnWire frame) {
    const int copies = lose && lose(frame) ? 0 : repeat && repeat(frame) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      wire.push_back(frame);
      wire.back().at += Time{i * kLatency.fs / 2};
    }
  }
  /// A data frame of a queue pair by a session.
  ByteVector data(unsigned from, SessionPlace place, std::uint32_t pair, std::size_t payload = 64) {
    ByteVector frame;
    const RoceParts parts = make_roce({roce_opcode(0x04), false, false, payload}, frame);
    put(&frame[parts.bth], RoceField{"dest_qp", 40, 24}, pair);
    at(from).carry(place, parts, frame, now);
    return frame;
  }
  ReceiveCounter deliver(unsigned to, ByteVector frame) {
    const ReceiveCounter outcome = at(to).receive(frame, now).outcome;
    flush();
    return outcome;
  }

  /// Until nothing happens before `until`.
  void run(Time until) {
    flush();
    for (;;) {
      const auto next = std::min_element(wire.begin(), wire.end(),
                                         [](const auto& a, const auto& b) { return a.at < b.at; });
      Time then = next == wire.end() ? Time::never() : next->at;
      for (unsigned end = 0; end < 2; ++end) {
        then = std::min(then, manager(end).next_deadline());
      }
      if (then > until) {
        now = until;
        return;
      }
      now = std::max(now, then);
      at(0).tick(now);
      at(1).tick(now);
      if (next != wire.end() && next->at <= now) {
        OnWire frame = std::move(*next);
        wire.erase(next);
        outcomes[frame.to].push_back(at(frame.to).receive(frame.bytes, now).outcome);
      }
      flush();
    }
  }
  void run_us(std::int64_t us) { run(now + Time::from_us(us)); }

  unsigned count(unsigned end, SessionEvent::Kind kind) const {
    return static_cast<unsigned>(
        std::count_if(events[end].begin(), events[end].end(),
                      [kind](const SessionEvent& event) { return event.kind == kind; }));
  }
  /// The last one of the kind. REQUIRES: count() > 0.
  const SessionEvent& last(unsigned end, SessionEvent::Kind kind) const {
    return *std::find_if(events[end].rbegin(), events[end].rend(),
                         [kind](const SessionEvent& event) { return event.kind == kind; });
  }
  unsigned sent_of(CmKind kind) const {
    return static_cast<unsigned>(std::count_if(
        sent.begin(), sent.end(), [kind](const CmMessage& one) { return one.kind == kind; }));
  }
  unsigned open_groups(unsigned end) {
    unsigned open = 0;
    for (GroupSlot slot = 0; slot < groups(end).slots(); ++slot) {
      open += groups(end).is_open(slot) ? 1 : 0;
    }
    return open;
  }
  const SessionGroup& group(unsigned end, GroupSlot slot = 0) { return groups(end).at(slot); }

  std::array<SrdmaEndSetup, 2> setups;
  std::array<std::unique_ptr<SrdmaEnd>, 2> ends;
  std::array<std::vector<SessionEvent>, 2> events;
  std::array<std::vector<ReceiveCounter>, 2> outcomes;
  std::array<std::uint32_t, 2> next_pair{0x100, 0x200};
  std::vector<OnWire> wire;
  std::vector<CmMessage> sent;
  std::function<bool(const OnWire&)> lose, repeat;
  Time now{};
};

}  // namespace flitwise::two_ends
