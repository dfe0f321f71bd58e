// SPDX-License-Identifier: Apache-2.0
/// The border to host memory, and the only place where packets meet generic payloads: an initiator
/// of the TLM-2.0 base protocol that works with any memory model (early completion or all four
/// phases).
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <systemc>
#include <tlm>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/component.h"
#include "flitwise/cxl.h"
#include "flitwise/link_socket.h"
#include "flitwise/packet.h"
#include "flitwise/time.h"
#include "memory/seen_words.h"
#include "stats/wait_book.h"

namespace flitwise {

class MemoryClient;

/// One access. data: the bytes read; of an atomic the old value, and behind it the new one.
struct MemoryTransaction : tlm::tlm_generic_payload {
  MemoryClient* client = nullptr;
  PacketRef packet;
  Time ready{};             ///< it reaches the memory then
  bool is_waiting = false;  ///< the memory did not take it at once
  bool is_atomic = false;   ///< a read whose write has to follow at once
  std::array<std::uint8_t, 4096> data;
  std::array<std::uint8_t, kCxlLineBytes> byte_enables;
};

class MemoryClient {
 public:
  virtual ~MemoryClient() = default;
  /// The access is done at `when` (at or after now); its payload is read-only and gone afterwards.
  virtual void memory_done(const MemoryTransaction& transaction, Time when) = 0;
  /// The memory has ended the request phase of an access that submit() said it did not take.
  virtual void memory_took(const MemoryTransaction& /*transaction*/) {}
};

/// Sees each access that a root port lets into host memory, and changes nothing. address: where in
/// memory, after translation.
using MemoryWatch = std::function<void(const Packet& packet, std::uint64_t address)>;

class MemoryPort : public ComponentModule, private tlm::tlm_mm_interface {
 public:
  tlm_utils::simple_initiator_socket<MemoryPort> socket{"socket"};

  /// place: of its waits in results.
  explicit MemoryPort(const sc_core::sc_module_name& name, std::string place = {});

  /// Accesses memory for a memory request TLP, `delay` from now. Accesses start in the order of the
  /// calls. A read covers whole DWs; a write touches the enabled bytes only. An atomic reads and
  /// then writes, if there is something to write, and no other access comes between [LNK-9.29]; the
  /// client hears of the last of the two. False: the memory has not taken the request yet.
  bool submit(MemoryClient& client, PacketRef packet, Time delay) {
    const std::uint64_t address = packet->tlp.address;
    return submit(client, std::move(packet), address, delay);
  }
  /// At another address than the request names: a translated one. For a message of CXL.mem its
  /// line, which is read, or written where it is enabled.
  bool submit(MemoryClient& client, PacketRef packet, std::uint64_t address, Time delay);
  /// Untimed access for software and scripts; false where the memory cannot serve it whole.
  bool poke(std::uint64_t address, const std::uint8_t* bytes, std::size_t size);
  bool peek(std::uint64_t address, std::uint8_t* bytes, std::size_t size) {
    return access(tlm::TLM_READ_COMMAND, address, bytes, size);
  }
  /// What software sees from now on of the words of these areas (SeenWords), whoever writes them.
  SeenWords& watch(std::uint64_t base, std::uint64_t stride, std::uint64_t areas) {
    return watch(SeenWords(base, stride, areas));
  }
  SeenWords& watch(SeenWords words) {
    return *seen_.emplace_back(std::make_unique<SeenWords>(std::move(words)));
  }
  /// One little-endian word of a table; 0 where there is no memory.
  bool poke_u64(std::uint64_t address, std::uint64_t value);
  std::uint64_t peek_u64(std::uint64_t address);

  std::size_t in_flight() const { return all_.size() - idle_.size(); }
  bool is_quiet() const override { return in_flight() == 0; }
  void add_progress(Progress& sum) const override {
    sum.memory_done = std::max(sum.memory_done, done_);
  }
  void start_window() override { waits_.start_window(now()); }
  /// Until the memory takes the request before.
  std::vector<WaitResult> waits() const override {
    return {waits_.result({place_, "requests", ResourceRole::kQueue})};
  }
  void report(RunResult& result) const override {
    result.memory_asked = std::max(result.memory_asked, asked_);
    result.memory_done = std::max(result.memory_done, done_);
  }

 private:
  tlm::tlm_sync_enum response(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                              sc_core::sc_time& delay);
  void fill(MemoryTransaction& transaction, std::uint64_t address);
  void fill_line(MemoryTransaction& transaction);
  void send(MemoryTransaction& transaction, Time delay);
  void end_request(MemoryTransaction& transaction);
  bool write_back(const MemoryTransaction& read);
  bool may_send() const { return open_request_ == nullptr && atomic_ == nullptr; }
  bool access(tlm::tlm_command command, std::uint64_t address, std::uint8_t* bytes,
              std::size_t size);
  void finish(MemoryTransaction& transaction, Time when);
  void note_write(const MemoryTransaction& write, Time when);
  MemoryTransaction& take();
  void free(tlm::tlm_generic_payload* payload) override;

  const std::string place_;
  Time asked_{}, done_{};  // the last access was given to memory, and is over
  std::vector<std::unique_ptr<MemoryTransaction>> all_;
  std::vector<MemoryTransaction*> idle_;
  std::deque<MemoryTransaction*> waiting_;  // the memory has not ended the request before them
  std::vector<std::unique_ptr<SeenWords>> seen_;
  WaitBook waits_;
  MemoryTransaction* open_request_ = nullptr;  // its request phase has not ended
  const MemoryTransaction* atomic_ = nullptr;  // the read of one: its write comes next
};

}  // namespace flitwise
