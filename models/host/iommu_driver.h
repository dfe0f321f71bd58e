// SPDX-License-Identifier: Apache-2.0
/// The driver of the translation agent: maps and unmaps pages of devices while they run, serves
/// their page requests and takes fault records, each access of it in its time. [INV-35]
#pragma once

#include <systemc>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ats/translation_range.h"
#include "common/random.h"
#include "common/wakeup.h"
#include "flitwise/config.h"
#include "flitwise/result.h"
#include "host/command_ring.h"
#include "host/context_teardown.h"
#include "host/host_access.h"
#include "host/status_poll.h"
#include "iommu/driver_pages.h"
#include "iommu/page_request_queue.h"
#include "iommu/translation_agent.h"
#include "memory/memory_port.h"
#include "memory/memory_watch.h"
#include "stats/latency_histogram.h"

namespace flitwise {

/// Three threads of software share the machine: one unmaps, one serves page requests, one takes
/// faults. They meet at the ring of commands.
/// It is to be shown the accesses of devices from take_over() on.
class IommuDriver : public sc_core::sc_module, public MemoryWatch {
 public:
  IommuDriver(const sc_core::sc_module_name& name, const HostConfig& config,
              const IommuConfig& iommu, std::uint64_t seed, HostAccess& bridge,
              TranslationAgent& agent, MemoryPort& memory);

  /// What it maps and unmaps from now on.
  void take_over(DriverPages pages);
  void accessed(const Packet& packet, std::uint64_t address) override;
  /// A device is about to send a request by a translation of its own.
  void translation_used(const DeviceIdentity& who, std::uint64_t physical,
                        std::uint64_t untranslated) {
    pages_->frames().use(who, physical, untranslated);
  }
  /// Sets up queues and interrupts. REQUIRES: take_over() was called.
  void start();
  bool is_started() const { return is_started_; }
  bool is_ready() const { return is_ready_; }
  /// What teardowns of contexts need of others; without, there are none. REQUIRES: take_over() was
  /// called.
  void set_services(TeardownServices services) { teardown_->set_services(std::move(services)); }
  /// Unmaps and ends contexts from now on, as long as there is work for devices.
  void begin(std::function<bool()> has_work);

  bool is_quiet() const;
  std::string waiting() const;
  /// Grows whenever it gets something done.
  std::uint64_t progress() const {
    return maps_ + unmaps_ + served_ + refused_ + faults_taken_ + ring_.written() +
           (teardown_ ? teardown_->progress() : 0);
  }
  /// Unmaps and steps of teardowns that are over.
  std::uint64_t settled() const { return unmaps_ + (teardown_ ? teardown_->progress() : 0); }
  /// Until then it lets time pass that the configuration has set, and somebody may wait for it.
  Time waits_until() const { return waits_until_; }
  /// Counters and latencies are of what comes from now on.
  void start_window();
  void fill(IommuResult& result) const;
  /// `unmap`, from the call to the page that is free, and those of contexts, if any were torn down.
  std::vector<LatencyResult> latencies() const;
  const std::map<std::string, std::uint64_t>& errors() const { return errors_; }
  std::vector<CheckResult> checks() const;
  const DriverPages& pages() const { return *pages_; }

 private:
  using Index = DriverPages::Index;
  struct Unmap {
    Time called;
    std::uint32_t domain = 0;
    Index first = 0;
    unsigned count = 0;
    std::vector<std::pair<Index, PageFrames::Frame>> pages;  // that it has taken
  };
  struct PageGroup {
    unsigned out = 0;  // requests that are not settled
    bool has_last = false, is_refused = false;
  };
  struct RegisterWrite {
    std::uint32_t offset;
    unsigned bytes;
    std::uint64_t value;
  };

  // Start, registers and time: iommu_driver.cpp.
  void read_register(std::uint32_t offset, unsigned bytes, std::function<void(std::uint64_t)> then);
  void write_register(const RegisterWrite& access);
  void write_registers(std::vector<RegisterWrite> accesses, std::function<void()> then);
  void enable_queue();
  void await_queue();
  void interrupted(std::uint32_t vector);
  void background(Time delay, std::function<void()> what);
  void call_again(double per_second, Time& due, std::function<void()> what);
  void note_wait(Time delay);
  void work();

  // Pages that go: iommu_driver_unmap.cpp.
  void tick();
  void teardown_tick();
  std::vector<std::uint32_t> live_contexts() const;
  void next_unmap();
  void clear(std::size_t next);
  void revoke(std::size_t next);
  void cleared();
  void flush();
  std::vector<DescriptorBytes> invalidations() const;
  void add_invalidations(const DriverDomain& domain, PageRange range, bool is_whole,
                         std::vector<DescriptorBytes>& agent,
                         std::vector<DescriptorBytes>& device) const;
  void add_permission_invalidations(std::vector<DescriptorBytes>& agent) const;
  void invalidate();
  void poll();
  bool look();
  void wait_is_over();
  void repeat_invalidation();
  void remap(Index page);

  // Pages that come, and what devices did wrong: iommu_driver_events.cpp.
  void serve_pages();
  void take_records(std::uint32_t head, std::uint32_t tail);
  void look_for_overflow();
  void pages_served();
  void take_request(const PageRequest& request);
  bool is_refused(const PageRequest& request, std::optional<Index> page);
  void map_for(const PageRequest& request, Index page);
  void answer(const PageRequest& request, bool is_granted);
  void map(Index page, std::vector<DescriptorBytes>& commands);
  void take_faults();
  void count_faults(std::uint32_t status);
  void take_record(unsigned index, std::uint32_t status);
  void record_read(std::uint64_t low, std::uint64_t high);
  void faults_taken(std::uint32_t status);

  const IommuDriverConfig config_;
  const Time step_;
  const Time interrupt_latency_;
  const Time memory_latency_;
  const Time clock_;
  const bool is_second_stage_;
  const bool has_permissions_;
  HostAccess& bridge_;
  TranslationAgent& agent_;
  MemoryPort& memory_;
  CommandRing ring_;
  StatusPoll polls_;
  Random random_;
  std::optional<DriverPages> pages_;
  std::optional<ContextTeardown> teardown_;
  std::multimap<std::int64_t, std::function<void()>> agenda_;  // by time in fs
  Wakeup wakeup_;
  std::function<bool()> has_work_;
  Time unmap_due_{}, teardown_due_{};  // the next call
  std::uint64_t capabilities_ = 0;     // CAP
  bool is_started_ = false, is_ready_ = false;

  std::deque<Unmap> backlog_;
  std::vector<Unmap> batch_;  // that are being invalidated, or are collected
  Time waits_until_{};
  std::uint64_t held_ = 0;  // pages that the two above may have taken
  std::uint64_t most_held_ = 0;
  bool is_unmapping_ = false, is_flush_due_ = false, is_waiting_ = false;
  std::uint64_t flushes_ = 0;
  std::uint32_t serial_ = 0;
  unsigned repeats_ = 0;

  bool is_serving_ = false, has_new_pages_ = false;
  std::uint32_t page_head_ = 0;
  std::map<std::pair<std::uint16_t, std::uint16_t>, PageGroup> groups_;  // by function and index
  std::uint64_t requests_out_ = 0;                                       // taken and not answered

  bool is_taking_faults_ = false;

  std::uint64_t maps_ = 0, unmaps_ = 0, freed_ = 0, served_ = 0, refused_ = 0, faults_taken_ = 0,
                requests_after_end_ = 0;
  void count(IommuResult& result) const;
  IommuResult window_;
  LatencyHistogram unmap_latency_, window_unmap_latency_;
  std::map<std::string, std::uint64_t> errors_;
};

}  // namespace flitwise
