// SPDX-License-Identifier: Apache-2.0
/// One end of the handshake of session groups: asks, answers, sends again, and changes the groups
/// of its NIC. [HS-1] to [HS-7], [KY-2] [KY-3]
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "common/open_table.h"
#include "srdma/cm_message.h"
#include "srdma/session_groups.h"

namespace flitwise {

struct CmRules {
  std::uint32_t address = 0;          ///< of its control messages
  Time timeout = Time::from_us(100);  ///< [HS-4]
  unsigned retries = 7;
  CmCapabilities capabilities;         ///< is_secured is that of the credentials
  Time gap_timer = Time::from_us(50);  ///< gap_timer0 [RX-3]
  std::uint32_t start = 1;     ///< as CmChannelRules::start: transactions of this start are new
  std::size_t replies = 1024;  ///< that are remembered [HS-3]
};

/// A group that this end asks for.
struct ConnectRequest {
  std::uint32_t remote = 0;  ///< address of the peer's control messages
  ServiceId service = 0;
  std::vector<CmPair> pairs;  ///< its own queue pairs, one or more
  std::vector<IpPair> paths;  ///< sessions use them in turn; empty: its own address and `remote`
  unsigned sessions = 2;      ///< [HS-7]
};

/// Number of an operation; 0: it was refused at once, for `reason`.
struct CmTicket {
  std::uint64_t id = 0;
  CmReason reason = CmReason::kNone;
};

/// What the two ends of a group have agreed on.
struct CmAgreement {
  CmCapabilities capabilities;
  Time gap_timer{};  ///< of the peer; the newest that it has told of [RX-3]
  Time lifetime{};   ///< of keys
};

/// Control messages go out by take_message() and come in by receive(); either end may lose, repeat
/// or delay them. Nothing here is on the way of a packet but data_came(), which is O(1) for groups
/// that are up.
class ConnectionManager {
 public:
  /// Which own queue pairs answer those of a peer, as many: gives kNone, or why there are none.
  using Accept = std::function<CmReason(std::uint32_t peer, const std::vector<CmPair>& asked,
                                        std::vector<CmPair>& own)>;
  struct Outgoing {
    CmMessage message;
    std::uint32_t destination = 0;
  };
  struct Counts {
    std::uint64_t sent = 0, resent = 0, repeated = 0;  ///< repeated: requests that came again
    std::uint64_t stray = 0;                           ///< answers that nobody waits for
    std::uint64_t no_port = 0;                         ///< sessions that found no ports (ENOPORT)
    std::uint64_t refused = 0;                         ///< requests of the peer
    std::uint64_t failed = 0;                          ///< own operations
    std::uint64_t refreshes = 0, replacements = 0;
  };

  /// groups: those of its NIC, which outlive it. random: for keys and PSNs.
  ConnectionManager(const CmRules& rules, SessionGroups& groups, KeyedStream random);

  /// Requests for the service are answered from now on.
  void listen(ServiceId service, Accept accept);

  // Each operation ends with kDone or kFailed of its ticket, unless it is refused at once. Slots
  // are those of groups that have been open.
  CmTicket connect(const ConnectRequest& request, Time now);
  CmTicket add_session(GroupSlot group, Time now);
  CmTicket delete_session(SessionPlace place, Time now);
  CmTicket refresh(SessionPlace place, Time now);
  CmTicket attach(GroupSlot group, const CmPair& pair, Time now);
  CmTicket detach(GroupSlot group, std::uint32_t pair, Time now);
  CmTicket disconnect(GroupSlot group, Time now);
  /// Tells the peer of another gap timer; nobody answers. [RX-3]
  void advertise(GroupSlot group, Time gap_timer);

  void receive(const CmMessage& message, std::uint32_t from, Time now);
  /// A valid packet has come by the session; epoch: the key that it came by, null where it is not
  /// secured. What READY would confirm is confirmed. [HS-2]
  void data_came(SessionPlace place, const KeyEpoch* epoch, Time now);
  /// Of its own timers and those of the groups.
  Time next_deadline() const;
  /// Resends, refreshes, expiry: all that time alone brings. Call it when the deadline has come,
  /// before packets of that time. O(operations + groups).
  void tick(Time now);
  /// False: none is to be sent.
  bool take_message(Outgoing& out);

  const CmAgreement& agreement(GroupSlot group) const { return agreements_[group]; }
  /// Sessions that are asked for and not there yet. [CT-5]
  unsigned pending_sessions(GroupSlot group) const;
  const Counts& counts() const { return counts_; }

 private:
  /// A request of this end that has no answer yet.
  struct Operation {
    CmMessage request;
    std::uint32_t peer = 0;
    GroupSlot group = 0;
    SessionId session = 0;
    std::unique_ptr<KeyAgreement> keys;
    Time due{};
    unsigned left = 0;           // resends
    bool is_merged = false;      // waits for the peer's own request [HS-6]
    bool is_superseded = false;  // has answered that
    bool is_internal = false;    // nobody has asked for it
  };
  /// An answer of this end, for requests that come again.
  struct Reply {
    CmMessage message;
    std::uint32_t peer = 0;
    GroupSlot group = 0;
    std::vector<SessionId> sessions;  // that wait for READY; one that is closed is none any more
    Time due = Time::never();  // of the next resend; never: READY has come, or none is expected
    unsigned left = 0;
  };
  struct ReplyKey {
    std::uint64_t transaction = 0;
    std::uint32_t peer = 0;
    friend bool operator==(const ReplyKey& a, const ReplyKey& b) {
      return a.transaction == b.transaction && a.peer == b.peer;
    }
  };
  static std::uint64_t hash_reply(const ReplyKey& key);
  struct Service {
    ServiceId id = 0;
    Accept accept;
  };
  /// A key that software installs. Ends with its group.
  struct Install {
    GroupSlot group = 0;
    SessionId session = 0;
    Time due{};
  };
  /// A session that a group is short of, and that could not be had. Ends with its group.
  struct Shortage {
    GroupSlot group = 0;
    Time due{};
  };
  struct Agreement : CmAgreement {
    std::uint64_t timer = 0;    // transaction of the newest TIMER_IND
    std::vector<IpPair> paths;  // of sessions that are added
    std::size_t next_path = 0;
  };
  /// None: not secured.
  using KeySecret = std::optional<SecretKey>;
  using Operations = std::vector<std::unique_ptr<Operation>>;

  // connection_manager.cpp and cm_requests.cpp
  void wake_by(Time time) { wake_ = time < wake_ ? time : wake_; }
  bool is_higher_than(std::uint32_t peer) const { return rules_.address > peer; }
  const CredentialRules& credentials() const { return groups_.rules().credentials; }
  void send(const CmMessage& message, std::uint32_t peer);
  CmTicket start(std::unique_ptr<Operation> operation, Time now);
  CmMessage request_for(CmKind kind, GroupSlot group);
  CmTicket request_of_group(CmKind kind, GroupSlot group, std::vector<CmPair> pairs, Time now);
  CmTicket add_session(GroupSlot group, bool is_internal, Time now);
  CmTicket refresh(SessionPlace place, bool is_internal, Time now);
  GroupId new_group_id(std::uint32_t peer);
  Operation* own_refresh(GroupSlot group, SessionId session);
  Agreement& agreement_at(GroupSlot slot);
  std::unique_ptr<Operation> take(std::uint64_t transaction);
  void finish(const Operation& operation, CmReason reason);
  void fail(std::unique_ptr<Operation> operation, CmReason reason, Time now);
  void close_group(GroupSlot slot, CmReason reason, Time now);
  void release_ports(const Operation& operation, Time now);
  void end_delete(const Operation& operation, Time now);
  void offer_key(Operation& operation);
  std::uint32_t own_lifetime_us() const;
  void tick_operations(Time now);
  void tick_replies(Time now);
  void replace(SessionPlace expired, Time now);
  void add_missing(GroupSlot group, Time now);
  void wait_for_missing(GroupSlot group, Time now);

  // cm_answers.cpp and cm_ready.cpp: requests of the peer
  void answer(const CmMessage& request, std::uint32_t from, Time now);
  CmReason answer_connect(const CmMessage& request, Reply& reply, Time now);
  CmReason answer_add(const CmMessage& request, Reply& reply, Time now);
  CmReason answer_refresh(const CmMessage& request, Reply& reply, Time now);
  CmReason answer_attach(const CmMessage& request, Reply& reply);
  CmReason answer_other(const CmMessage& request, Reply& reply, Time now);
  CmReason flaw_of_keys(const CmMessage& message) const;
  CmReason agree(const CmMessage& request, Reply& reply, KeySecret& secret);
  CmReason own_pairs(const CmMessage& request, std::uint32_t from, const Operation* own,
                     std::vector<CmPair>& pairs) const;
  void accept_group(const CmMessage& request, Reply& reply, const std::vector<CmPair>& pairs);
  bool add_accepted(CmSession session, const KeySecret& secret, Reply& reply, Time now);
  Operation* own_connect(ServiceId service, std::uint32_t peer);
  static bool hand_over(Operation* asked, const SessionTuple& tuple);
  bool make_room_for_reply();
  void remember(std::unique_ptr<Reply> reply);
  Reply* reply_to_request(std::uint64_t transaction, std::uint32_t peer);
  Reply* waiting_reply(CmKind kind, GroupSlot group, SessionId session);
  /// None: it is closed.
  std::optional<SessionPlace> place_of(GroupSlot group, SessionId session) const;
  void confirm(Reply& reply, Time now);
  void give_up(Reply& reply, Time now);

  // cm_replies.cpp: answers of the peer
  void take_reply(const CmMessage& reply, std::uint32_t from, Time now);
  CmReason end_connect(Operation& operation, const CmMessage& reply, Time now);
  CmReason end_add(Operation& operation, const CmMessage& reply, Time now);
  CmReason end_refresh(Operation& operation, const CmMessage& reply, Time now);
  CmReason end_attach(Operation& operation, const CmMessage& reply);
  CmReason secret_of(const Operation& operation, const CmMessage& reply, KeySecret& secret) const;
  bool accepts_some(const Operation& operation, const CmMessage& reply) const;
  void add_answered(Operation& operation, const CmMessage& reply, const KeySecret& secret,
                    Time now);
  void merge(const CmMessage& winner, std::uint32_t peer, Time now);
  void send_ready(std::uint64_t transaction, GroupId group, std::uint32_t peer);
  void take_timer(const CmMessage& message, std::uint32_t from);
  KeyEpoch epoch_of(const SecretKey& secret, SessionId id, const SessionTuple& tuple,
                    EpochNumber number, Time lifetime, Time now) const;
  std::unique_ptr<KeyEpochs> first_keys(const KeySecret& secret, SessionId id,
                                        const SessionTuple& tuple, Time lifetime, Time now) const;
  void use_key(SessionPlace place, Time now);
  void tell_pair(GroupSlot group, const CmPair& own, const CmPair& peer);

  CmRules rules_;
  SessionGroups& groups_;
  KeyedStream random_;
  std::vector<Service> services_;
  Operations operations_;
  std::deque<std::unique_ptr<Reply>> replies_;  // oldest first
  OpenTable<ReplyKey, Reply*, hash_reply> reply_by_key_;
  std::vector<Install> installs_;
  std::vector<Shortage> shortages_;
  std::vector<Agreement> agreements_;  // by group
  std::deque<Outgoing> outgoing_;
  std::deque<std::uint64_t>
      ready_;  // own transactions whose answers get READY when they come again
  Time wake_ = Time::never();
  std::uint32_t transactions_ = 0;
  GroupId next_group_ = 0;
  Counts counts_;
};

}  // namespace flitwise
