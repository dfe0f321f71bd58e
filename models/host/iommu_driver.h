// SPDX-License-Identifier: Apache-2.0
/// The driver of the translation agent: maps and unmaps pages of devices while they run, serves
/// their page requests and takes fault records, each access of it in its time. [INV-35]
#pragma once

#include <systemc>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/component.h"
#include "flitwise/config.h"
#include "flitwise/result.h"
#include "host/context_teardown.h"
#include "host/driver_parts.h"
#include "host/driver_threads.h"
#include "iommu/registers.h"
#include "memory/memory_port.h"

namespace flitwise {

/// Its threads meet at the ring of commands. It is to be shown the accesses of devices from
/// take_over() on.
class IommuDriver : public ComponentModule {
 public:
  /// prefix: of the names of its latencies.
  IommuDriver(const sc_core::sc_module_name& name, const HostConfig& config,
              const IommuConfig& iommu, std::uint64_t seed, HostAccess& bridge, MemoryPort& memory,
              std::string prefix = {});

  /// What it maps and unmaps from now on.
  void take_over(DriverPages pages) {
    parts_.pages = std::move(pages);
    has_pages_ = true;
  }
  void accessed(const Packet& packet, std::uint64_t address);
  /// A device is about to send a request by a translation of its own.
  void translation_used(const DeviceIdentity& who, std::uint64_t physical,
                        std::uint64_t untranslated) {
    parts_.pages.frames().use(who, physical, untranslated);
  }
  /// Where in host memory an address of a function and PASID lies; itself, where the driver has no
  /// page there.
  std::uint64_t physical_of(const DeviceIdentity& who, std::uint64_t address) const;
  /// Sets up queues and interrupts. REQUIRES: take_over() was called.
  void start();
  bool is_started() const { return is_started_; }
  bool is_ready() const { return parts_.is_ready; }
  /// What teardowns of contexts need of others; without, there are none.
  void set_services(TeardownServices services) { teardown_.set_services(std::move(services)); }
  /// Unmaps and ends contexts from now on, as long as there is work for devices.
  void begin(std::function<bool()> has_work);
  /// The agent has sent an interrupt, or is about to write the status of a wait.
  void interrupted(IommuEvent event);
  void status_is_coming() { parts_.polls.wake(); }

  // Component:
  bool is_quiet() const override;
  std::string waiting() const override;
  /// Its errors: orders that no device answered in time, above all.
  void count_repeats(Counts& counts) const override;
  /// What software tends to is unmaps and steps of teardowns that are over.
  void add_progress(Progress& sum) const override;
  Time waits_until() const override { return parts_.waits_until; }
  void start_window() override;
  void end_window() override {
    pages_.use.end_window(now());
    parts_.ring.use.end_window(now());
  }
  void extend_window() override {
    pages_.use.extend_window();
    parts_.ring.use.extend_window();
  }
  /// Its threads for page requests and for commands to the agent, each of which works on one thing
  /// at a time.
  std::vector<WaitResult> waits() const override;
  /// Its share of the row of its agent, which comes before it: since the window began; and its
  /// errors since the start.
  void report(RunResult& result) const override;
  std::vector<CheckResult> checks() const override;

 private:
  void enable_queue();
  void await_queue();
  IommuCounters counts() const;
  std::vector<LatencyResult> latencies() const;

  const Time mmio_;  // how long a message takes to a core
  const std::string prefix_;
  DriverParts parts_;
  PageServer pages_;
  UnmapThread unmaps_;
  ContextTeardown teardown_;
  FaultServer faults_;
  bool has_pages_ = false;  // take_over() was called
  bool is_started_ = false;
  IommuCounters window_;
  LatencyHistogram window_latency_;
};

}  // namespace flitwise
