// SPDX-License-Identifier: Apache-2.0
/// The traffic engine: turns the workload's items into transfers, with an issue interval, a bound
/// on reads in flight, and the dependencies inside a message. As a component of a machine it tells
/// what its requests waited for; what it waits for now is told by the device or agent that asks it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/component.h"
#include "config_space/config_space.h"
#include "endpoint/engine.h"
#include "flitwise/config.h"
#include "stats/wait_book.h"
#include "workload/workload.h"

namespace flitwise {

class DmaEngine final : public Engine, public Bystander, private RegionOwner {
 public:
  /// What the engine needs from outside.
  struct Hooks {
    std::function<void(const WorkItem&, std::uint32_t token)>
        ring;                               ///< host software writes a doorbell
    std::function<void()> counting_starts;  ///< the first counted request is about to be issued
    std::function<void()> work_appeared;    ///< next() is worth asking again
    std::function<void()> work_ended;       ///< the workload has nothing more to give, called once
  };

  /// A kind of its requests, and their way.
  struct Route {
    Op op = Op::kRead;
    RequestRoute route;
  };

  /// name: that its waits have as their place; direction: of its requests, "up" or "down".
  /// `clock`: of whoever asks it for work, the device or the host's cores. It is asked on an edge
  /// at the earliest, and what that takes from an issue interval is made up for in the next.
  DmaEngine(std::string name, const char* direction, const WorkloadConfig& workload,
            const DeviceConfig& device, const RunConfig& run, Time clock, Hooks hooks);
  void add_route(Route route) { routes_.push_back(std::move(route)); }
  /// Writes that the link has lost on their way to the device: doorbells may be among them. Without
  /// it doorbells are not checked.
  void ask_losses(std::function<std::uint64_t()> losses) { losses_ = std::move(losses); }

  /// Work is given out, and its arrival times count, from here on; the first request goes at some
  /// time or other of the first issue interval.
  void start(Time now) { origin_ = earliest_ = now + phase_; }
  /// Where BARs of peers are: requests there are counted apart.
  void set_peers(const AddressRange& bars) { peers_ = bars; }

  bool next(Time now, Transfer& transfer) override;
  Time next_at() const override;
  void finished(const TransferEnd& end) override;
  /// Doorbells: the upper half of BAR 0 of all functions.
  void claim(BarMap& map) override { map.claim(doorbell_area_, *this); }
  /// The doorbell with this token has reached the device. One that nobody waits for is counted.
  void doorbell_arrived(std::uint32_t token);
  bool is_done() const override { return is_exhausted_ && reads_ == 0 && busy_messages_ == 0; }
  /// The workload has nothing more to give; messages and reads may be under way.
  bool is_exhausted() const override { return is_exhausted_; }
  void end_work() override;  ///< what has not begun never does
  std::string waits_for() const override;
  Time next_own_work() const override { return next_at(); }
  void add_progress(Progress& sum) const override;
  void start_window() override;
  void end_window() override;
  void extend_window() override;
  /// Of the read that goes next, for the end of one that is out, and of the message that does.
  std::vector<WaitResult> waits() const override;
  void report(RunResult& result) const override;
  Counts errors() const override { return {{"stray_doorbell", stray_doorbells_}}; }
  std::vector<CheckResult> checks() const override;
  /// Host software has been asked to write a doorbell.
  void note_ring() { ++rung_; }
  std::uint64_t rung() const { return rung_; }            ///< doorbells
  std::uint64_t doorbells() const { return doorbells_; }  ///< that have arrived

 private:
  /// Messages of several items that are in flight at once. model: a device keeps so many.
  static constexpr std::size_t kMessages = 64;
  static constexpr std::size_t kMostItems = 8;

  /// A message of several items: they go in order, some only after the one before is complete.
  struct Message {
    std::array<WorkItem, kMostItems> items;
    std::uint64_t number = 0;  // in the stream, from 1
    std::size_t count = 0;
    std::size_t next = 0;
    bool is_waiting = false;  // for the completion of the item before `next`
    unsigned in_flight = 0;
    unsigned doorbells = 0;  // rung and not arrived
    bool counts = true;
    bool is_free() const { return count == 0; }
  };

  /// The first four bytes of a doorbell are its token.
  void mmio_write(const MmioPlace& place, const std::uint8_t* bytes, std::size_t size,
                  Time now) override;
  void mmio_read(const MmioRead& read, BarAccess& access, Time now) override;
  bool next_of_message(Time now, Transfer& transfer);
  bool issue(std::size_t slot, Time now, Transfer& transfer);
  bool next_from_stream(Time now, Transfer& transfer);
  bool load();
  void take_message();
  bool is_held_up(Op op, Time now);
  void fill(const WorkItem& item, std::uint32_t token, bool counts, Time now, Transfer& transfer);
  bool is_end_passed_on(DomainId domain, std::uint64_t number);
  void note_start();
  void item_done(std::uint32_t token);

  const char* const direction_;
  Hooks hooks_;
  std::vector<Route> routes_;
  std::function<std::uint64_t()> losses_;
  std::unique_ptr<Workload> workload_;
  Time interval_, clock_;
  Time phase_;  // within the first interval, drawn from the seed
  std::uint64_t warmup_;
  unsigned limit_;
  BarRegion doorbell_area_;
  WorkItem item_;  // the next one of the stream
  bool has_item_ = false, is_exhausted_ = false, counts_ = false;
  Time origin_{};
  Time asked_{};                        // for work, the last time
  Time earliest_ = Time::never();       // issue interval
  unsigned reads_ = 0;                  // in flight
  Time held_up_since_ = Time::never();  // a read waits for one of them to end
  WaitBook outstanding_waits_;
  UseClock outstanding_use_;
  AddressRange peers_;
  std::array<std::uint64_t, 4> issued_{}, to_peers_{};  // by Op, in the window
  Time full_since_ = Time::never();  // a message waits for the end of one of kMessages
  WaitBook message_waits_;
  Time window_begin_{}, window_end_ = Time::never();
  std::uint64_t total_;                    // messages of the whole run
  std::uint64_t started_ = 0, ended_ = 0;  // messages, and those of one transfer that are over
  std::uint64_t given_ = 0, failed_ = 0;   // transfers, and those that ended without success
  std::uint64_t ended_steps_ = 0, ended_messages_ = 0;  // transfers of the others, and these
  std::uint64_t rung_ = 0, doorbells_ = 0, stray_doorbells_ = 0;
  std::vector<Message> messages_;
  std::size_t busy_messages_ = 0, turn_ = 0;
};

}  // namespace flitwise
