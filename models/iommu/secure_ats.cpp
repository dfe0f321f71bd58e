// SPDX-License-Identifier: Apache-2.0
// Secure ATS in the agent: what it counts, what it fetches ahead, and what is taken back. Its rules
// are in src/iommu/walk_permission.cpp and src/iommu/permission_cache.h.
#include "iommu/translation_agent.h"

namespace flitwise {

void TranslationAgent::deliver_and_prefetch(const Job& job, const WalkResult& result, Time when) {
  const bool is_hint = job.request.kind == WalkKind::kTranslationRequest &&
                       result.outcome == WalkOutcome::kTranslated && (result.read || result.write);
  Job hint = job;
  hint.client = nullptr;
  hint.request.kind = WalkKind::kTranslated;
  hint.request.address = result.address;
  hint.request.wish = {};
  count_permission(job.request, result);
  job.client->translated(job.ticket, result, when);
  if (is_hint) {
    prefetch_permission(hint, when);
  }
}

// Of requests that came as far as their permission. [SEC-02]
void TranslationAgent::count_permission(const WalkRequest& request, const WalkResult& result) {
  const bool is_denied = is_permission_fault(result.fault);
  const bool is_checked = result.fault == FaultReason::kNone || is_denied;
  counts_.permission_checks += request.kind == WalkKind::kTranslated && is_checked ? 1 : 0;
  counts_.permission_denied += is_denied ? 1 : 0;
}

// Who has a translation will use it. Only an idle walker is taken. [SEC-04]
void TranslationAgent::prefetch_permission(const Job& hint, Time when) {
  Walk walk(hint.request, registers_.root_table(), offers_);
  Time latency = when - now();
  if (!idle_.empty() && waiting_.empty() && permissions_.exists() && !look_up(walk, latency) &&
      walker_at(hint.request) == nullptr) {
    start(take_idle(), hint, walk, latency);
  }
}

// [SEC-05]
void TranslationAgent::carry_out(const PermissionInvalidation& command) {
  ++counts_.invalidations;
  permissions_.invalidate(command);
  overtake_walks();
}

}  // namespace flitwise
