// SPDX-License-Identifier: Apache-2.0
/// One session group whose packets meet a path a session, driven by lines of a script.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <vector>

#include "script/rcm_line.h"

namespace flitwise {

class RcmScript {
 public:
  using Sink = std::function<void(const Json&)>;
  /// Does what the line says and tells what comes of it, as events. Before the first line that sets
  /// a group up there is one as that line makes it without keys.
  void run(const RcmLine& line, const Sink& sink);

 private:
  friend struct RcmActions;

  struct Sent {
    SessionPacket packet;
    std::uint32_t message = 0, resends = 0;
  };
  struct Path {
    RcmPath of;
    Time free_at{};    ///< of its server
    Time most_wait{};  ///< for it, since last told
  };
  /// An echo under way.
  struct Answer {
    Time at;
    std::uint64_t order = 0;
    SessionId session = 0;
    Psn psn = 0;
    bool ce = false;
    friend bool operator<(const Answer& a, const Answer& b) {  // the first one is the greatest
      return a.at != b.at ? a.at > b.at : a.order > b.order;
    }
  };
  struct Group {
    explicit Group(const RcmSetup& of);
    RcmSetup setup;
    std::optional<WeightSetup> weights;  ///< instead of those of `setup`, by another line
    SessionBalancer balancer;
    /// For one session more.
    bool has_room() const;
    const WeightSetup& weights_now() const { return weights ? *weights : setup.balancer.weights; }
    std::map<SessionId, Path> paths;  ///< of those that have one
    std::map<Psn, Sent> window;
    std::priority_queue<Answer> answers;
    std::uint64_t orders = 0;
    QpChoice own;
    Psn next_psn = 0;
    std::uint32_t next_id = 0;
    bool has_queue = false;
    Time now{};
  };

  void add(SessionId id);
  /// One packet, by the path of its session where it has one.
  void send(Psn psn, Sent& sent, bool tells);
  void launch(Psn psn, SessionIndex session);
  /// Time goes on to `end`, with a packet every `gap` where there is one.
  void advance(Time end, std::optional<Time> gap);
  void arrive();
  void tick();

  std::optional<Group> group_;
  std::vector<SessionId> map_;  // what each key has chosen; kept from group to group
  Sink sink_;
};

}  // namespace flitwise
