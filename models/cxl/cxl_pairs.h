// SPDX-License-Identifier: Apache-2.0
/// Components beside the agents: what the two ends of a CXL link say of each other, and the monitor
/// of all caches.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coherence/single_writer_monitor.h"
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

/// The monitor of all caches of one memory: who holds a line, at every moment of a run. [COH-1.2]
class CacheWatch final : public Bystander {
 public:
  /// `name` is what stands in its check.
  explicit CacheWatch(std::string name) : Bystander(std::move(name)) {}

  /// What the next cache tells its changes of state; it is there as long as this is.
  LineStateListener& add_cache(std::string name);

  std::vector<CheckResult> checks() const override;
  /// The first ones.
  const std::vector<Violation>& violations() const { return violations_; }

 private:
  class Cache final : public LineStateListener {
   public:
    Cache(CacheWatch& watch, std::uint8_t number, std::string name)
        : watch_(watch), number_(number), name_(std::move(name)) {}
    void line_state(std::uint64_t line, LineState state) override {
      watch_.told(number_, line, state);
    }
    const std::string& name() const { return name_; }

   private:
    CacheWatch& watch_;
    std::uint8_t number_;
    std::string name_;
  };
  void told(std::uint8_t number, std::uint64_t line, LineState state);

  SingleWriterMonitor monitor_;
  std::vector<std::unique_ptr<Cache>> caches_;
  std::vector<Violation> violations_;
};

}  // namespace flitwise
