// SPDX-License-Identifier: Apache-2.0
/// The receiving half of a queue pair, in order: requests are judged, placed and answered. [RX-2]
#pragma once

#include <boost/circular_buffer.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "rdma/ack_book.h"
#include "rdma/qp_context.h"
#include "rdma/rdma_packet.h"

namespace flitwise {

class RcResponder {
 public:
  explicit RcResponder(QpContext& context);
  void reset();
  void begin(Psn expected) { expected_ = expected & kPsnMask; }
  /// REQUIRES: a request. `was_held`: note_held() has had it.
  RdmaEffect receive(const RdmaPacket& packet, bool was_held = false);
  /// It came ahead of others, and is kept for receive(), or is kept already.
  void note_held(const RdmaPacket& packet);
  /// Asks for the packet that is missing. [RX-3]
  void nak_gap();
  /// The missing packet has come, and had no receive buffer.
  bool waits_for_buffer() const { return has_nakked_ && !context_.setup.keeps_order(); }
  /// When packets that ask for no ACK get one; never: none wait. [RX-5]
  Time ack_due() const { return std::min(delayed_at_, acks_.due()); }
  void expire_acks();
  /// What an atomic found in memory. REQUIRES: receive() has just returned its effect.
  void finish_atomic(std::uint64_t original);
  bool has_answer() const { return acks_.is_due() || !answers_.empty(); }
  /// The answer that goes next. False: none waits.
  bool next(RdmaPacket& packet);
  /// A message that is not complete gives its receive buffer back as flushed, and so do all buffers
  /// that the queue pair does not share. [VB-8]
  void flush(bool shares_buffers);

  /// The cache: what each packet touches of it,
  void fetch_state() const { fetch_between(this, &buffer_); }
  /// and what else it does: next() will be called soon, which session its answer is for, and
  /// receive().
  void fetch_next() const { acks_.is_due() ? acks_.fetch_next() : void(); }
  std::uint16_t next_session() const { return acks_.is_due() ? acks_.next_session() : session_; }
  void fetch(std::uint16_t session) const { acks_.fetch(session); }
  Psn expected() const { return expected_; }
  std::uint32_t messages() const { return messages_; }  ///< MSN

 private:
  /// A READ or atomic as it came, or what is asked of it again.
  struct Request {
    Psn psn = 0;
    std::uint32_t packets = 0, messages = 0;  // answers, and MSN with it
    Sge remote;
    bool is_atomic = false;
    std::uint64_t original = 0;  // what the atomic found
  };
  struct Answer {
    enum class Kind : std::uint8_t { kAck, kRead, kAtomic };
    Kind kind = Kind::kAck;
    std::uint8_t syndrome = kAckSyndrome;
    bool is_new = false;                 // of a request that is no duplicate
    std::uint32_t sent = 0;              // packets
    Request request;                     // kAck: psn and messages alone
    std::uint16_t session = kNoSession;  // of the packet that a NAK is for
  };

  RdmaEffect take_duplicate(const RdmaPacket& packet, const RdmaOpcodeInfo& info);
  const Request* remembered(const RdmaPacket& packet, bool is_atomic) const;
  std::uint8_t flaw_of_order(const RdmaOpcodeInfo& info) const;
  bool lacks_place(const RdmaOpcodeInfo& info) const;
  std::uint8_t flaw_of_length(const RdmaPacket& packet, const RdmaOpcodeInfo& info) const;
  bool is_barred(const RdmaPacket& packet, const RdmaOpcodeInfo& info) const;
  RdmaEffect take_message(const RdmaPacket& packet, const RdmaOpcodeInfo& info);
  RdmaEffect take_read_or_atomic(const RdmaPacket& packet, const RdmaOpcodeInfo& info);
  void finish_message(const RdmaPacket& packet, const RdmaOpcodeInfo& info);
  void acknowledge(Psn psn, std::uint8_t syndrome);
  void note(const RdmaPacket& packet, bool must);
  void note_refused(const RdmaPacket& packet, bool was_held);
  bool is_refused(const RdmaPacket& packet, const RdmaOpcodeInfo& info);
  void next_ack(RdmaPacket& packet);
  Psn newest() const;
  void begin_packet(RdmaPacket& packet) const;
  void answer(const Answer& answer);
  void reject(std::uint8_t syndrome, WorkStatus status);

  QpContext& context_;
  Psn expected_ = 0;
  std::uint32_t messages_ = 0;
  bool has_nakked_ = false;  // since the last packet in order
  std::uint32_t since_ack_ = 0;

  AckBook acks_;
  Time delayed_at_ = Time::never();  // an ACK for packets that have not asked
  boost::circular_buffer<Answer> answers_;
  std::uint32_t reads_waiting_ = 0;     // new READs and atomics in answers_
  std::uint16_t session_ = kNoSession;  // of the packet that is received
  bool owes_ack_ = false;               // the last told of less than has come

  RdmaPacketKind open_ = RdmaPacketKind::kNone;  // kind of the message that is not complete
  Sge target_;                                   // what is left of a WRITE
  std::uint64_t message_bytes_ = 0;              // of it so far
  std::optional<ReceiveWork> buffer_;            // that a message has taken

  std::vector<Request> remembered_;
  std::uint32_t next_remembered_ = 0;
};

}  // namespace flitwise
