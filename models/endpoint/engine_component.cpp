// SPDX-License-Identifier: Apache-2.0
// What engines tell of themselves.
#include "endpoint/engine_component.h"

#include <fmt/format.h>

namespace flitwise {

void EngineComponent::add_progress(Progress& sum) const {
  sum.steps += engine_.started();
  sum.completed += engine_.ended();
}

void EngineComponent::report(RunResult& result) const {
  for (const Route& one : routes_) {
    result.routes.push_back(one.route);
    result.routes.back().requests = engine_.issued(one.op);
  }
}

std::vector<CheckResult> EngineComponent::checks() const {
  if (!losses_) {
    return {};
  }
  const std::uint64_t missing = rung_ - engine_.doorbells();
  const std::uint64_t lost = losses_();
  return {{name_ + ": every doorbell arrived or was lost", missing <= lost,
           fmt::format("{} missing, {} writes lost with the link", missing, lost)}};
}

}  // namespace flitwise
