// SPDX-License-Identifier: Apache-2.0
/// The home of the host's memory: the rules of src/coherence behind the links of all device caches,
/// with host memory behind it. [CXL-7.1] [CXL-7.3]
// Longer than 150 lines: links, memory and permissions of all caches of a host.
#pragma once

#include <systemc>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "coherence/home_agent.h"
#include "common/component.h"
#include "common/due_queue.h"
#include "common/slot_list.h"
#include "common/wakeup.h"
#include "cxl/cxl_outbox.h"
#include "cxl/line_gate.h"
#include "flitwise/config.h"
#include "flitwise/link_socket.h"
#include "flitwise/result.h"
#include "iommu/agent_seams.h"
#include "memory/memory_port.h"
#include "stats/wait_book.h"

namespace flitwise {

class CxlHome : public ComponentModule,
                private LineMemory,
                private HomeListener,
                private MemoryClient,
                private TranslationClient {
 public:
  /// For so many caches, each with a port of its own. stand_in: may be empty.
  CxlHome(const sc_core::sc_module_name& name, const HostConfig& config, CxlStandIn stand_in,
          std::uint8_t caches, PacketPool& pool, MemoryPort& memory);

  /// Whom it asks what a domain may do with a page; it outlives the home. REQUIRES: before the
  /// start; all ports have gates. [CXL-7.10]
  void attach(TranslationService& agent) {
    agent_ = &agent;
    agent.attach(*this);
  }

  /// Hears of grants and of recalls that are over. Implemented by CacheWatch. [COH-3.14]
  class RecallListener {
   public:
    virtual void granted(std::uint8_t port, std::uint64_t line, std::uint64_t arrival) = 0;
    /// Of pages, from all requests that came before this one.
    virtual void recalled(const PhysicalPages& pages, std::uint64_t before) = 0;

   protected:
    ~RecallListener() = default;
  };
  /// It outlives the home.
  void watch(RecallListener& listener) { listener_ = &listener; }
  /// A breach: may a recall go ahead of what it has to wait for? [COH-3.14]
  void set_hook(std::function<bool()> recalls_early) { recalls_early_.swap(recalls_early); }

  /// What a request asked for that is not on the wire. [CXL-7.3]
  struct Asked {
    std::uint32_t bytes = 0;
    bool counts = true;
  };
  /// The sockets of one cache's link; a component with a window of its own.
  struct Port : Component {
    LinkTarget<CxlHome> from_link;
    CxlOutbox to_link;
    bool is_down = false;
    std::uint64_t lines_received = 0;  ///< Bogus ones aside, since the link came up
    std::vector<Asked> asked;          ///< by CQID
    std::unique_ptr<LineGate> gate;    ///< of its requests; null: all are served [CXL-7.7]
    WaitBook work_waits;               ///< of requests, for room among those at work [COH-3.9]
    /// A write of the cache that had its GO with the pull is over. [COH-3.11]
    std::function<void(std::uint64_t line, bool is_written, Time when)> on_write_over;

    std::string place;             ///< that its waits name
    std::uint64_t most_at_work{};  ///< requests, of all ports together [COH-3.9]

    explicit Port(const std::string& module)
        : from_link((module + "_from_link").c_str()),
          to_link((module + "_to_link").c_str()),
          asked(kCxlIds) {}

    const char* name() const override { return place.c_str(); }
    bool is_quiet() const override { return true; }  // the home says
    void start_window() override;
    std::vector<WaitResult> waits() const override;
  };
  /// REQUIRES: number < caches.
  Port& port(std::uint8_t number) { return *ports_[number]; }

  /// The link of a cache has gone down: it holds nothing any more, and answers nothing. [CXL-7.5]
  void link_lost(std::uint8_t port);
  std::uint64_t lines_received(std::uint8_t port) const { return ports_[port]->lines_received; }
  void link_up(std::uint8_t port) { ports_[port]->is_down = false; }

  LineHolders holders(std::uint64_t line) const { return rules_.holders(line); }
  /// Pairs of a line and a cache that holds it.
  std::size_t copies() const { return rules_.copies(); }

  /// `observer` outlives it.
  void observe(const Observer& observer) override { observer_ = &observer; }
  bool is_quiet() const override;
  std::string waiting() const override;
  /// Counted by kind.
  std::map<std::string, std::uint64_t> errors() const override;

 private:
  tlm::tlm_sync_enum receive(int port, Packet& packet, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  /// A request on its way through the agent.
  struct Check {
    PacketRef packet;  // none: its cache has gone
    std::uint8_t port = 0;
    std::uint64_t arrival = kNoArrival;
  };
  static constexpr std::uint64_t kNoArrival = ~std::uint64_t{0};
  void take_request(std::uint8_t port, Packet& packet);
  void refuse(std::uint8_t port, const Packet& packet, const char* kind);
  void serve(std::uint8_t port, const Packet& packet, const RequestPermit& permit);
  void translated(std::uint64_t ticket, const WalkResult& result, Time when) override;
  void invalidated(const PhysicalPages& pages) override;
  bool is_drained() const override { return recalls_.empty() && !has_older_than(fence_); }
  bool has_older_than(std::uint64_t arrival) const;
  void recall_if_drained();
  void go_on_with_recalls();
  void read(std::uint32_t token, std::uint64_t line) override;
  void write(std::uint32_t token, std::uint64_t line, const CxlLine& data,
             std::uint64_t byte_enables) override;
  void has_turn(std::uint32_t token) override;
  void is_at_work(std::uint8_t port, std::uint32_t token) override;
  void write_over(std::uint8_t port, std::uint64_t line, bool is_written) override;
  void granted(std::uint8_t port, std::uint64_t line, std::uint64_t arrival) override {
    if (listener_ != nullptr) {
      listener_->granted(port, line, arrival);
    }
  }
  void access(PacketRef packet, std::uint32_t token, std::uint64_t line);
  void memory_done(const MemoryTransaction& transaction, Time when) override;
  void work();
  void send_all();
  PacketRef packet_for(const CxlOut& out, const Port& port);
  bool is_answered(const CxlOut& out);

  const HostConfig config_;
  PacketPool& pool_;
  MemoryPort& memory_;
  Wakeup wakeup_;
  HomeAgent rules_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<Time> turns_;   // by token: since when the request has the turn of its line
  DueQueue<PacketRef> done_;  // what memory has done, at its time
  std::size_t in_memory_ = 0;
  Time memory_at_{};    // when memory has done what it is told of now
  Time inward_{};       // from the link to the directory: for what is done now
  bool counts_ = true;  // what is done now belongs to the measured part
  CxlOutput out_;       // scratch
  CxlOutput sent_;      // scratch
  const CxlStandIn stand_in_;
  std::uint64_t memory_errors_ = 0;
  Counts refusals_;  // by the gates
  const Observer* observer_ = nullptr;
  TranslationService* agent_ = nullptr;
  TokenPool<Check> checks_;
  std::uint64_t arrivals_ = 0;          // requests and recalls so far
  std::uint64_t fence_ = 0;             // those below it may use what has been invalidated
  bool is_waited_for_ = false;          // some of them may be left
  std::vector<PhysicalPages> recalls_;  // as soon as none is
  struct Recall {
    PhysicalPages pages;
    std::uint64_t before;
  };
  std::vector<Recall> told_of_;  // and nobody has heard that they are over
  RecallListener* listener_ = nullptr;
  std::function<bool()> recalls_early_;  // may be empty
};

}  // namespace flitwise
