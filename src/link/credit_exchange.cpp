// SPDX-License-Identifier: Apache-2.0
// Flow control of one link end.
#include "link/credit_exchange.h"

namespace flitwise {
namespace {

constexpr std::uint32_t kTooMuchData = 16;  // believed beside what was told, where that is broken

}  // namespace

Dllp CreditExchange::take(Time now) {
  if (init_.deadline() <= now) {
    const FlowControlInit::Step step = init_.take(now);
    const Dllp dllp = returns_.dllp(step.type, step.fc_class);
    if (init_.is_active()) {
      returns_.activate(now);
    }
    return dllp;
  }
  return returns_.take(now);
}

void CreditExchange::receive(const Dllp& dllp, Time now) {
  if (dllp.vc != 0) {
    return;  // there is VC0 only [LNK-N.7]
  }
  CreditGate& header = queues_.header_gate(dllp.fc_class);
  CreditGate& data = queues_.data_gate(dllp.fc_class);
  // Whatever says the limits first sets them: an InitFC2 may come where the InitFC1 got lost.
  // [LNK-8.11]
  if (dllp.type != DllpType::kUpdateFc && init_.receive_values(dllp.fc_class, now)) {
    header.initialise(dllp.hdr_fc, CreditScale::of_header_code(dllp.hdr_scale));
    data.initialise(dllp.data_fc, CreditScale::of_data_code(dllp.data_scale));
  }
  if (dllp.type == DllpType::kInitFc1) {
    return;
  }
  const bool was_active = init_.is_active();
  init_.receive_second_phase();
  if (!was_active && init_.is_active()) {
    returns_.activate(now);
  }
  if (dllp.type == DllpType::kUpdateFc) {
    header.update(dllp.hdr_fc + (is_broken_ ? 1U : 0U));
    data.update(dllp.data_fc + (is_broken_ ? kTooMuchData : 0U));
    queues_.note_stalls(now);
  }
}

}  // namespace flitwise
