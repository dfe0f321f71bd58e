// SPDX-License-Identifier: Apache-2.0
/// What the two ends of a CXL link say of each other: components beside them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/component.h"
#include "cxl/cxl_agents.h"

namespace flitwise {

/// Both ends of a memory that host and device cache (HDM-DB).
class HdmPair final : public Bystander {
 public:
  HdmPair(const CxlHdmHost& host, const CxlHdmDevice& device, std::string device_name)
      : Bystander(std::move(device_name)), host_(host), device_(device) {}

  void report(RunResult& result) const override;
  /// What the memory believes of the host's cache is what that holds. [COH-5.3]
  std::vector<CheckResult> checks_at_rest() const override;

 private:
  const CxlHdmHost& host_;
  const CxlHdmDevice& device_;
};

/// A home and all caches of its host.
class CacheDirectory final : public Bystander {
 public:
  explicit CacheDirectory(const CxlHome& home) : Bystander(home.name()), home_(home) {}

  void add(const CxlCacheDevice& cache, std::uint8_t port) { caches_.emplace_back(&cache, port); }
  /// What the home believes of the caches is what they hold. [COH-3.1]
  std::vector<CheckResult> checks_at_rest() const override;

 private:
  const CxlHome& home_;
  std::vector<std::pair<const CxlCacheDevice*, std::uint8_t>> caches_;
};

}  // namespace flitwise
