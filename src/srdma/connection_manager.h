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
/// `auto`: as many as paths, and no more than the peer and this end hold. [HS-7]
constexpr unsigned automatic_sessions(std::size_t paths, unsigned peer_most, unsigned own_most) {
  const unsigned most = peer_most < own_most ? peer_most : own_most;
  return paths < most ? static_cast<unsigned>(paths) : most;
}

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

  // Each operation ends with kDone or kFailed of its ticket.
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
    SessionSlot session = 0;
    std::vector<IpPair> paths;
    std::unique_ptr<KeyAgreement> keys;
    Time due{};
    unsigned left = 0;
    bool is_merged = false;  // waits for the peer's own request
    bool is_internal = false;
  };
  /// An answer of this end, for requests that come again.
  struct Reply {
    CmMessage message;
    std::uint32_t peer = 0;
    CmKind request = CmKind::kConnectRequest;
    GroupSlot group = 0;
    std::vector<SessionSlot> sessions;  // that wait for READY
    Time due = Time::never();           // of the next resend; never: READY has come, or none is due
    unsigned left = 0;
  };
  struct ReplyKey {
    std::uint64_t transaction = 0;
    std::uint32_t peer = 0;
    friend bool operator==(const ReplyKey& a, const ReplyKey& b) {
      return a.transaction == b.transaction && a.peer == b.peer;
    }
  };
  struct Service {
    ServiceId id = 0;
    Accept accept;
  };
  struct Install {
    SessionPlace place;
    Time due{};
    SessionId id = 0;
  };
  friend struct CmActions;

  CmRules rules_;
  SessionGroups& groups_;
  KeyedStream random_;
  std::vector<Service> services_;
  std::vector<std::unique_ptr<Operation>> operations_;
  std::deque<std::unique_ptr<Reply>> replies_;  // oldest first
  std::vector<Install> installs_;               // of keys by software
  std::vector<CmAgreement> agreements_;         // by group
  std::deque<Outgoing> outgoing_;
  std::uint64_t next_transaction_;
  GroupId next_group_ = 0;
  Counts counts_;
};

}  // namespace flitwise
