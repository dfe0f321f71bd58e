// SPDX-License-Identifier: Apache-2.0
/// One end of a connection between two hosts of mode packet: flows, their queue pair and the
/// sessions that carry its packets, which other queue pairs of the two hosts may share. The rules
/// are those of src/rdma and src/srdma; here is when. [SG-1] [RX-1]
// Longer than 150 lines: what it touches is asked for in three steps ahead of use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "network/fabric_packet.h"
#include "network/network_host_rules.h"
#include "rdma/queue_pair.h"
#include "srdma/key_epochs.h"
#include "srdma/session_carrier.h"
#include "workload/flow.h"

namespace flitwise {

/// What all queue pairs of a host share: one region of memory, and no receive buffers, for WRITEs
/// take none.
struct NetworkHostMemory {
  NetworkHostMemory();
  MemoryKeys keys{1};
  std::uint32_t key = 0;
  RdmaBuffers buffers{1};
};

class HostConnection {
 public:
  struct Ends {
    NodeId own = 0, peer = 0;
    std::uint32_t number = 0, peer_number = 0;  ///< of the queue pairs
    Psn first = 0, peer_first = 0;
  };
  /// `rules` and `memory` outlive it. salt: of hashes by which sessions are chosen. [SEL-8]
  HostConnection(const NetworkHostRules& rules, NetworkHostMemory& memory, const Ends& ends,
                 SipKey salt, const Random& random);
  /// Its packets go by the sessions of `first`, which outlives it. [SG-7]
  HostConnection(const NetworkHostRules& rules, const Ends& ends, HostConnection& first);

  // ---- sessions, of the first queue pair of a group; at both ends alike
  /// Packets of this end carry the tuple; its place is the hash. REQUIRES: no open one has the id.
  void add_session(SessionId id, const SessionTuple& tuple, Time now);
  /// No new packet leaves by it; it is closed once nothing of it is on its way. [SG-4]
  void drain_session(SessionId id) { carrier_.drain(id); }
  bool close_if_empty(SessionId id) { return carrier_.close_if_empty(id); }
  // ---- of a handshake; one that is not known is none
  /// May packets leave by it, and by which key?
  void set_session(SessionId id, bool is_eligible, EpochNumber epoch);
  /// What has left by it and has no answer is sent again. [KY-4]
  void resend(SessionId id, Time now);
  /// See SessionCarrier::take_gap_timer(); what queue pairs go by from now on. [RX-3]
  std::optional<Time> take_gap_timer() { return carrier_.take_gap_timer(); }
  void set_gap_times(std::optional<Time> own, std::optional<Time> of_peer);
  /// Nothing comes by it any more.
  void close_session(SessionId id) { carrier_.close(id); }
  /// No session carries its packets, nor will: why. [SG-9]
  void give_up(const std::string& why, Time now);

  // ---- traffic
  /// The flow is a WRITE behind those before it.
  void post(const Flow& flow);
  /// The peer will receive it: for FCTs alone.
  void expect(const Flow& flow) { incoming_.push_back(flow); }
  /// The next packet, with all that its receiver and switches see. False: none may go now.
  bool next(FabricPacket& packet, Time now);
  /// What has kept the last next() from giving a request that is there: no session has room by its
  /// rate or window, or may be used; or the window of the queue pair.
  enum class Held : std::uint8_t { kNot, kBySessions, kByWindow };
  Held held() const { return held_; }
  /// When it is worth while to ask, if nothing comes meanwhile; now or earlier: at once.
  Time may_go() const { return may_go_; }
  bool has_to_wait() const;  ///< for what another queue pair of its group may be told
  bool may_go_on();          ///< that has been told; false: it did not have to wait
  /// What a packet changes. Flows that are complete with it are taken by take_complete().
  void receive(const FabricPacket& packet, Time now);
  bool take_complete(Flow& flow);

  // ---- the cache: three steps, one after the other, before receive() or next()
  void fetch() const {
    fetch_between(this, &completions_ + 1);
    pair_.fetch_state();
    carrier_.fetch_state();
    flitwise::fetch(&carried_);
  }
  void fetch_rows(const RdmaPacket& packet) const {
    pair_.fetch(packet);
    carried_.fetch_rows(packet);
  }
  void fetch_session(const RdmaPacket& packet) const { carrier_.fetch(packet); }
  void fetch_next_rows() const {
    pair_.fetch_next();
    carried_.fetch_next_rows();
  }
  void fetch_next_session() const { carried_.fetch_next(); }

  // ---- time
  /// When expire() wants to be called; it may have passed.
  Time due() const;
  /// Retry timer, gaps, weights and probes. The answer: what control of sessions decides.
  ControlDecision expire(Time now);

  // ---- questions
  const Ends& ends() const { return ends_; }
  const QueuePair& pair() const { return pair_; }
  /// Is it the first queue pair of its group? Its others, in order.
  bool is_first() const { return own_carrier_.has_value(); }
  const HostConnection& first() const { return first_; }
  const std::vector<HostConnection*>& others() const { return others_; }
  SessionBalancer& balancer() { return carrier_.balancer(); }
  const SessionBalancer& balancer() const { return carrier_.balancer(); }
  bool has_failed() const { return pair_.state() == QpState::kError; }
  /// Flows that are posted and not acknowledged.
  std::uint64_t outstanding() const { return posted_ - finished_; }
  std::uint64_t bytes_delivered() const { return delivered_; }
  std::uint64_t out_of_order() const { return disorder_; }  ///< bytes placed anywhere but in order
  std::string waiting() const;

 private:
  void start();
  void post_queued();
  void stamp(FabricPacket& packet, SessionIndex session);
  void send_request(FabricPacket& packet, Time now);
  void send_answer(FabricPacket& packet, Time now);
  void take_effect(const RdmaPacket& packet, const RdmaEffect& effect, Time now);
  void note_progress(Psn before, Time now);

  const NetworkHostRules& rules_;
  NetworkHostMemory& memory_;
  const Ends ends_;
  Time may_go_{};
  Held held_ = Held::kNot;
  Time retry_at_ = Time::never();
  std::uint64_t progress_ = 0;  // of the requester, when retry_at_ was set
  std::uint64_t delivered_ = 0, disorder_ = 0;
  std::uint64_t posted_ = 0, finished_ = 0, messages_ = 0;
  std::uint64_t stream_ = 0;    // bytes posted
  std::string failure_;         // of its group
  std::uint32_t complete_ = 0;  // flows of incoming_ that take_complete() has not given
  CompletionQueue completions_;
  QueuePair pair_;
  HostConnection& first_;
  std::vector<HostConnection*> others_;        // of the first one
  std::optional<SessionCarrier> own_carrier_;  // likewise
  SessionCarrier& carrier_;
  CarriedPair carried_;

  std::deque<Flow> queued_;  // posted once the send queue has room
  std::deque<Flow> incoming_;
};

}  // namespace flitwise
