// SPDX-License-Identifier: Apache-2.0
/// Flow control of one link end, both halves: what it tells the other end of its buffers, and what
/// it takes from what the other end tells. The same in DLLPs of their own and in those of flits.
#pragma once

#include <algorithm>
#include <memory>

#include "link/credit_returns.h"
#include "link/flow_control_init.h"
#include "link/transaction_queues.h"

namespace flitwise {

class CreditExchange {
 public:
  /// `guideline`: UpdateFC latency while credits are freed steadily [LNK-8.15]. `queues` outlive
  /// it.
  CreditExchange(const LinkConfig& link, Time guideline, TransactionQueues& queues);

  void start(Time now) { init_.start(now); }
  /// The link has gone down. [LNK-10.7]
  void reset() {
    returns_.reset();
    if (shared_) {
      shared_->reset();
    }
    init_ = FlowControlInit(shared_ != nullptr);
  }

  Time deadline() const {
    const Time own = std::min(init_.deadline(), returns_.deadline());
    return shared_ ? std::min(own, shared_->deadline()) : own;
  }
  /// The flow-control DLLP that is due: InitFC before UpdateFC. REQUIRES: deadline() <= now.
  Dllp take(Time now);
  /// A flow-control DLLP has come in.
  void receive(const Dllp& dllp, Time now);
  /// A TLP was accepted; false: it came without credits.
  bool accept(const Packet& packet) {
    init_.receive_second_phase();
    return shared_ && shared_->claim(packet) ? shared_->receive(packet.tlp)
                                             : returns_.receive(packet.tlp);
  }
  /// The receive buffer of a TLP is free again.
  void free(const Packet& packet, Time now) {
    if (shared_ && shared_->release(packet)) {
      shared_->free(packet.tlp, now);
    } else {
      returns_.free(packet.tlp, now);
    }
  }

  /// Takes each UpdateFC for more than it says, on purpose. [LNK-8.3]
  void break_credits(bool is_broken) { is_broken_ = is_broken; }

  bool is_active() const { return init_.is_active(); }
  bool is_conserved() const {
    return returns_.is_conserved() && (!shared_ || shared_->is_conserved());
  }
  bool has_unadvertised() const {
    return returns_.has_unadvertised() || (shared_ && shared_->has_unadvertised());
  }

 private:
  void activate(Time now);
  void update_limits(Dllp dllp);

  TransactionQueues& queues_;
  CreditReturns returns_;
  std::unique_ptr<SharedReturns> shared_;  // null: no shared credits
  FlowControlInit init_;
  bool is_broken_ = false;
};

}  // namespace flitwise
