// SPDX-License-Identifier: Apache-2.0
/// The sending half of a queue pair: work requests become packets, answers complete them, and what
/// is lost is sent again: from the oldest unacknowledged packet on (go-back-N), or that alone.
/// [LR-1, 2]
#pragma once

#include <boost/circular_buffer.hpp>

#include <cstdint>

#include "rdma/qp_context.h"
#include "rdma/rdma_packet.h"
#include "rdma/sent_packets.h"

namespace flitwise {

enum class PostResult : std::uint8_t { kTaken, kFull, kWrongState, kTooLong, kMalformed };
constexpr const char* name_of(PostResult result) {
  constexpr const char* kNames[] = {"TAKEN", "ENOMEM", "WRONG_STATE", "TOO_LONG", "MALFORMED"};
  return name_in(kNames, result);
}

/// What keeps its next packet back, where that is a number of its own: READs and atomics that are
/// out, packets without an acknowledgement.
enum class RequesterWait : std::uint8_t { kNone, kReads, kWindow };

/// Its owner keeps the timer: it runs while timer_runs(), begins anew when progress() has changed
/// [LR-3], and ends in time_out(). An RNR time ends in end_rnr_wait().
class RcRequester {
 public:
  static constexpr std::uint64_t kMostMessageBytes = std::uint64_t{1} << 31;  ///< [VB-C4]
  static constexpr std::uint32_t kPacketsPerAckRequest = 64;                  ///< [RX-5]

  explicit RcRequester(QpContext& context);
  void reset();
  void begin(Psn first);
  PostResult post(const SendWork& work);
  /// The packet that goes next. False: none may go now. Local invalidation, which has no packet, is
  /// done on the way.
  bool next(RdmaPacket& packet);
  /// REQUIRES: no request.
  RdmaEffect receive(const RdmaPacket& packet);
  /// With selective recovery all that the peer is not known to have is lost, but for what left at
  /// `sent_before` or later. The oldest is lost always.
  void time_out(Time sent_before);
  void end_rnr_wait();
  /// As if no retry were left.
  void give_up();
  /// What has no answer and left by that session last is sent again. Looks at the whole window.
  /// [KY-4]
  void resend(std::uint16_t session);
  /// A packet that next() gave leaves now, by packet.session. [MO-1]
  void leaves(const RdmaPacket& packet) {
    if (keeps_sent_ && info_of(packet.opcode).is_request()) {
      const bool is_probe = psn_distance(packet.psn, oldest_) < 0;
      sent_.leaves(packet.psn, packet.session, context_.now, is_probe);
    }
  }
  bool next_loss(LostPacket& lost) { return sent_.next_loss(lost); }
  const SentPacket* sent_packet(Psn psn) const { return sent_.find(psn); }
  /// What asks whether a session lives: a WRITE of 0 bytes with a PSN that is acknowledged. [MO-3]
  void probe(RdmaPacket& packet) const;
  /// When answers that are missing are asked for again; never: none are. [RX-3]
  Time gap_due() const { return gap_due_; }
  void expire_gap();
  /// All that is left completes as flushed. [VB-8]
  void flush();

  bool timer_runs() const { return oldest_ != sent_end_ && !waits_for_rnr_; }
  std::uint64_t progress() const { return progress_; }
  bool waits_for_rnr() const { return waits_for_rnr_; }
  std::uint8_t rnr_time() const { return rnr_time_; }  ///< code of the time to wait
  std::size_t waiting() const { return work_.size(); }
  RequesterWait waits_for() const;
  /// Something is to be sent, and none of these numbers keeps it back.
  bool is_ready() const {
    return sent_.has_again() || (has_unsent() && waits_for() == RequesterWait::kNone);
  }
  void fetch(Psn psn) const {
    sent_.fetch(psn);
    if (next_ < work_.size()) {
      flitwise::fetch(&work_[next_], sizeof(Work));
    }
  }
  Psn oldest() const { return oldest_; }      ///< that is not acknowledged
  Psn sent_end() const { return sent_end_; }  ///< behind the last that has ever been sent
  /// That leaves next, but for those that were lost alone: before sent_end(), where it goes back.
  Psn next_psn() const;

 private:
  struct Work {
    SendWork request;
    std::uint64_t bytes = 0;
    std::uint32_t packets = 0;  // PSNs; 0: none, as kLocalInv
    Psn first = 0;              // once is_started
    bool is_started = false;
    WorkStatus failure = WorkStatus::kSuccess;  // it completes with it as soon as it is the oldest
  };

  bool has_unsent() const {
    return is_one_of(context_.state, kSendingStates) && !waits_for_rnr_ && next_ < work_.size();
  }
  bool next_again(RdmaPacket& packet);
  bool make(Work& work, std::uint32_t index, RdmaPacket& packet);
  bool start(Work& work);
  bool may_start(const Work& work) const;
  bool is_read_too_many(const Work& work) const {
    return is_read_or_atomic(work.request.opcode) && reads_out_ >= context_.setup.most_reads_out;
  }
  bool is_in_window(Psn psn) const {
    return psn_distance(psn, sent_end_) < 0 ||  // it is sent again
           psn_distance(psn, oldest_) < static_cast<int>(context_.setup.window);
  }
  void fill(const Work& work, std::uint32_t index, RdmaPacket& packet);
  void fill_message(const Work& work, std::uint32_t index, RdmaPacket& packet);
  bool ends_window(Psn psn) const;
  void begin_packet(RdmaPacket& packet) const;
  void note_sent(Psn end, bool is_again);
  void forget_sent();
  Work& work_of(Psn psn);
  template <class Visit>
  void for_each_missing(Psn from, Psn end, Visit visit);
  void lose_missing(Psn end, Time sent_before, LossCause cause);
  void lose_holes(Psn from, Psn end, LossCause cause, unsigned most_times);
  void repeat_missing(Psn from);
  void note_arrivals(const RdmaPacket& packet);
  void take_nak(const RdmaPacket& packet);
  RdmaEffect take_answer(const RdmaPacket& packet, RdmaPacketKind kind);
  RdmaEffect effect_of(const RdmaPacket& packet, RdmaPacketKind kind, Work& work);
  void drain();
  void watch_gap();
  bool acknowledge(Psn end);
  void advance(std::uint32_t packets);
  void go_back();
  void imply_nak();
  void take_ack(const RdmaPacket& packet);
  void take_rnr(const RdmaPacket& packet);
  RdmaEffect take_bytes(const RdmaPacket& packet, RdmaPacketKind kind);
  void complete(WorkStatus status);
  void fail(WorkStatus status);
  void fail_if_due();

  QpContext& context_;
  boost::circular_buffer<Work> work_;  // oldest first; started ones before all others
  std::size_t next_ = 0;               // of work_, to be sent
  std::uint32_t next_packet_ = 0;      // of it
  Psn oldest_ = 0, sent_end_ = 0, allotted_end_ = 0;
  std::uint32_t reads_out_ = 0;
  std::uint32_t without_ack_request_ = 0;
  Psn asked_ = 0;  // the last packet since go_back() that asks for an ACK; before oldest_: none
  Psn asked_again_ = 0;  // from where on a READ was last: its answer may begin there
  unsigned retries_left_ = 0, rnr_retries_left_ = 0;
  std::uint64_t progress_ = 0;
  std::uint8_t rnr_time_ = 0;
  bool waits_for_rnr_ = false;
  bool has_gone_back_ = false;  // for a NAK, since the last progress or time-out

  SentPackets sent_;
  bool keeps_sent_ = false;
  Psn processed_ = 0;             // all before it have come to the peer [kSelective]
  std::uint32_t answers_ = 0;     // that came ahead of others
  Time gap_due_ = Time::never();  // for answers before gap_end_
  Psn gap_end_ = 0;
};

}  // namespace flitwise
