// SPDX-License-Identifier: Apache-2.0
/// The protocol monitors of a machine, one set for each link (docs/monitors.md).
#pragma once

#include <memory>
#include <vector>

#include "common/component.h"
#include "fabric/fabric.h"
#include "flitwise/observer.h"
#include "flitwise/result.h"

namespace flitwise {

class LinkMonitor;

class Monitors final : public Bystander {
 public:
  /// Watches every link of the fabric from the start on; nothing where run.monitors is off.
  Monitors(Fabric& fabric, const Config& config);
  ~Monitors();

  /// `observer` hears of every violation and warning; it outlives the monitors.
  void observe(const Observer& observer) override;
  std::vector<CheckResult> checks() const override;
  /// Those that were kept, in order of time.
  std::vector<Violation> violations() const;
  /// Violations, and as errors of kind warning_RULE packets that break no rule and yet are not as
  /// they should be.
  void report(RunResult& result) const override;

 private:
  std::vector<std::unique_ptr<LinkMonitor>> links_;
  const Fabric& fabric_;
};

}  // namespace flitwise
