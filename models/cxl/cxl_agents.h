// SPDX-License-Identifier: Apache-2.0
/// The agents of CXL.cache and CXL.mem at the link of one device, as far as it has any: who gets
/// which message and which engine, what a link that goes down means to them, what the two ends say
/// of each other, and the monitor of all caches.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coherence/recall_monitor.h"
#include "coherence/single_writer_monitor.h"
#include "common/component.h"
#include "cxl/cache_device.h"
#include "cxl/cxl_mem.h"
#include "cxl/hdm_db.h"
#include "cxl/home.h"
#include "flitwise/config.h"

namespace flitwise {

/// Null where the device has no such agent.
struct CxlAgents {
  CxlMemHost* mem_host = nullptr;  ///< where the device has memory on CXL.mem
  CxlMemDevice* mem_device = nullptr;
  CxlHdmHost* hdm_host = nullptr;  ///< in their place where the device caches it as well
  CxlHdmDevice* hdm_device = nullptr;
  CxlCacheDevice* cache = nullptr;  ///< where it has one for lines of the host
  CxlHome* home = nullptr;          ///< of that cache
  std::uint8_t home_port = 0;       ///< at its home

  /// Whoever has the channel of this message sends it, as any of its own. False: nobody has.
  bool send(PacketRef message) const;
  /// The link is about to go down; it is up again. [CXL-3.9] [CXL-7.5] [CXL-8.5]
  void link_lost() const;
  void link_up() const;
  /// The agent that works for this kind of engine gets its work from it. `of_host`: the engine of
  /// the host's cores, where both ends have one. REQUIRES: there is such an agent.
  void attach(WorkloadVia via, Engine& engine, Engine* of_host) const;
  /// The engine of that agent has work again; that of the host's cores has.
  void wake(WorkloadVia via) const;
  void wake_host() const;
};

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

/// The monitors of all caches of one memory: who holds a line, at every moment of a run, and who
/// still does when a page has been recalled. [COH-1.2] [COH-3.14]
class CacheWatch final : public Bystander, public CxlHome::RecallListener {
 public:
  /// `name` is what stands in its check.
  explicit CacheWatch(std::string name) : Bystander(std::move(name)) {}

  /// What the next cache tells its changes of state; it is there as long as this is.
  LineStateListener& add_cache(std::string name);

  void granted(std::uint8_t port, std::uint64_t line, std::uint64_t arrival) override;
  void recalled(const PhysicalPages& pages, std::uint64_t before) override;

  std::vector<CheckResult> checks() const override;
  /// The first ones.
  const std::vector<Violation>& violations() const { return violations_; }

 private:
  struct Cache final : LineStateListener {
    Cache(CacheWatch& of, std::uint8_t at, std::string called)
        : watch(of), number(at), name(std::move(called)) {}
    void line_state(std::uint64_t line, LineState state) override {
      watch.told(number, line, state);
    }
    CacheWatch& watch;
    std::uint8_t number;
    std::string name;
  };
  void told(std::uint8_t number, std::uint64_t line, LineState state);
  void report_left(std::uint8_t number, std::uint64_t line, const char* other);

  SingleWriterMonitor monitor_;
  RecallMonitor recalls_;
  std::uint64_t left_ = 0;         // lines that were to be recalled
  bool are_recalls_told_ = false;  // else none of it matters
  std::vector<std::unique_ptr<Cache>> caches_;
  std::vector<Violation> violations_;
};

}  // namespace flitwise
