// SPDX-License-Identifier: Apache-2.0
/// CXL.cache and CXL.mem in 256-byte flits at one link end: messages into slots, credits behind
/// them. Numbers, Acks and replay are those of all flits of the link. [CXL-6.1] to [CXL-6.6]
#pragma once

#include <string>
#include <vector>

#include "cxl/slot_packer256.h"
#include "link/cxl_flit_writer.h"
#include "link/cxl_queues.h"
#include "link/framer.h"

namespace flitwise {

/// A half of a latency-optimised flit takes the time of the FEC decoder, as a whole flit does,
/// though its CRC may show that nothing is wrong. unverified [CXL-6.6]
inline constexpr bool kHalfTakesFecTime = true;

class Cxl256CacheMem {
 public:
  /// Takes messages from `queues`, which outlive it.
  Cxl256CacheMem(const CxlLinkConfig& cxl, CxlQueues& queues);

  void start(Time now);
  /// A flit is to go now: fill() gives it.
  bool has_work(Time now);
  /// Fills a flit with messages, data and credits; its bits go to `size`, all 256 bytes of them.
  /// REQUIRES: has_work(now).
  void fill(Time now, Flit& flit, WireSize& size);
  /// The first half of the flit that is taken next has come. [CXL-6.6]
  void receive_half(const Flit& flit, std::vector<PacketRef>& delivered, FramerStats& stats);
  /// A flit is taken, but for what of its first half was taken already.
  void receive(const Flit& flit, std::vector<PacketRef>& delivered, FramerStats& stats);
  /// The receive buffers of a message are free again.
  void freed(const Packet& packet, Time now);

  Time deadline() const;
  void reset();
  bool is_quiet() const { return queues_.empty() && packer_.owed() == 0 && !returns_.has_untold(); }
  bool is_conserved() const { return returns_.is_conserved(); }
  std::string waiting() const { return queues_.starved(); }

 private:
  void take(const Flit& flit, std::size_t starts_until, std::size_t ends_until,
            std::vector<PacketRef>& delivered, FramerStats& stats);

  CxlQueues& queues_;
  const Time credits_after_;
  CxlFlitWriter writer_;
  CxlSlotPacker256 packer_;
  CxlCreditReturns returns_;
  CxlWaiting waiting_;               // what the next flit may take
  CxlFlitLayout layout_;             // scratch
  Time owed_since_ = Time::never();  // credits wait for a flit
  std::size_t starts_taken_ = 0;     // of the flit that is taken next, with its first half
  std::size_t ends_taken_ = 0;       // likewise
  bool is_up_ = false;
};

}  // namespace flitwise
