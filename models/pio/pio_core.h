// SPDX-License-Identifier: Apache-2.0
/// A core of the host whose threads send packets by PIO: it reads what they send, stores it into
/// its store buffer, and lets full blocks leave as posted writes (docs/pio.md). A thread counts the
/// credits of its contexts, and waits where they do not suffice.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/component.h"
#include "common/due_queue.h"
#include "common/random.h"
#include "common/wakeup.h"
#include "flitwise/config.h"
#include "flitwise/link_socket.h"
#include "pio/context_recovery.h"
#include "pio/host_core.h"
#include "pio/hostile_writes.h"
#include "pio/packet_writer.h"
#include "pio/pio_config.h"
#include "pio/pio_thread.h"
#include "stats/open_wait.h"
#include "stats/wait_book.h"

namespace flitwise {

class PioCore final : public ComponentModule {
 public:
  /// What the core needs from outside.
  struct Hooks {
    /// Has the IIO room for a posted write to the device? wake() when it has again.
    std::function<bool()> has_room;
    /// A posted write to an offset of BAR 0.
    std::function<void(std::uint64_t offset, const std::uint8_t* bytes, std::size_t size)> write;
    /// Eight bytes of host memory, as software finds them now.
    std::function<std::uint64_t(std::uint64_t address)> look;
    /// And as they stand there at the end, to compare.
    std::function<std::uint64_t(std::uint64_t address)> look_at_rest;
    /// Blocks of a context that the device has returned, to compare.
    std::function<std::uint64_t(unsigned context)> returned;
    std::function<bool()> are_returns_lost;  ///< has the host refused writes?
    RecoveryAccess recovery;
    /// A packet of that domain, which has come at `when`, goes by SDMA; false: no room for it.
    std::function<bool(unsigned domain, std::uint32_t payload, unsigned vl, Time when)>
        send_by_sdma;
    /// A packet is about to be written from that slot on. It has come at `when`.
    std::function<void(unsigned context, unsigned slot, Time when)> begins;
    std::function<void()> given_up;    ///< a packet is not sent, since the device is gone
    std::function<void()> work_ended;  ///< its threads have nothing more to send
  };
  PioCore(const sc_core::sc_module_name& name, const PioCoreConfig& config,
          const WorkloadConfig& workload, const DeviceConfig& device, const RunConfig& run,
          Hooks hooks);

  void start(Time now);
  bool waits_for_room() const { return room_wait_.is_open(); }  ///< a write, in the IIO
  void wake() { wakeup_.at(flitwise::now()); }                  ///< the IIO has room
  void device_was_reset();  ///< the driver says so: contexts are to be recovered [PIO-9.9]
  /// The credit interrupt of a context of that thread comes to the host then.
  void interrupt(unsigned thread, Time when);
  /// Without the packets of hostile processes.
  PioSent sent() const { return {packets_, written_bytes_, is_quiet()}; }

  bool is_quiet() const override;
  bool is_exhausted() const override;
  bool is_done() const override { return is_exhausted() && is_quiet(); }
  Time next_own_work() const override;
  Time waits_until() const override;
  Counts errors() const override;
  void add_progress(Progress& sum) const override;
  std::string waiting() const override;
  void start_window() override;
  void end_window() override { window_end_ = flitwise::now(); }
  void extend_window() override { window_end_ = Time::never(); }
  std::vector<WaitResult> waits() const override;
  std::vector<CheckResult> checks_at_rest() const override;

 private:
  using Context = PioThread::Context;
  using Packet = PioThread::Packet;
  using Thread = PioThread;
  void work();
  void catch_up(Time now);
  void release_due(Time now);
  bool is_unseen() const;
  void run(unsigned number, Time now);
  bool load(Thread& thread, Time now);
  bool begin_packet(Thread& thread, Time now);
  bool goes_by_sdma(const Thread& thread) const;  // pio_core_sdma.cpp
  bool send_by_sdma(Thread& thread, Time now);
  bool has_room(Time now);
  void note_blocked_iio(Thread& thread, Time now) const;
  static void spend(Thread& thread, Time span, Time& sum, Time now) {
    thread.free = now + span;
    sum += span;
  }
  WaitResult work_of_threads() const;
  WaitResult wait_for_credits() const;
  unsigned next_vl(const Context& context) const {
    const bool is_by_packet = config_.cores.vl_choice == VlChoice::kPacket;
    return vl_of_queue(static_cast<unsigned>((is_by_packet ? context.packets : context.number) %
                                             config_.cores.vls));
  }
  bool look_at_credits(Thread& thread, Context& context, Time now);
  void end_credit_wait(Thread& thread, const Context& context, Time now);
  void recover(unsigned number);
  void recovered(Thread& thread, ContextRecovery::Outcome outcome);
  void give_up(Thread& thread, Time now);
  void write_anything(Thread& thread, Time now);
  void await_credits(Thread& thread, const Context& context, unsigned blocks, Time now);
  void let_interrupt(Thread& thread, const Context& context, bool is_on);
  static void force(Thread& thread, const Context& context, Time now);
  bool is_force_due(const Thread& thread, const Context& context, Time now) const;
  bool store_block(unsigned number, Time now);
  bool fence(unsigned number, Time now);
  void drain(Time now);
  void stall(unsigned number, Time now, bool is_stalled);
  bool needs_releases() const;
  bool holds_no_block() const;
  bool may_store(const Thread& thread) const;
  std::uint64_t address_of(const Packet& packet) const;
  Time next_of(const Thread& thread) const;
  bool prepare_block(unsigned number, Time now);
  Time time_of_stores() const;

  const PioCoreConfig config_;
  const Hooks hooks_;
  Wakeup wakeup_;
  HostCore core_;
  const bool is_simple_;  // one thread that stores alone, in order and without fences
  std::vector<Thread> threads_;
  DueQueue<const StoreBlock*> releases_;
  Random random_;
  Time origin_ = Time::never();
  unsigned senders_ = 0;           // threads that have packets to send
  Time storing_{}, describing_{};  // by all threads, in the window
  Time window_begin_{}, window_end_ = Time::never();
  std::uint64_t packets_ = 0, blocks_ = 0, written_bytes_ = 0, given_up_ = 0;
  std::uint64_t hostile_packets_ = 0;  // or what stands in their place
  PacketWriter writer_;
  OpenWait room_wait_;  // a write waits for room in the IIO
  WaitBook place_waits_, credit_waits_, room_waits_, fence_waits_, ring_waits_, recovery_waits_;
  WaitBook deep_credit_waits_;  // of credit_waits_, those for deep contexts
};

}  // namespace flitwise
