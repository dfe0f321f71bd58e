// SPDX-License-Identifier: Apache-2.0
/// A stage of an RDMA adapter, as the adapter sees it: a module below it, without a process. The
/// adapter tells it when it is its turn (hca.h). [HP-5]
#pragma once

#include <systemc>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rdma/hca_dma_job.h"
#include "rdma/hca_result.h"

namespace flitwise {

/// When a stage asks to run.
struct HcaTurn {
  Time asks_from = Time::never(), next = Time::never();
};

class HcaModule : public sc_core::sc_module {
 public:
  explicit HcaModule(const char* name) : sc_module(sc_core::sc_module_name(name)) {}

  /// run() may move something from then on: what is due then, or waits for others to make room.
  Time asks_from() const { return turn_->asks_from; }
  /// When it goes on by itself; never where others have to make it go on.
  Time next() const { return turn_->next; }
  /// Where both are kept from now on, beside those of other stages.
  void keep_turn(HcaTurn& turn) {
    turn = *turn_;
    turn_ = &turn;
  }
  /// All that it can do now. False: nothing.
  virtual bool run(Time /*now*/) { return false; }
  /// After all that any stage could do now: it says anew when to ask.
  virtual void settle(Time /*now*/) {}
  /// A read or write of host memory that it has started is over.
  virtual void done(HcaJob& /*job*/, Time /*now*/) {}

  virtual bool is_quiet() const { return true; }
  /// It has work of the function at that place, beside work that has a state pinned.
  virtual bool holds(std::uint32_t /*place*/) const { return false; }
  /// For a report of what waits; empty where nothing does.
  virtual std::string waiting() const { return {}; }
  virtual void add_errors(std::map<std::string, std::uint64_t>& /*errors*/) const {}
  virtual void start_window(Time /*now*/) {
    accesses_ = access_bytes_ = accesses_over_ = 0;
    access_time_ = Time{};
  }
  /// never: it goes on after all.
  virtual void end_window(Time /*when*/) {}
  /// Of its queue, and of other resources that it has. place: the adapter.
  virtual void add_waits(const std::string& /*place*/, std::vector<WaitResult>& /*all*/) const {}
  virtual void add_more_waits(const std::string& /*place*/, Time /*now*/,
                              std::vector<WaitResult>& /*all*/) const {}
  /// Since the start of the window. What the adapter knows alone is left out.
  virtual HcaStageResult result(Time /*now*/) const {
    HcaStageResult row;
    row.stage = basename();
    row.entries = row.accesses = accesses_;
    row.bytes = access_bytes_;
    row.time_mean =
        accesses_over_ == 0 ? 0 : access_time_.ns() / static_cast<double>(accesses_over_);
    return row;
  }
  /// Of host memory, for it.
  void note_access(std::uint32_t bytes) {
    ++accesses_;
    access_bytes_ += bytes;
  }
  /// One is over, `span` behind when it might leave.
  void note_access_end(Time span) {
    ++accesses_over_;
    access_time_ += span;
  }

 protected:
  void ask_at(Time when) {
    turn_->asks_from = std::min(turn_->asks_from, when);
    turn_->next = std::min(turn_->next, when);
  }
  /// From `from` on others may make it go on; at `next` it goes on by itself.
  void ask(Time from, Time next) { *turn_ = {from, next}; }

 private:
  HcaTurn own_turn_;
  HcaTurn* turn_ = &own_turn_;
  std::uint64_t accesses_ = 0, access_bytes_ = 0, accesses_over_ = 0;
  Time access_time_{};
};

}  // namespace flitwise
