// SPDX-License-Identifier: Apache-2.0
/// When the receiver of requests sends an ACK, and what the ACK tells of the packet that caused it:
/// for each session how many packets came since the last echo, which came last, and whether a
/// switch had marked one. [RX-5] [MO-1]
#pragma once

#include <boost/circular_buffer.hpp>

#include <cstdint>
#include <vector>

#include "common/fetch.h"
#include "flitwise/time.h"
#include "rdma/qp_context.h"
#include "rdma/rdma_packet.h"

namespace flitwise {

/// Where both ends have agreed on echoes, ACKs wait here and not among the answers: one a session
/// at most, the session that asked first at the front. The PSN that an ACK covers is for who sends
/// it.
/// Each call costs the same while sessions keep coming, but the first of a session makes its row
/// (32 bytes), and expire() looks at all rows.
class AckBook {
 public:
  void reset();
  /// A request has come that is held, in order, or a duplicate; `must`: an ACK is due for it at
  /// once.
  void received(const RdmaPacket& packet, const QpContext& context, bool must);
  /// A request has come that a NAK is for.
  void refused(const RdmaPacket& packet, Time came);
  /// An ACK of that session is due. One of a session that nobody knows is of none.
  void ask(std::uint16_t session);
  /// Of the ACK that goes next. REQUIRES: is_due().
  std::uint16_t next_session() const { return rows_[due_.front()].session; }
  /// The cache: next_session() and take(), or received(), will be called soon.
  void fetch_next() const { flitwise::fetch(&due_.front()); }
  void fetch(std::uint16_t session) const {
    if (!hints_.empty()) {
      flitwise::fetch(&hints_[session % kHints]);
      flitwise::fetch(&rows_[session % rows_.size()], sizeof(Row));
    }
  }
  bool is_due() const { return !due_.empty(); }
  /// The echo of the ACK that goes next. REQUIRES: is_due().
  AckEcho take(Time now);
  /// The echo of a NAK: of the last packet of the session, or of all.
  AckEcho take_for_nak(std::uint16_t session, Time now);
  std::uint16_t last_session() const { return last_; }
  /// When packets that have asked for no ACK get one; never: none wait. [RX-5]
  Time due() const { return due_at_; }
  void expire(Time now);

 private:
  struct Row {
    Time came{};
    Psn psn = 0;
    std::uint32_t since = 0;  // packets without an ACK
    std::uint16_t session = kNoSession;
    bool is_marked = false, is_due = false;
  };
  Row& row(std::uint16_t session);
  static AckEcho echo(Row& row, Time now);
  void note(Row& row, const RdmaPacket& packet, Time came);
  void ask(Row& row);

  static constexpr std::size_t kHints = 64;
  std::vector<Row> rows_;
  std::vector<std::uint16_t> hints_;           // row by the low bits of a session
  boost::circular_buffer<std::uint16_t> due_;  // rows
  std::uint32_t since_ack_ = 0;                // packets of any session
  std::uint16_t last_ = kNoSession;
  Time due_at_ = Time::never();
};

}  // namespace flitwise
