// SPDX-License-Identifier: Apache-2.0
/// A queue pair of a reliable connection as rules without a clock: its state, its two halves, the
/// checks that each packet passes first, and the requests that are kept until others have come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/fetch.h"
#include "rdma/dcqcn.h"
#include "rdma/held_requests.h"
#include "rdma/rc_requester.h"
#include "rdma/rc_responder.h"

namespace flitwise {

/// A call that takes a time is told what time it is; times of one queue pair never go back. What
/// has no time of its own (in order, no echo, no ack_delay) may leave it out. next() and receive()
/// cost the same whatever the window; with kSelective a packet that is sent again costs a search
/// among the work requests that have begun.
///
/// The owner's part with kReorder and kDirect: after each receive() it calls release() until that
/// is false, carries out what either returns, in that order, and calls expire() at due().
///
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
        shares_buffers_(shares_buffers),
        cnp_(setup.cnp, setup.cnp_interval) {}
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
  /// The next packet: answers first, then requests. False: none may go. An ACK and a CNP name the
  /// session of the packet that caused them [SEL-7]; others have kNoSession, and packet.tries of a
  /// request is the number of its try. [SEL-2]
  /// `answers_alone`: no request may go now, because of a rate or a window.
  bool next(RdmaPacket& packet, Time now = {}, bool answers_alone = false);
  /// next() would give one, even if no request may go.
  bool has_answer() const { return !cnps_.empty() || responder_.has_answer(); }
  /// The packet that next() gave last leaves by packet.session: what sent_packet() remembers, and
  /// losses are charged to. Without it they have no session. Likewise for a probe. Of answers
  /// nothing is remembered.
  void leaves(const RdmaPacket& packet, Time now) {
    context_.now = now;
    requester_.leaves(packet);
  }
  RdmaEffect receive(const RdmaPacket& packet, Time now = {}) { return receive(packet, now, now); }
  /// Likewise of one that came to the port earlier, and has waited: the echo tells of that as well.
  /// [MO-1]
  RdmaEffect receive(const RdmaPacket& packet, Time now, Time came);
  /// A packet that was held is in order now: its fields, and what comes of it. Its bytes are those
  /// that were kept under packet.psn. False: none.
  bool release(RdmaPacket& packet, RdmaEffect& effect, Time now = {}) {
    return !held_.empty() && release_held(packet, effect, now);
  }
  /// See RcResponder.
  void finish_atomic(std::uint64_t original) { responder_.finish_atomic(original); }
  /// The retry timer has run out. `sent_before`: packets that left then or later are still on their
  /// way (kSelective alone).
  void time_out(Time now = {}, Time sent_before = Time::never());
  void end_rnr_wait() { requester_.end_rnr_wait(); }

  /// When something is to be done without a packet: a NAK for a gap, an ACK that was put off,
  /// answers that are missing. Never: nothing is. It may have passed.
  Time due() const {
    return is_one_of(context_.state, kReceivingStates)
               ? std::min(gap_due_, std::min(responder_.ack_due(), requester_.gap_due()))
               : Time::never();
  }
  /// What is due is done; next() may have packets then.
  void expire(Time now);
  /// The peer's gap timer from now on (TIMER_IND). [RX-3]
  void set_gap_time(Time span) { context_.peer_gap_time = span; }
  /// Its own, by which it waits for answers to READs. [RX-3]
  void set_own_gap_time(Time span) { context_.setup.gap_time = span; }

  /// The next packet that was found to be lost since the last call; false: no more. Asked behind
  /// receive(), expire() and time_out() it is told before it leaves again. With go-back-N the one
  /// that a NAK names is, and others that are sent again are not. [LR-5] [MO-2]
  bool next_loss(LostPacket& lost) { return requester_.next_loss(lost); }
  /// No session is left for it, and none has come: its work requests fail. [SG-9]
  void give_up() {
    requester_.give_up();
    settle();
  }
  /// A session has ended: what has no answer and left by it last is sent again. [KY-4]
  void resend(std::uint16_t session) { requester_.resend(session); }
  /// When, by which session and how often a PSN has left: for the echo of an ACK, before receive()
  /// gets that. Null: it is not known. With keeps_sent or kSelective. [MO-1]
  const SentPacket* sent_packet(Psn psn) const { return requester_.sent_packet(psn); }
  /// A probe, which the owner sends, tells leaves(), and never sends again. [MO-3]
  void probe(RdmaPacket& packet) const { requester_.probe(packet); }
  /// Requests that came ahead of others and wait for them.
  const HeldRequests& held() const { return held_; }
  /// The furthest that one that is kept has been ahead. [RO-C2]
  std::uint32_t deepest() const { return deepest_; }

  /// The cache: what each packet touches of it,
  void fetch_state() const {
    fetch_between(this, &context_.counts);
    flitwise::fetch(&requester_, sizeof requester_);
    responder_.fetch_state();
    fetch_between(&held_, &cnp_);
  }
  /// and a little later what is kept of the PSN and the session of a packet that comes,
  void fetch(const RdmaPacket& packet) const {
    if (info_of(packet.opcode).is_request()) {
      held_.fetch(packet.psn);
      responder_.fetch(packet.session);
    } else {
      requester_.fetch(packet.has_echo ? packet.echo.psn : packet.psn);
    }
  }
  /// or of the next that leaves.
  void fetch_next() const {
    has_answer() ? responder_.fetch_next() : requester_.fetch(requester_.sent_end());
  }

  QpState state() const { return context_.state; }
  const QueuePairSetup& setup() const { return context_.setup; }
  std::uint64_t count(QpCounter counter) const {
    return context_.counts[static_cast<unsigned>(counter)];
  }
  const RcRequester& requester() const { return requester_; }
  const RcResponder& responder() const { return responder_; }

 private:
  bool is_for_us(const RdmaPacket& packet);
  std::optional<QpCounter> flaw_of(const RdmaPacket& packet) const;
  RdmaEffect take_request(const RdmaPacket& packet);
  RdmaEffect hold(const RdmaPacket& packet);
  bool release_held(RdmaPacket& packet, RdmaEffect& effect, Time now);
  bool may_place(const RdmaPacket& packet, RdmaEffect& effect) const;
  bool next_cnp(RdmaPacket& packet);
  void reset_order(Psn expected);
  void watch_gap();
  void nak_gap();
  void settle();

  QpContext context_;
  RcRequester requester_;
  RcResponder responder_;
  bool shares_buffers_;

  HeldRequests held_;
  std::uint32_t deepest_ = 0;
  Time gap_due_ = Time::never();  // of what is expected
  Psn gap_asked_ = 0;             // a NAK has asked for it
  bool has_asked_ = false;
  std::vector<std::uint16_t> cnps_;  // sessions whose CNPs wait
  CnpSource cnp_;
};

}  // namespace flitwise
