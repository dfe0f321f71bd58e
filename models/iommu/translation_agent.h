// SPDX-License-Identifier: Apache-2.0
/// The translation agent of the root complex: registers, caches, page walkers that read tables in
/// host memory, the invalidation queue, and its messages with devices. Its rules are in src/iommu
/// and src/ats.
#pragma once

#include <systemc>

#include <array>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "ats/invalidation_sender.h"
#include "common/wakeup.h"
#include "dhi/dealloc_sender.h"
#include "flitwise/config.h"
#include "flitwise/result.h"
#include "iommu/fault_log.h"
#include "iommu/handle_tables.h"
#include "iommu/invalidation_queue.h"
#include "iommu/page_requests.h"
#include "iommu/permission_cache.h"
#include "iommu/registers.h"
#include "iommu/translation_caches.h"
#include "iommu/translation_client.h"
#include "iommu/waiting_pages.h"
#include "iommu/walk.h"
#include "iommu/walk_progress.h"
#include "root_complex/memory_port.h"
#include "stats/use_clock.h"
#include "stats/wait_book.h"

namespace flitwise {

/// What the configuration says of the agent, in the words of src/iommu.
IommuCapabilities capabilities_of(const IommuConfig& config);

class TranslationAgent : public sc_core::sc_module,
                         private MemoryClient,
                         private PageRequests::Host {
 public:
  struct Hooks {
    /// A fault that FPD does not keep back; token: of the packet that met it.
    std::function<void(const FaultRecord&, std::uint32_t token)> fault;
    std::function<void(const IommuInterrupt&)> interrupt;
    /// It is about to write the status of a wait into memory. [IQU-04]
    std::function<void()> status = {};
  };

  TranslationAgent(const sc_core::sc_module_name& name, const Config& config, PacketPool& pool,
                   MemoryPort& memory);
  /// Beside those that are there.
  void add_hooks(Hooks hooks) { hooks_.push_back(std::move(hooks)); }
  /// The way of a message to the function it names; false where there is none. REQUIRES: before the
  /// start.
  using Send = std::function<bool(PacketRef, Time delay)>;
  void reach_devices(Send send) { send_ = std::move(send); }

  /// Whose handles it frees; they outlive the agent's last use. REQUIRES: before the start.
  void reach_handles(HandleTables& tables) { handle_tables_ = &tables; }

  /// Does software have requests translated?
  bool is_enabled() const { return registers_.translates(); }
  const IommuCapabilities& offers() const { return offers_; }

  /// Waits ask the client whether it is drained. It outlives the agent's last use.
  void attach(TranslationClient& client) { clients_.push_back(&client); }
  /// A client is.
  void drained() { settle(); }

  /// A request that reaches the agent `delay` from now; the client hears of the outcome, perhaps
  /// within this call. token: of the packet, for fault events.
  void translate(TranslationClient& client, std::uint64_t ticket, const WalkRequest& request,
                 std::uint32_t token, Time delay);
  /// One more translation of a Translation Request that has had its first: the same, and no
  /// request of its own in the counts.
  void translate_next(TranslationClient& client, std::uint64_t ticket, const WalkRequest& request,
                      std::uint32_t token, Time delay);

  /// A message of a device that is for the agent, or not: Invalidate Completions and Page Requests.
  void receive(const Packet& message);

  /// A device says that it has given handles up. [DHI D15]
  void handles_given_up(Bdf function, const DeallocDone& done);

  // Software's accesses: 4 or 8 bytes, naturally aligned. [IOM-1.1]
  std::uint64_t read_register(std::uint32_t offset, unsigned bytes) const {
    return registers_.read(offset, bytes);
  }
  void write_register(std::uint32_t offset, unsigned bytes, std::uint64_t value);
  unsigned register_width(std::uint32_t offset) const { return registers_.width(offset); }
  /// Memory into which it writes page requests; its base is 0 until software has set it.
  QueueView page_request_queue() const { return registers_.page_request_queue(); }

  /// Grows whenever something happens: the mark of progress.
  std::uint64_t progress() const {
    return counts_.walk_reads + answered_ + counts_.invalidations + invalidations_answered_ +
           page_requests_.received();
  }
  /// Orders of software that it has carried out.
  std::uint64_t orders_done() const { return counts_.invalidations + invalidations_answered_; }
  /// Nothing of the run has been completed for long, or something was: of its walks, those count
  /// that it has not made before.
  void begin_doubt() { walk_progress_.begin_doubt(asked_); }
  void end_doubt() { walk_progress_.end_doubt(); }
  std::uint64_t walk_progress() const { return walk_progress_.steps(); }
  bool is_quiet() const;
  /// When it gives up waiting for devices; never where it does not wait.
  Time next_timeout() const;
  std::string waiting() const;
  /// Figures are of what comes from now on.
  void start_window();
  IommuResult result() const;
  std::vector<WaitResult> waits() const;
  std::vector<CheckResult> checks() const;

 private:
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  struct Job {
    TranslationClient* client = nullptr;  // none: a prefetch
    std::uint64_t ticket = 0;
    WalkRequest request;
    std::uint32_t token = 0;
    Time arrival{};              // nothing is done for it before
    Time since{};                // it is in its queue
    std::uint32_t next = kNone;  // in its queue
    std::uint32_t missed = 0;    // counted as a miss of its own: in this window, from 1 on
    std::uint64_t number = 0;    // among all requests; a prefetch has that of its cause
  };
  /// Jobs that wait, by their places in jobs_; first come, first served.
  struct JobQueue {
    std::uint32_t first = kNone, last = kNone;
    bool empty() const { return first == kNone; }
  };
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
  /// What the invalidation queue is at: each takes its time.
  enum class QueueStep : std::uint8_t { kNone, kFetch, kExecute, kWriteStatus };
  /// Who waits for memory beside the walkers: tags above theirs.
  enum class Reader : std::uint8_t { kQueue, kPageRecord };

  // Translations: translation_agent.cpp.
  bool look_up(Walk& walk, Time& latency, const Walk* finished = nullptr);
  bool use_page_of(const Walk& finished, Walk& walk) const;
  std::uint32_t count_miss(const WalkRequest& request, bool is_at_walker);
  void count_without_walk(const Job& job);
  bool is_waited_for(const WalkRequest& request) const;
  Walker* walker_at(const WalkRequest& request);
  Walker& take_idle() {
    Walker& idle = walkers_[idle_.back()];
    idle_.pop_back();
    walker_use_.set(walkers_.size() - idle_.size(), now());
    return idle;
  }
  void push(JobQueue& queue, const Job& job);
  Job pop(JobQueue& queue, WaitBook& waits);
  void wait_for_walker(const Job& job);
  bool look_up_again(const Walker& walker, const Job& job, Walk& walk, Time& latency);
  void start(Walker& walker, const Job& job, const Walk& walk, Time latency);
  void step(Walker& walker);
  bool use_iotlb(Walk& walk);
  Time use_paging_cache(Walk& walk);
  Time use_page_caches(Walk& walk);
  unsigned use_second_stage_cache(Walk& walk);
  void read(unsigned reader, std::uint64_t address, unsigned bytes);
  void finish(Walker& walker);
  void deliver(const Job& job, const WalkResult& result, Time when);
  void report_fault(const Job& job, const WalkResult& result);
  void hand_on(Walker& walker);
  void work();
  void memory_done(const MemoryTransaction& transaction, Time when) override;

  // Registers and the invalidation queue: invalidation_queue.cpp.
  void apply(const RegisterEffects& effects);
  void tell(const std::optional<IommuInterrupt>& interrupt);
  void overtake_walks();
  bool is_drained() const;
  void fetch_descriptor();
  void queue_memory_done(const MemoryTransaction& transaction, Time when);
  void continue_queue();
  void take_descriptor();
  template <class Invalidation>
  void invalidate(const Invalidation& command) {
    ++counts_.invalidations;
    caches_.invalidate(command);
    overtake_walks();
  }
  // What each command does. [IOM-5.1]
  void carry_out(const ContextCacheInvalidation& command) { invalidate(command); }
  void carry_out(const IotlbInvalidation& command) { invalidate(command); }
  void carry_out(const PasidIotlbInvalidation& command) { invalidate(command); }
  void carry_out(const PasidCacheInvalidation& command) { invalidate(command); }
  void carry_out(const DeviceTlbInvalidation& command);
  void carry_out(const PageGroupResponse& command);
  void carry_out(const InterruptCacheInvalidation&) {}
  void carry_out(const HandleInvalidation& command);
  void carry_out(const InvalidationWait&) {}
  void carry_out(DescriptorError) {}
  void finish_register_commands();
  void leave_queue();
  void settle();
  void finish_wait();
  void write_memory(Reader writer, std::uint64_t address, const std::uint8_t* bytes, unsigned count,
                    Time delay);
  std::uint16_t tag_of(Reader reader) const {
    return static_cast<std::uint16_t>(walkers_.size() + static_cast<unsigned>(reader));
  }

  // Permissions: secure_ats.cpp.
  void deliver_and_prefetch(const Job& job, const WalkResult& result, Time when);
  void count_permission(const WalkRequest& request, const WalkResult& result);
  void prefetch_permission(const Job& hint, Time when);
  void carry_out(const PermissionInvalidation& command);

  // Devices: device_messages.cpp.
  void send(const Tlp& message, const std::uint8_t* body, std::size_t bytes, Time delay);
  void send_held_invalidation();
  void device_answered();
  void complaint_about(Bdf function);
  void complete_invalidation(const InvalidateCompletion& completion);
  void expire_invalidations();
  void check_context(TranslationClient& client, std::uint64_t ticket, const WalkRequest& request,
                     std::uint32_t token) override;
  void forget_page(const PageRequest& request, Pasid pasid) override;
  void write_record(std::uint64_t address, const PageRequestRecord& record, Time delay) override;
  void respond(const PrgResponse& response, Time delay) override;
  void interrupt(const IommuInterrupt& interrupt) override;

  const IommuConfig config_;
  const IommuCapabilities offers_;
  PacketPool& pool_;
  MemoryPort& memory_;
  std::vector<Hooks> hooks_;
  std::vector<TranslationClient*> clients_;
  IommuRegisters registers_;
  FaultLog faults_;
  TranslationCaches caches_;
  PermissionCache permissions_;
  std::vector<Walker> walkers_;
  std::vector<Time> dues_;             // of each walker: it goes on
  std::vector<std::uint64_t> walked_;  // page number at each walker
  std::vector<std::uint32_t> idle_;    // walkers
  std::vector<Job> jobs_;              // those that wait, and free places
  JobQueue free_jobs_;
  JobQueue waiting_;            // for a walker
  WaitingPages waiting_pages_;  // of the same
  std::size_t waiting_jobs_ = 0;
  WaitBook walker_waits_, walk_waits_;
  UseClock walker_use_;
  Wakeup wakeup_;

  InvalidationQueue queue_;
  QueueStep queue_step_ = QueueStep::kNone;
  Time queue_due_ = Time::never();
  bool queue_read_failed_ = false;
  bool is_queue_leaving_ = false;                                 // software has turned it off
  bool has_context_command_ = false, has_iotlb_command_ = false;  // in registers, not done yet
  // Its function, or device, has as many out as it takes.
  std::optional<std::variant<DeviceTlbInvalidation, HandleInvalidation>> held_;
  std::array<std::uint8_t, 32> descriptor_{};

  Send send_;
  InvalidationSender device_tlbs_;
  HandleTables* handle_tables_ = nullptr;
  DeallocSender handle_orders_;
  PageRequests page_requests_;
  struct PageRecord {
    Time when;  // memory has it, or refuses it
    bool is_ok;
  };
  std::deque<PageRecord> page_records_;

  IommuResult counts_, window_;
  std::uint32_t window_number_ = 1;
  IommuResult counts_so_far() const;
  std::uint64_t asked_ = 0, answered_ = 0, invalidations_answered_ = 0;
  WalkProgress walk_progress_;
};

}  // namespace flitwise
