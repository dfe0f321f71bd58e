// SPDX-License-Identifier: Apache-2.0
/// CXL.cache and CXL.mem in 68-byte flits at one link end: messages into slots, credits and
/// acknowledgements in flit headers, retry. [CXL-3.1] to [CXL-3.7]
#pragma once

#include <vector>

#include "cxl/slot_packer68.h"
#include "link/cxl_flit_writer.h"
#include "link/cxl_queues.h"
#include "link/cxl_retry.h"
#include "link/framer.h"
#include "link/wire_unit.h"

namespace flitwise {

class Cxl68CacheMem {
 public:
  /// Takes messages from `queues`, which outlive it, as does `pool`.
  Cxl68CacheMem(const CxlLinkConfig& cxl, CxlQueues& queues, PacketPool& pool);

  void start(Time now) {
    is_up_ = true;
    told_at_ = now;
  }
  /// A flit is to go now: next() gives one.
  bool has_work(Time now);
  /// The flit to send now. REQUIRES: has_work(now).
  void next(Time now, WireUnit& unit, FramerStats& stats);
  /// The flit just sent is damaged on its way: what a control flit said is owed again. [CXL-3.4]
  void damaged(const WireUnit& unit, Time now);
  void receive(const WireUnit& unit, bool is_damaged, Time now, std::vector<PacketRef>& delivered,
               FramerStats& stats);
  /// The receive buffers of a message are free again.
  void freed(const Packet& packet, Time now);

  /// There is room for a flit in the retry buffer.
  bool has_room() const { return buffer_.has_room(); }
  /// Messages or data could go, were there room.
  bool is_held_up(Time now);

  Time deadline() const;
  bool take_recovery_request() { return requester_.take_recovery_request(); }
  void reset();
  bool is_quiet() const;
  bool is_conserved() const { return returns_.is_conserved(); }
  std::string waiting() const;

 private:
  bool may_pack() const { return !buffer_.is_replaying() && buffer_.has_room(); }
  bool is_told_due(Time now) const { return told_deadline() <= now; }
  Time told_deadline() const;
  void note_owed(Time now);
  void start_flit(WireUnit& unit);
  void next_control(Time now, WireUnit& unit, FramerStats& stats);
  void next_replay(WireUnit& unit, FramerStats& stats);
  void pack(WireUnit& unit);
  void receive_control(const CxlFlitHeader& header, FramerStats& stats);
  void receive_header(const CxlFlitHeader& header, FramerStats& stats);

  CxlQueues& queues_;
  PacketPool& pool_;
  const Time ack_after_;
  CxlFlitWriter writer_;
  CxlSlotPacker68 packer_;
  CxlRetryBuffer buffer_;
  CxlRetryRequester requester_;
  CxlCreditReturns returns_;
  CxlWaiting waiting_;            // what the next flit may take
  CxlFlitLayout layout_;          // scratch
  unsigned unacked_ = 0;          // flits taken and not yet acknowledged
  bool owes_answer_ = false;      // to a RETRY.Req
  unsigned answer_frames_ = 0;    // RETRY.Frame before it
  std::uint8_t answer_ = 0;       // the flit that the replay begins with
  Time told_at_ = Time::never();  // since then Acks or credits are owed
  bool is_up_ = false;
};

}  // namespace flitwise
