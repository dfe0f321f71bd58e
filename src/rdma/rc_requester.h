// SPDX-License-Identifier: Apache-2.0
/// The sending half of a queue pair: work requests become packets, answers complete them, and what
/// is lost is sent again from the oldest unacknowledged packet on (go-back-N). [LR-1]
#pragma once

#include <boost/circular_buffer.hpp>

#include <cstdint>

#include "rdma/qp_context.h"
#include "rdma/rdma_packet.h"

namespace flitwise {

enum class PostResult : std::uint8_t { kTaken, kFull, kWrongState, kTooLong, kMalformed };
constexpr const char* name_of(PostResult result) {
  constexpr const char* kNames[] = {"TAKEN", "ENOMEM", "WRONG_STATE", "TOO_LONG", "MALFORMED"};
  return name_in(kNames, result);
}

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
  void time_out();
  void end_rnr_wait();
  /// All that is left completes as flushed. [VB-8]
  void flush();

  bool timer_runs() const { return oldest_ != sent_end_ && !waits_for_rnr_; }
  std::uint64_t progress() const { return progress_; }
  bool waits_for_rnr() const { return waits_for_rnr_; }
  std::uint8_t rnr_time() const { return rnr_time_; }  ///< code of the time to wait
  std::size_t waiting() const { return work_.size(); }
  Psn oldest() const { return oldest_; }      ///< that is not acknowledged
  Psn sent_end() const { return sent_end_; }  ///< behind the last that has ever been sent

 private:
  struct Work {
    SendWork request;
    std::uint64_t bytes = 0;
    std::uint32_t packets = 0;  // PSNs; 0: none, as kLocalInv
    Psn first = 0;              // once is_started
    bool is_started = false;
    WorkStatus failure = WorkStatus::kSuccess;  // it completes with it as soon as it is the oldest
  };

  bool start(Work& work);
  bool may_start(const Work& work) const;
  void fill(const Work& work, std::uint32_t index, RdmaPacket& packet);
  void fill_message(const Work& work, std::uint32_t index, RdmaPacket& packet);
  void note_sent(Psn end, bool is_again);
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
  unsigned retries_left_ = 0, rnr_retries_left_ = 0;
  std::uint64_t progress_ = 0;
  std::uint8_t rnr_time_ = 0;
  bool waits_for_rnr_ = false;
  bool has_gone_back_ = false;  // for a NAK, since the last progress or time-out
};

}  // namespace flitwise
