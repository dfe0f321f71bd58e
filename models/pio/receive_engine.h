// SPDX-License-Identifier: Apache-2.0
/// The receive engine of a device in time: frames come into a receive buffer for each VL, the
/// parser finds the domain that each is for, and the DMA engine writes payload and header apart to
/// host memory. Room in the buffer is free when the payload has left. [PIO-1.2]
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/component.h"
#include "common/due_queue.h"
#include "common/slot_list.h"
#include "common/wakeup.h"
#include "endpoint/endpoint.h"
#include "endpoint/engine.h"
#include "flitwise/config.h"
#include "memory/memory_port.h"
#include "network/nic_port.h"
#include "pio/packet_check.h"
#include "pio/pio_config.h"
#include "pio/pio_result.h"
#include "pio/receive_queue.h"
#include "stats/wait_book.h"

namespace flitwise {

struct ReceiveConfig {
  PioConfig pio;
  unsigned domains = 1;           ///< a packet is for the domain source modulo these [PIO-1.4]
  std::uint64_t buffer_base = 0;  ///< of domain 0
  std::uint64_t buffer_size = 0;  ///< of each; ReceiveQueue::kLeastBuffer or more
  PacketTraits sender;            ///< what its packets are like
};

class ReceiveEngine final : public ComponentModule, public Engine {
 public:
  /// What it needs from outside.
  struct Hooks {
    std::function<void()> work_appeared;       ///< there is something to write
    std::function<std::uint64_t()> peer_sent;  ///< frames, since the start
    /// Host memory; false: there is none at that address.
    std::function<bool(std::uint64_t address, std::uint8_t* bytes, std::size_t size)> peek;
    std::function<bool()> are_writes_lost;  ///< has the host refused some, or a link lost them?
  };
  /// Those of the engine of a device: what it is attached to, and the port of its peer.
  static Hooks hooks_at(Endpoint& endpoint, MemoryPort& memory, const NicPort& peer,
                        std::function<bool()> are_writes_lost);
  /// device: whose row of results it is.
  ReceiveEngine(const sc_core::sc_module_name& name, std::string device,
                const ReceiveConfig& config, NicPort& port, Hooks hooks);

  // ---- towards the shell of the device
  bool next(Time now, Transfer& transfer) override;
  Time next_at() const override {
    return waiting_.empty() ? Time::never() : packets_[waiting_.first].ready;
  }
  void finished(const TransferEnd& end) override;
  std::string waits_for() const override;

  // ---- towards the machine
  bool is_quiet() const override { return arriving_.empty() && packets_.open_count() == 0; }
  bool is_done() const override { return is_quiet(); }
  void add_progress(Progress& sum) const override {
    sum.steps += totals_.packets + totals_.payload_writes + totals_.header_writes;
  }
  Time last_end() const override { return last_end_; }
  std::string waiting() const override;
  void start_window() override;
  std::vector<WaitResult> waits() const override;
  void report(RunResult& result) const override;
  Counts errors() const override;
  std::vector<CheckResult> checks() const override;
  std::vector<CheckResult> checks_at_rest() const override;

 private:
  /// One that is in the receive buffer, or whose header has not left.
  struct Packet {
    FrameRef frame;  // its header entry stands behind its bytes
    ReceiveQueue::Place place;
    Time ready{};  // for the DMA engine
    unsigned domain = 0;
    std::uint32_t bytes = 0;
    unsigned writes = 0;  // that have not left
    bool is_payload_given = false;
    std::uint32_t next = kNobody;  // in a queue
    std::uint32_t payload_bytes() const {
      return bytes - std::min(bytes, ReceiveQueue::kHeaderBytes);
    }
  };
  /// One that came, to compare it with memory.
  struct Came {
    ReceiveQueue::Place place;
    std::uint32_t source = 0, bytes = 0;
    unsigned lane = 0;
    std::uint64_t payload_end() const {
      return place.payload + bytes - std::min(bytes, ReceiveQueue::kHeaderBytes);
    }
  };
  /// The last ones of a domain, by place in its queue.
  using LastOnes = std::array<Came, ReceiveQueue::kEntries>;

  void work();
  void receive(FrameRef frame, Time now);
  bool is_in_memory(const Came& came) const;
  std::size_t missing(unsigned domain) const;

  const std::string device_;
  const ReceiveConfig config_;
  NicPort& port_;
  const Hooks hooks_;
  Wakeup wakeup_;
  DueQueue<FrameRef> arriving_;
  TokenPool<Packet> packets_;
  TokenPool<Packet>::Queue waiting_;             // for the shell, in their order
  std::vector<ReceiveQueue> queues_;             // by domain
  std::vector<LastOnes> last_;                   // likewise
  Time next_parse_{}, last_end_{};               // last: of a write
  std::array<std::uint64_t, kVlQueues> held_{};  // bytes of the receive buffer, by lane
  std::uint64_t most_held_ = 0;                  // by any
  PacketCheck check_;
  PioReceiveResult totals_, before_;  // since the start of the run; at the begin of the window
  std::uint64_t dropped_headers_ = 0, dropped_payloads_ = 0;  // of ended contexts
  bool counts_ = false;                                       // the window has begun
  WaitBook waits_;
};

}  // namespace flitwise
