// SPDX-License-Identifier: Apache-2.0
/// DMA of an RDMA adapter: what its stages read and write in host memory, as an engine of the
/// device. In: jobs of any stage. Out: transfers in the order in which they may go, and word to the
/// stage when one is over. Latency: that of the link and of host memory. It never refuses: states
/// are bounded by the cache of them, payload by the memories of it, entries by one read a ring,
/// completions by their queue.
#pragma once

#include <boost/circular_buffer.hpp>
#include <boost/ptr_container/ptr_vector.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/due_queue.h"
#include "endpoint/engine.h"
#include "rdma/hca_module.h"
#include "rdma/hca_pairs.h"

namespace flitwise {

/// Numbers in order that are done in any order.
class DoneInOrder {
 public:
  /// A new one, from 1 on.
  std::uint64_t take() {
    make_room(is_done_);
    is_done_.push_back(false);
    return through_ + is_done_.size();
  }
  void done(std::uint64_t number) {
    is_done_[number - through_ - 1] = true;
    while (!is_done_.empty() && is_done_.front()) {
      is_done_.pop_front();
      ++through_;
    }
  }
  /// All up to this one are done.
  std::uint64_t through() const { return through_; }

 private:
  boost::circular_buffer<bool> is_done_ = boost::circular_buffer<bool>(16);  // grows
  std::uint64_t through_ = 0;
};

class HcaDma final : public HcaModule, public Engine {
 public:
  using Kind = HcaJobKind;
  using Job = HcaJob;

  /// work_appeared: next() is worth asking again. wake: something is done then.
  /// pairs: of its jobs; those of a function that is down come to nothing.
  HcaDma(std::function<void()> work_appeared, std::function<void(Time)> wake, const HcaPairs& pairs)
      : HcaModule("dma"),
        work_appeared_(std::move(work_appeared)),
        wake_(std::move(wake)),
        pairs_(pairs) {}

  // ---- for the stages
  /// A record to fill, for start(): empty but for the capacity of `own`. owner: told of its end.
  Job& make(HcaModule& owner, Kind kind, bool is_read);
  void start(Job& job, Time now);
  /// Some function is down from now on: its jobs that wait here end.
  void drop_down(Time now);
  /// Payload and results that go to memory: who tells of it waits for them.
  std::uint64_t take_payload_number() { return payload_.take(); }
  void payload_done(std::uint64_t number);
  bool is_payload_done(std::uint64_t number) const { return payload_.through() >= number; }

  // ---- a stage itself
  bool run(Time now) override;
  void settle(Time /*now*/) override { ask(done_.next(), done_.next()); }
  bool holds(std::uint32_t place) const override;
  bool is_quiet() const override { return free_.size() == records_.size(); }
  void start_window(Time now) override;
  HcaStageResult result(Time now) const override;
  void add_errors(std::map<std::string, std::uint64_t>& errors) const override {
    errors["failed_dma"] += failed_;
  }

  // ---- for the shell of the device
  bool next(Time now, Transfer& transfer) override;
  Time next_at() const override;
  void finished(const TransferEnd& end) override;
  void data(std::uint32_t token, std::uint64_t offset, const std::uint8_t* bytes,
            std::size_t size) override;
  bool is_done() const override { return is_quiet(); }
  std::string waits_for() const override;

  /// Rings, states and completion queues, since the start of the run.
  std::uint64_t static_accesses() const;
  /// Accesses to static structures name these from now on, and are made in the name of the first
  /// domain of their function.
  void use_structures(std::uint32_t functions) { functions_ = functions; }
  /// A TLP of the job has touched a structure.
  void touched(std::uint32_t token, bool is_translated) {
    Job& job = records_[token];
    (is_translated ? job.was_translated : job.was_untranslated) = true;
  }
  /// Of static structures.
  struct StaticReads {
    std::uint64_t count = 0;
    Time span{};  ///< in all, from when they could leave to their data
    double mean_ns() const { return count == 0 ? 0 : span.ns() / static_cast<double>(count); }
  };
  const StaticReads& static_reads(bool was_translated) const {
    return static_reads_[was_translated ? 0 : 1];
  }
  /// Accesses whose address was translated ahead of use.
  std::uint64_t pretranslated() const { return pretranslated_; }

 private:
  struct Done {
    std::uint32_t token = 0;
    bool is_ok = true;
  };
  // Entries of completion queues, and interrupts, keep their order: one that waits holds up those
  // behind it, and waits for those before it.
  bool may_go(const Job& job) const {
    return job.needs <= payload_.through() && (!tells(job.kind) || plain_ == 0);
  }
  void drop(const Job& job, Time now);
  void set_address(const Job& job, Transfer& transfer) const;

  const std::function<void()> work_appeared_;
  const std::function<void(Time)> wake_;
  const HcaPairs& pairs_;
  boost::ptr_vector<Job> records_;
  std::vector<std::uint32_t> free_;
  boost::circular_buffer<std::uint32_t> queue_{64};  // tokens; grows
  boost::circular_buffer<std::uint32_t> gated_{64};  // likewise, of those with needs
  std::uint32_t plain_ = 0, waiting_ = 0;            // completions in the one and in the other
  DueQueue<Done> done_;
  DoneInOrder payload_;
  std::uint64_t counts_by_kind_[kHcaJobKinds] = {};
  std::uint64_t failed_ = 0, pretranslated_ = 0;
  std::array<StaticReads, 2> static_reads_{};
  HcaStageResult row_;  // of the window
  Time spent_{};        // of the jobs of the window that are over, from when they might go
  std::uint64_t over_ = 0;
  bool counts_ = false;
  std::uint32_t functions_ = 0;  // with structures of their own; 0: none has
};

}  // namespace flitwise
