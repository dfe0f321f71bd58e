// SPDX-License-Identifier: Apache-2.0
/// A queue pair of a reliable connection as rules without a clock: its state, its two halves, and
/// the checks that each packet passes first.
#pragma once

#include "rdma/rc_requester.h"
#include "rdma/rc_responder.h"

namespace flitwise {

/// Keys and queues outlive it and may serve others as well. What the wire brings is data: a packet
/// that is wrong is dropped and counted, or answered by a NAK.
class QueuePair {
 public:
  /// `shares_buffers`: they are a shared receive queue, which an error leaves as it is.
  QueuePair(const QueuePairSetup& setup, MemoryKeys& keys, CompletionQueue& send_queue,
            CompletionQueue& receive_queue, RdmaBuffers& buffers, bool shares_buffers)
      : context_{setup, keys, send_queue, receive_queue, buffers},
        requester_(context_),
        responder_(context_),
        shares_buffers_(shares_buffers) {}
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  /// False, and nothing has changed, where it may not move so. [VB-3]
  bool modify(QpState to);
  /// Both ends have agreed on others. REQUIRES: RESET.
  void set_first_psns(Psn own, Psn peer) {
    context_.setup.first_psn = own;
    context_.setup.peer_first_psn = peer;
  }
  /// What is not taken changes nothing. In ERR it is flushed at once. [VB-8]
  PostResult post_send(const SendWork& work);
  /// Of its own receive queue or the one that it shares; legal from INIT on.
  PostResult post_receive(const ReceiveWork& work);
  /// The next packet: answers first, then requests. False: none may go.
  bool next(RdmaPacket& packet);
  RdmaEffect receive(const RdmaPacket& packet);
  /// See RcResponder.
  void finish_atomic(std::uint64_t original) { responder_.finish_atomic(original); }
  void time_out();
  void end_rnr_wait() { requester_.end_rnr_wait(); }

  QpState state() const { return context_.state; }
  const QueuePairSetup& setup() const { return context_.setup; }
  std::uint64_t count(QpCounter counter) const {
    return context_.counts[static_cast<unsigned>(counter)];
  }
  const RcRequester& requester() const { return requester_; }
  const RcResponder& responder() const { return responder_; }

 private:
  bool is_for_us(const RdmaPacket& packet);
  void settle();

  QpContext context_;
  RcRequester requester_;
  RcResponder responder_;
  bool shares_buffers_;
};

}  // namespace flitwise
