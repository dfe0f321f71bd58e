// SPDX-License-Identifier: Apache-2.0
/// How TLPs are packed into flits: one behind the other by whole DWs, cut where a flit ends, with a
/// bound on how many may begin in each half. [LNK-11.2] [LNK-11.3]
#pragma once

#include "link/transaction_queues.h"
#include "link/wire_unit.h"

namespace flitwise {

/// TLPs that may begin in one half of a flit. [LNK-11.3]
inline constexpr unsigned kMostStartsInHalf = 8;
/// Where the second half begins, in DWs. [LNK-11.3]
inline constexpr std::uint32_t kSecondHalfDw = 128 / 4;

class FlitPacker {
 public:
  /// Takes TLPs from `queues`, which outlive it.
  explicit FlitPacker(TransactionQueues& queues) : queues_(queues) {}

  /// There is something to pack: the rest of a TLP, or one that may go.
  bool has_work(Time now) const { return !rest_.empty() || queues_.choose(now).has_value(); }
  /// The rest of a TLP waits for the next flit.
  bool has_rest() const { return !rest_.empty(); }
  /// Fills the TLP bytes of a flit, and adds their bits to `size` by cause; what no TLP takes is
  /// idle (NOP TLPs). [LNK-11.2]
  void fill(Time now, Flit& flit, WireSize& size);
  /// The link has gone down: the rest of a TLP is forgotten. [LNK-10.4]
  void reset() {
    packet_.reset();
    rest_ = CutSize();
  }

 private:
  bool begin(Time now, Flit& flit);

  TransactionQueues& queues_;
  PacketRef packet_;  // the TLP that is being packed
  CutSize rest_;      // what of it is left
};

}  // namespace flitwise
