// SPDX-License-Identifier: Apache-2.0
/// CXL.cache and CXL.mem at one link end, in 68-byte and in 256-byte flits: messages into slots,
/// and credits behind them.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "cxl/flit_layout.h"
#include "cxl/slot_packer.h"
#include "flitwise/flit.h"
#include "link/cxl_queues.h"
#include "link/cxl_retry.h"
#include "link/framer.h"

namespace flitwise {

/// What a packer has decided becomes a flit: messages leave their queues, lines are handed on when
/// their last chunk goes, and all bits of the slots are booked by cause. [CXL-2.5] [CXL-4.3]
class CxlFlitWriter {
 public:
  /// Takes messages from `queues`, which outlive it.
  CxlFlitWriter(const CxlWidths& widths, CxlQueues& queues) : queues_(queues), widths_(widths) {}

  const CxlWidths& widths() const { return widths_; }
  /// Fills the slots of a flit and adds their bits to `size`. REQUIRES: the layout was packed from
  /// what the queues have waiting, and all layouts before it were written.
  void write(const CxlFlitLayout& layout, Flit& flit, WireSize& size);
  /// The link has gone down: lines that are not yet whole are forgotten.
  void reset() { open_.clear(); }

 private:
  /// A message whose line is not yet whole.
  struct OpenLine {
    PacketRef packet;
    std::uint32_t payload_bits = 0;  // enabled ones that are still to come
  };

  void write_slot(const CxlSlot& slot, CxlPlace place, Flit& flit, WireSize& size);
  void write_messages(const CxlSlot& slot, CxlPlace place, Flit& flit, WireSize& size);
  void write_data(bool ends_line, Flit& flit, WireSize& size);
  void end_line(Flit& flit) {
    flit.ends.push_back(std::move(open_.front().packet));
    open_.pop_front();
  }

  CxlQueues& queues_;
  const CxlWidths widths_;
  std::deque<OpenLine> open_;  // in the order of their headers
};

/// A half of a latency-optimised flit takes the time of the FEC decoder, as a whole flit does,
/// though its CRC may show that nothing is wrong. unverified [CXL-6.6]
inline constexpr bool kHalfTakesFecTime = true;

/// Arbitration of a CXL link between CXL.io and CXL.cache/mem (ARB/MUX): flits in turn, weighted,
/// while both have something to send; else whoever has goes. [CXL-5.5]
class CxlArbiter {
 public:
  /// Flits of each in a row, at least 1.
  CxlArbiter(unsigned io_weight, unsigned cachemem_weight)
      : io_weight_(io_weight), cachemem_weight_(cachemem_weight) {}

  /// Does a flit of CXL.io go? REQUIRES: CXL.cache/mem has something to send.
  bool io_goes(bool has_io) {
    if (!has_io) {
      return false;
    }
    if (left_ == 0) {
      is_io_turn_ = !is_io_turn_;
      left_ = is_io_turn_ ? io_weight_ : cachemem_weight_;
    }
    --left_;
    return is_io_turn_;
  }

 private:
  unsigned io_weight_, cachemem_weight_;
  bool is_io_turn_ = false;
  unsigned left_ = 0;
};

/// What flits of both sizes have in common.
class CxlCacheMem {
 public:
  void start(Time now) {
    is_up_ = true;
    owed_since_ = now;
  }
  /// The receive buffers of a message are free again.
  void freed(const Packet& packet, Time now) {
    returns_.free(packet.cxl->channel);
    note_owed(now);
  }
  bool is_conserved() const { return returns_.is_conserved(); }

 protected:
  CxlCacheMem(const CxlLinkConfig& cxl, CxlFlitForm form, CxlQueues& queues)
      : queues_(queues),
        writer_({form, cxl.identity_bits}, queues),
        packer_(writer_.widths(), queues.direction(), CxlPackingRules(form, cxl.per_flit)),
        returns_(advertised_credits(cxl)),
        owed_after_(cxl.timing.ack_after) {}

  bool owes() const { return unacked_ > 0 || returns_.has_untold(); }
  void note_owed(Time now);
  Time owed_deadline() const;
  void take_credits(const CxlFlitHeader& header) {
    for (std::size_t c = 0; c < kCxlCredits; ++c) {
      queues_.gate().give(c, header.credits[c]);
    }
  }
  void book(const Packet& message, FramerStats& stats) {
    stats.credit_overruns += returns_.receive(message.cxl->channel) ? 0 : 1;
  }
  void reset();

  CxlQueues& queues_;
  CxlFlitWriter writer_;
  CxlSlotPacker packer_;
  CxlCreditReturns returns_;
  CxlWaiting waiting_;               // what the next flit may take
  CxlFlitLayout layout_;             // scratch
  unsigned unacked_ = 0;             // 68-byte flits taken and not yet acknowledged
  Time owed_since_ = Time::never();  // Acks or credits wait for a flit
  bool is_up_ = false;

 private:
  const Time owed_after_;
};

/// Credits and acknowledgements in flit headers, retry. [CXL-3.1] to [CXL-3.7]
class Cxl68CacheMem : public CxlCacheMem {
 public:
  /// Takes messages from `queues`, which outlive it, as does `pool`.
  Cxl68CacheMem(const CxlLinkConfig& cxl, CxlQueues& queues, PacketPool& pool);

  /// A flit is to go now: next() gives one.
  bool has_work(Time now);
  /// The flit to send now. REQUIRES: has_work(now).
  void next(Time now, WireUnit& unit, FramerStats& stats);
  /// The flit just sent is damaged on its way: what a control flit said is owed again. [CXL-3.4]
  void damaged(const WireUnit& unit, Time now);
  void receive(const WireUnit& unit, bool is_damaged, Time now, std::vector<PacketRef>& delivered,
               FramerStats& stats);

  /// There is room for a flit in the retry buffer.
  bool has_room() const { return buffer_.has_room(); }
  /// Messages or data could go, were there room.
  bool is_held_up(Time now);

  Time deadline() const;
  bool take_recovery_request() { return requester_.take_recovery_request(); }
  void reset();
  bool is_quiet() const {
    return queues_.empty() && packer_.owed() == 0 && buffer_.empty() && !owes() &&
           requester_.is_normal() && !owes_answer_;
  }
  std::string waiting() const;

 private:
  bool may_pack() const { return !buffer_.is_replaying() && buffer_.has_room(); }
  void start_flit(WireUnit& unit);
  CxlFlitHeader& start_control(WireUnit& unit);
  void next_control(Time now, WireUnit& unit, FramerStats& stats);
  void next_replay(WireUnit& unit, FramerStats& stats);
  void next_llcrd(Time now, WireUnit& unit, FramerStats& stats);
  void pack(Time now, WireUnit& unit);
  void receive_control(const CxlFlitHeader& header, FramerStats& stats);
  void receive_header(const CxlFlitHeader& header, FramerStats& stats);

  PacketPool& pool_;
  CxlRetryBuffer buffer_;
  CxlRetryRequester requester_;
  bool owes_answer_ = false;    // to a RETRY.Req
  unsigned answer_frames_ = 0;  // RETRY.Frame before it
  std::uint8_t answer_ = 0;     // the flit that the replay begins with
};

/// Numbers, Acks and replay are those of all flits of the link. [CXL-6.1] to [CXL-6.6]
class Cxl256CacheMem : public CxlCacheMem {
 public:
  /// Takes messages from `queues`, which outlive it.
  Cxl256CacheMem(const CxlLinkConfig& cxl, CxlQueues& queues)
      : CxlCacheMem(cxl,
                    cxl.latency_optimised ? CxlFlitForm::k256LatencyOptimised : CxlFlitForm::k256,
                    queues) {}

  /// A flit is to go now: fill() gives it.
  bool has_work(Time now);
  /// Fills a flit with messages, data and credits; its bits go to `size`, all 256 bytes of them.
  /// REQUIRES: has_work(now).
  void fill(Time now, Flit& flit, WireSize& size);
  /// The first half of the flit that is taken next has come. [CXL-6.6]
  void receive_half(const Flit& flit, std::vector<PacketRef>& delivered, FramerStats& stats) {
    take(flit, flit.starts_in_half, flit.ends_in_half, delivered, stats);
  }
  /// A flit is taken, but for what of its first half was taken already.
  void receive(const Flit& flit, std::vector<PacketRef>& delivered, FramerStats& stats) {
    take_credits(flit.cxl);
    take(flit, flit.starts.size(), flit.ends.size(), delivered, stats);
    starts_taken_ = ends_taken_ = 0;
  }

  Time deadline() const { return packer_.owed() > 0 ? Time{} : owed_deadline(); }
  void reset() {
    CxlCacheMem::reset();
    starts_taken_ = ends_taken_ = 0;
  }
  bool is_quiet() const { return queues_.empty() && packer_.owed() == 0 && !owes(); }
  std::string waiting() const { return queues_.starved(); }

 private:
  void take(const Flit& flit, std::size_t starts_until, std::size_t ends_until,
            std::vector<PacketRef>& delivered, FramerStats& stats);

  std::size_t starts_taken_ = 0;  // of the flit that is taken next, with its first half
  std::size_t ends_taken_ = 0;    // likewise
};

}  // namespace flitwise
