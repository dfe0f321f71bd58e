// SPDX-License-Identifier: Apache-2.0
/// Flow control of one link end, both halves: what it tells the other end of its buffers, and what
/// it takes from what the other end tells. The same in DLLPs of their own and in those of flits.
#pragma once

#include "link/credit_returns.h"
#include "link/flow_control_init.h"
#include "link/transaction_queues.h"

namespace flitwise {

class CreditExchange {
 public:
  /// `guideline`: UpdateFC latency while credits are freed steadily [LNK-8.15]. `queues` outlive
  /// it.
  CreditExchange(const LinkConfig& link, Time guideline, TransactionQueues& queues)
      : queues_(queues), returns_(link, guideline) {}

  void start(Time now) { init_.start(now); }
  /// The link has gone down. [LNK-10.7]
  void reset() {
    returns_.reset();
    init_ = FlowControlInit();
  }

  Time deadline() const {
    return init_.deadline() < returns_.deadline() ? init_.deadline() : returns_.deadline();
  }
  /// The flow-control DLLP that is due: InitFC before UpdateFC. REQUIRES: deadline() <= now.
  Dllp take(Time now);
  /// A flow-control DLLP has come in.
  void receive(const Dllp& dllp, Time now);
  /// A TLP was accepted; false: it came without credits.
  bool accept(const Tlp& tlp) {
    init_.receive_second_phase();
    return returns_.receive(tlp);
  }
  /// The receive buffer of a TLP is free again.
  void free(const Tlp& tlp, Time now) { returns_.free(tlp, now); }

  /// Takes each UpdateFC for more than it says, on purpose. [LNK-8.3]
  void break_credits(bool is_broken) { is_broken_ = is_broken; }

  bool is_active() const { return init_.is_active(); }
  bool is_conserved() const { return returns_.is_conserved(); }
  bool has_unadvertised() const { return returns_.has_unadvertised(); }

 private:
  TransactionQueues& queues_;
  CreditReturns returns_;
  FlowControlInit init_;
  bool is_broken_ = false;
};

}  // namespace flitwise
