// SPDX-License-Identifier: Apache-2.0
/// Sessions of an RDMA adapter (docs/srdma.md): each packet of its queue pairs leaves by one of the
/// group that it has with its peer. [SG-5] [HS-1]
/// In: packets that the builder makes and sends, frames that come, what rules of queue pairs have
/// said, time. Out: the session, the addresses and the key of each packet; control messages to the
/// builder; kicks of queue pairs that may go on. Queue: none, for it is asked on the way of others;
/// latency: none of its own, as the choice is a part of `build` and the checks one of `check`.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "network/srdma_result.h"
#include "rdma/hca_module.h"
#include "rdma/hca_seams.h"
#include "srdma/session_carrier.h"
#include "srdma/srdma_end.h"
#include "stats/waits_of_each.h"

namespace flitwise {

class HcaSessions final : public HcaModule, public HcaCarriers {
 public:
  struct Hooks {
    /// The queue pair is in RTS.
    std::function<void(std::uint32_t pair)> connected;
    std::function<void(Time now)> all_connected;
  };
  HcaSessions(const HcaParts& parts, Hooks hooks);

  /// Groups are asked for. [HS-1]
  void connect(Time now);
  /// The function of the queue pair is reset: what it had sent is lost. [HP-4]
  void reset(std::uint32_t pair, Time now);

  bool next_packet(HcaBuilt& made, RdmaPacket& packet, Time now) override;
  Sent send(HcaBuilt& built, Time now) override;
  unsigned choice_clocks(std::uint32_t pair) const override;
  void drop(const HcaBuilt& built) override;
  bool has_control() const override { return !control_.empty(); }
  void take_control(ByteVector& frame) override;
  const char* receive(HcaArrived& arrived, Time now) override;
  void before_rules(const HcaArrived& arrived, Time now) override;
  void slow_down(const HcaArrived& arrived, Time now) override;
  void after_rules(std::uint32_t pair, Time now) override;

  bool run(Time now) override;
  void settle(Time now) override;
  bool is_quiet() const override { return control_.empty(); }
  std::string waiting() const override;
  void add_errors(std::map<std::string, std::uint64_t>& errors) const override;
  void start_window(Time now) override;
  HcaStageResult result(Time now) const override;
  void add_more_waits(const std::string& place, Time now,
                      std::vector<WaitResult>& all) const override;
  /// While a handshake waits for its peer, or a group has no session: until when. Never: none does.
  Time waits_until() const;
  std::vector<SrdmaSessionResult> sessions(const std::string& device) const;
  std::uint64_t carried() const { return carried_ + controls_; }  ///< frames
  bool are_scores_sound() const;

 private:
  struct Group {
    explicit Group(const HcaSessionRules& rules, SipKey salt, const Random& random, Time now)
        : carrier(rules.host.carrier, salt, random, now) {}
    SessionCarrier carrier;
    unsigned peer = 0;  // number of the adapter
    std::vector<std::uint32_t> pairs;
    std::optional<GroupSlot> slot;
    bool is_up = false;
    const char* failure = nullptr;  // of its handshake
    std::uint64_t asked = 0;        // ticket of its handshake, or of a session; 0: none
    bool is_adding = false;         // of a session, which control adds
    std::uint64_t eligible = 0;     // slots, as the carrier knows them
    std::array<SessionIndex, kMostGroupSessions> by_slot{};
    std::deque<std::uint32_t> blocked;  // queue pairs that wait for room on any session
  };
  struct Pair {
    std::optional<CarriedPair> carried;  // from RTS on
    Psn oldest = 0;                      // that is not acknowledged, when it was asked last
    Time armed = Time::never();          // of due_
    Time may_go = Time::never();         // its rate lets it go on then
    bool is_blocked = false;
  };
  using Due = std::pair<Time, std::uint32_t>;                 // queue pair
  static constexpr std::uint32_t kGroupPairs = kMostCmPairs;  // queue pairs of a group, at most

  // hca_sessions.cpp
  void set_frame(HcaBuilt& built, SessionIndex session, Time now);
  void block(std::uint32_t pair, Time now, Time may_go);
  void wake_one(Group& group, Time now);
  void settle_group(Group& group, Time now);
  void arm(std::uint32_t pair, Time when);
  bool run_pairs(Time now);
  Group& group_of(std::uint32_t pair) { return groups_[group_number(pair)]; }
  std::uint32_t group_number(std::uint32_t pair) const {
    const std::uint32_t each = s_.config.pairs_of_each();
    return pair / each * chunks_ + pair % each * chunks_ / each;
  }

  // hca_session_groups.cpp
  void add_groups();
  CmReason accept(std::uint32_t peer, const std::vector<CmPair>& asked, std::vector<CmPair>& own);
  void obey(Time now);
  void take(const SessionEvent& event, Time now);
  void pair_ready(const SessionEvent& event);
  void group_up(Group& group, Time now);
  void resend(Group& group, SessionId session, Time now);
  void set_eligible(Group& group);
  bool run_groups(Time now);
  void decide(Group& group, const ControlDecision& decision, Time now);
  void collect_control(Time now);
  Group* group_at(GroupSlot slot);

  const HcaParts& s_;
  const HcaSessionRules& rules_;
  const RoceExtensions extensions_;
  const std::uint32_t chunks_;  // groups with each peer
  const Time lead_;             // from a kick until its packet is on the wire, at least
  Hooks hooks_;
  SrdmaEnd end_;
  std::deque<Group> groups_;
  std::deque<Pair> pairs_;
  std::map<GroupSlot, std::uint32_t> by_slot_;  // groups, once they have one
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::deque<ByteVector> control_;
  std::uint64_t carried_ = 0, controls_ = 0;  // frames
  std::uint64_t before_ = 0;                  // of both, at the start of the window
  std::uint64_t connected_ = 0;               // groups
  WaitsOfEach room_waits_;                    // of queue pairs
};

}  // namespace flitwise
