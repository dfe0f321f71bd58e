// SPDX-License-Identifier: Apache-2.0
/// Translations: caches first, then one of the walkers, which read tables in host memory.
/// Requests to a page that is walked for wait for that walk, all others for a walker.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/open_table.h"
#include "common/slot_list.h"
#include "flitwise/config.h"
#include "flitwise/result.h"
#include "iommu/agent_seams.h"
#include "iommu/due_times.h"
#include "iommu/translation_caches.h"
#include "iommu/waiting_pages.h"
#include "iommu/walk.h"
#include "stats/wait_book.h"

namespace flitwise {

class WalkerPool final : public AgentTranslations {
 public:
  /// counts: its rows of the agent's counters. All references outlive it.
  WalkerPool(const IommuConfig& config, const IommuCapabilities& offers, std::uint64_t seed,
             const IommuRegisters& registers, AgentMemory& memory, AgentEvents& events,
             IommuResult& counts);

  /// is_drained() asks it too. It outlives the agent's last use.
  void attach(TranslationClient& client) { clients_.push_back(&client); }

  // AgentTranslations:
  void translate(TranslationClient& client, std::uint64_t ticket, const WalkRequest& request,
                 std::uint32_t token, Time delay, Time now) override;
  void invalidate(const InvalidationDescriptor& command) override;
  void invalidate_all() override;
  void forget_page(Bdf function, Pasid pasid, std::uint64_t page) override;
  bool is_drained() const override;

  /// The read of a walker is done at `when`. bytes: null where memory has refused it.
  void memory_done(std::uint16_t walker, const std::uint8_t* bytes, Time when);
  /// Walkers whose time has come go on.
  void work(Time now);
  /// Never: none.
  Time next_due() const { return dues_.next(); }

  std::uint64_t asked() const { return asked_; }
  std::uint64_t answered() const { return answered_; }
  WalkProgress& walk_progress() { return walk_progress_; }
  const WalkProgress& walk_progress() const { return walk_progress_; }
  bool is_quiet() const { return jobs_.open_count() == 0 && idle_.size() == walkers_.size(); }
  std::string waiting(const char* at) const;
  void start_window(Time now);
  void end_window(Time now) { walker_use_.end_window(now); }
  void extend_window() { walker_use_.extend_window(); }
  std::vector<WaitResult> waits(const char* at, Time now) const;

 private:
  struct Job {
    TranslationClient* client = nullptr;  // none: a prefetch
    std::uint64_t ticket = 0;
    WalkRequest request;
    std::uint32_t token = 0;
    Time arrival{};                // nothing is done for it before
    Time since{};                  // it is in its queue
    std::uint32_t next = kNobody;  // in its queue
    std::uint32_t missed = 0;      // counted as a miss of its own: in this window, from 1 on
    std::uint64_t number = 0;      // among all requests; a prefetch has that of its cause
  };
  /// Jobs that wait, by their places in jobs_; first come, first served.
  using JobQueue = TokenPool<Job>::Queue;

  struct Walker {
    Walk walk;
    Job job;
    JobQueue followers;  // requests to the same page
    bool is_busy = false;
    bool is_overtaken = false;  // by an invalidation: what it finds is not kept
    bool is_shared = false;     // it is over, and no invalidation has come since: others may use it
    bool bytes_wanted = false;  // with what memory gave
    bool has_looked_up = false;  // in the caches of pages and page tables
    bool has_failed = false;
    std::array<std::uint8_t, 64> bytes{};
  };

  /// Walkers at a page, and the first of them.
  struct AtPage {
    std::uint16_t walkers = 0, first = 0xffff;
  };
  using WalkedPages = OpenTable<WaitingPages::Key, AtPage, WaitingPages::spread>;

  // Requests and their queues: walker_pool.cpp.
  Walk walk_of(const Job& job) const { return Walk(job.request, registers_.root_table(), offers_); }
  void count_miss(Job& job, bool is_at_walker);
  void push(JobQueue& queue, const Job& job, Time now);
  Job pop(JobQueue& queue, WaitBook& waits, Time now);
  void wait_for_walker(const Job& job, Time now);
  void deliver(const Job& job, const WalkResult& result, Time when, Time now);
  void prefetch_permission(const Job& hint, Time when, Time now);
  bool look_up_again(const Walker& walker, const Job& job, Walk& walk, Time& latency, Time now);
  void hand_on(Walker& walker, Time now);
  void overtake_walks(const PhysicalPages& pages);

  // Caches and walkers: walkers.cpp.
  bool look_up(Walk& walk, Time& latency, const Walk* finished = nullptr);
  bool use_iotlb(Walk& walk);
  Time use_paging_cache(Walk& walk);
  unsigned use_second_stage_cache(Walk& walk);
  std::uint16_t number_of(const Walker& walker) const {
    return static_cast<std::uint16_t>(&walker - walkers_.data());
  }
  Walker* walker_at(const WalkRequest& request);
  void leave_page(const Walker& walker);
  Walker& take_idle();
  void start(Walker& walker, const Job& job, const Walk& walk, Time latency, Time now);
  void step(Walker& walker, Time now);
  void finish(Walker& walker, Time now);

  const IommuConfig config_;
  const IommuCapabilities& offers_;
  const IommuRegisters& registers_;
  AgentMemory& memory_;
  AgentEvents& events_;
  IommuResult& counts_;
  std::vector<TranslationClient*> clients_;
  TranslationCaches caches_;
  PermissionCache permissions_;
  std::vector<Walker> walkers_;
  DueTimes dues_;                          // of each walker: it goes on
  std::vector<WaitingPages::Key> walked_;  // page at each walker
  WalkedPages walked_pages_;               // of those that are busy
  std::vector<std::uint32_t> idle_;        // walkers
  TokenPool<Job> jobs_;                    // those that wait
  JobQueue waiting_;                       // for a walker
  WaitingPages waiting_pages_;             // of the same
  WaitBook walker_waits_, walk_waits_;
  UseClock walker_use_;
  std::uint32_t window_number_ = 1;
  std::uint64_t asked_ = 0, answered_ = 0;
  WalkProgress walk_progress_;
};

}  // namespace flitwise
