// SPDX-License-Identifier: Apache-2.0
// The function shell: contexts that software ends while others go on.
#include "endpoint/endpoint.h"

namespace flitwise {

void Endpoint::stop_context(DomainId domain) {
  contexts_[to_int(domain)].is_over = true;
}

// What was given to the link is ahead of every answer that software gets from now on. [LNK-9.20]
bool Endpoint::is_context_idle(DomainId domain) const {
  return contexts_[to_int(domain)].transfers == 0 &&
         !outbox_.has([domain](const Packet& packet) { return packet.domain == domain; });
}

// The engine gave it out for a context that is over: it is never sent.
void Endpoint::drop_transfer(Engine& engine, const Transfer& transfer, Time t) {
  ++errors_["context_over"];
  engine.finished({transfer.token, transfer.domain, transfer.op, TransferStatus::kContextEnded,
                   transfer.ends_context, t});
}

// Software's order: the context stops at once, and the register says when that is done. A handle
// that the device manages goes with its context; one that software manages is software's. [DHI D12]
void Endpoint::check_context_stop() {
  const std::optional<TargetUnit::ContextStop> order = target_.context_stop();
  if (!order) {
    is_stopping_.reset();
    return;
  }
  const std::optional<DomainId> domain = domain_of({order->function, order->pasid});
  if (!domain) {
    target_.context_stopped();
    return;
  }
  if (is_stopping_ != domain) {
    is_stopping_ = domain;
    has_duties_ = true;
    stop_context(*domain);
    wake();
  }
  if (!is_context_idle(*domain)) {
    return;
  }
  is_stopping_.reset();
  if (config_.device.dhi.management == HandleManagement::kDevice) {
    dhi_.end_context(*domain);
    is_draining_ = is_draining_ || dhi_.is_draining();
  }
  if (ats_ != nullptr) {
    Transfer last;
    last.domain = *domain;
    end_context(last, now());
  }
  target_.context_stopped();
}

}  // namespace flitwise
