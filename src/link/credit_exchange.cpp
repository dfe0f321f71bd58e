// SPDX-License-Identifier: Apache-2.0
// Flow control of one link end.
#include "link/credit_exchange.h"

namespace flitwise {

CreditExchange::CreditExchange(const LinkConfig& link, Time guideline, TransactionQueues& queues)
    : queues_(queues),
      returns_(link, guideline),
      shared_(has_shared_credits(link) ? std::make_unique<SharedReturns>(link, guideline)
                                       : nullptr),
      init_(shared_ != nullptr) {
  if (shared_) {
    queues_.share_credits(link.shared_credits.merged);
  }
}

void CreditExchange::activate(Time now) {
  returns_.activate(now);
  if (shared_) {
    shared_->activate(now);
  }
}

Dllp CreditExchange::take(Time now) {
  if (init_.deadline() <= now) {
    const FlowControlInit::Step step = init_.take(now);
    const Dllp dllp = step.is_shared ? shared_->dllp(step.type, step.fc_class)
                                     : returns_.dllp(step.type, step.fc_class);
    if (init_.is_active()) {
      activate(now);
    }
    return dllp;
  }
  return shared_ && shared_->deadline() < returns_.deadline() ? shared_->take(now)
                                                              : returns_.take(now);
}

void CreditExchange::receive(const Dllp& dllp, Time now) {
  const bool is_of_shared = dllp.is_shared || dllp.type == DllpType::kOptimizedUpdateFc;
  if (dllp.vc != 0 || (is_of_shared && !shared_)) {
    return;  // there is VC0 only [LNK-N.7]; there are no shared credits
  }
  const bool is_update = is_update_fc(dllp.type);
  // Whatever says the limits first sets them: an InitFC2 may come where the InitFC1 got lost.
  // [LNK-8.11]
  if (!is_update && init_.receive_values(dllp.fc_class, now, dllp.is_shared)) {
    dllp.is_shared ? queues_.shared_gates().initialise(dllp)
                   : queues_.gates(dllp.fc_class).initialise(dllp);
  }
  if (dllp.type == DllpType::kInitFc1) {
    return;
  }
  const bool was_active = init_.is_active();
  init_.receive_second_phase();
  if (!was_active && init_.is_active()) {
    activate(now);
  }
  if (was_active && dllp.type == DllpType::kInitFc2) {
    init_.receive_init_fc2(now);
  }
  if (is_update) {
    is_of_shared ? queues_.shared_gates().update(dllp) : queues_.gates(dllp.fc_class).update(dllp);
    queues_.note_stalls(now);
  }
}

}  // namespace flitwise
