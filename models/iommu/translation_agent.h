// SPDX-License-Identifier: Apache-2.0
/// The translation agent of the root complex: its registers, its clock, and its way to memory and
/// to devices. What it does is done by its parts: WalkerPool translates, CommandUnit carries out
/// what software orders, PageRequests takes what devices ask for. Rules: src/iommu, src/ats.
#pragma once

#include <systemc>

#include <functional>
#include <string>
#include <vector>

#include "common/component.h"
#include "common/wakeup.h"
#include "flitwise/config.h"
#include "flitwise/result.h"
#include "iommu/agent_seams.h"
#include "iommu/command_unit.h"
#include "iommu/fault_log.h"
#include "iommu/page_requests.h"
#include "iommu/registers.h"
#include "iommu/walker_pool.h"
#include "memory/memory_port.h"

namespace flitwise {

class TranslationAgent : public ComponentModule,
                         public TranslationService,
                         private MemoryClient,
                         private AgentMemory,
                         private AgentEvents {
 public:
  struct Hooks {
    /// A fault that FPD does not keep back; token: of the packet that met it.
    std::function<void(const FaultRecord&, std::uint32_t token)> fault;
    std::function<void(const IommuInterrupt&)> interrupt;
    /// It is about to write the status of a wait into memory. [IQU-04]
    std::function<void()> status = {};
  };

  TranslationAgent(const sc_core::sc_module_name& name, const IommuConfig& config,
                   std::uint64_t seed, PacketPool& pool, MemoryPort& memory);
  /// Beside those that are there.
  void add_hooks(Hooks hooks) { hooks_.push_back(std::move(hooks)); }
  /// Its way to devices, and whose handles it frees; both outlive its last use. REQUIRES: before
  /// the start.
  void reach_devices(DeviceWay& devices) { devices_ = &devices; }
  void reach_handles(HandleTables& tables) { commands_.reach_handles(tables); }

  const IommuCapabilities& offers() const { return offers_; }

  // TranslationService:
  bool is_enabled() const override { return registers_.translates(); }
  void attach(TranslationClient& client) override { translations_.attach(client); }
  void drained() override { commands_.settle(); }
  void translate(TranslationClient& client, std::uint64_t ticket, const WalkRequest& request,
                 std::uint32_t token, Time delay) override {
    translations_.translate(client, ticket, request, token, delay, now());
  }

  /// A message of a device that is for the agent, or not: Invalidate Completions and Page Requests.
  void receive(const Packet& message);
  /// A device says that it has given handles up. [DHI D15]
  void handles_given_up(Bdf function, const DeallocDone& done) {
    commands_.completed(function, done, now());
  }

  /// The handle by which an Invalidate Request went is another domain's now, or nobody's.
  void invalidation_strayed(Bdf function, std::uint8_t itag) {
    commands_.strayed(function, itag, now());
  }

  // Software's accesses: 4 or 8 bytes, naturally aligned. [IOM-1.1]
  std::uint64_t read_register(std::uint32_t offset, unsigned bytes) const {
    return registers_.read(offset, bytes);
  }
  void write_register(std::uint32_t offset, unsigned bytes, std::uint64_t value) {
    commands_.apply(registers_.write(offset, bytes, value));
  }
  unsigned register_width(std::uint32_t offset) const { return registers_.width(offset); }
  /// Memory into which it writes page requests; its base is 0 until software has set it.
  QueueView page_request_queue() const { return registers_.page_request_queue(); }

  void add_progress(Progress& sum) const override {
    sum.steps +=
        counts_.walk_reads + translations_.answered() + orders_done() + page_requests_.received();
    sum.tended += orders_done();
    sum.walk_steps += translations_.walk_progress().steps();
  }
  /// Orders of software that it has carried out.
  std::uint64_t orders_done() const { return counts_.invalidations + commands_.answers(); }
  /// Nothing of the run has been completed for long, or something was: of its walks, those count
  /// that it has not made before.
  void begin_doubt() override { translations_.walk_progress().begin_doubt(translations_.asked()); }
  void end_doubt() override { translations_.walk_progress().end_doubt(); }
  bool is_quiet() const override {
    return translations_.is_quiet() && commands_.is_quiet() && page_requests_.is_quiet();
  }
  /// It gives up waiting for devices then. [IQU-07]
  Time waits_until() const override;
  std::string waiting() const override;
  void count_repeats(Counts& counts) const override;
  /// Figures are of what comes from now on.
  void start_window() override;
  void end_window() override { translations_.end_window(now()); }
  void extend_window() override { translations_.extend_window(); }
  std::vector<WaitResult> waits() const override { return translations_.waits(name(), now()); }
  void report(RunResult& result) const override;
  std::vector<CheckResult> checks() const override;

 private:
  void work();
  IommuResult counts_so_far() const;
  template <class Hook, class... What>
  void tell(Hook hook, const What&... what) const;
  PacketRef make_access(TlpType type, std::uint16_t tag, std::uint64_t address, unsigned bytes);

  // MemoryClient:
  void memory_done(const MemoryTransaction& transaction, Time when) override;
  // AgentMemory:
  void read(std::uint16_t tag, std::uint64_t address, unsigned bytes) override;
  void write(std::uint16_t tag, std::uint64_t address, const std::uint8_t* bytes, unsigned count,
             Time delay) override;
  bool set(std::uint64_t address, std::uint64_t value) override {
    return memory_.poke_u64(address, value);
  }
  // AgentEvents:
  void report(const FaultRecord& record, std::uint32_t token) override;
  void interrupt(const std::optional<IommuInterrupt>& interrupt) override;
  void status_is_coming() override;
  PacketRef new_message() override;
  void send(PacketRef message, Time delay) override;
  void wake_at(Time when) override { wakeup_.at(when); }
  void settle() override { commands_.settle(); }

  const IommuCapabilities offers_;
  PacketPool& pool_;
  MemoryPort& memory_;
  DeviceWay* devices_ = nullptr;
  std::vector<Hooks> hooks_;
  IommuRegisters registers_;
  FaultLog faults_;
  Wakeup wakeup_;
  IommuResult counts_, window_;
  WalkerPool translations_;
  PageRequests page_requests_;
  CommandUnit commands_;
};

}  // namespace flitwise
