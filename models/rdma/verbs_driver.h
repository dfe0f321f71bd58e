// SPDX-License-Identifier: Apache-2.0
/// Software of a host that posts RDMA work requests on one function of an adapter, one thread: it
/// makes requests, rings the doorbell, looks at completion queues, and sees that each request does
/// once, in order, what it should (docs/rdma.md).
// Longer than 150 lines: a driver posts, polls, checks, and sets up again what was reset.
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
#include "common/ranges.h"
#include "common/wakeup.h"
#include "rdma/command_buffer.h"
#include "rdma/hca_result.h"
#include "rdma/ring_entries.h"
#include "rdma/verbs_config.h"
#include "rdma/verbs_parts.h"
#include "stats/latency_histogram.h"
#include "stats/open_wait.h"
#include "workload/flow_stream.h"
#include "workload/workload.h"

namespace flitwise {

class VerbsDriver final : public ComponentModule {
 public:
  using Memory = VerbsMemory;
  using Hooks = VerbsHooks;
  VerbsDriver(const sc_core::sc_module_name& name, std::string device,
              const VerbsDriverConfig& config, const WorkloadConfig& workload,
              const DeviceConfig& device_config, const RunConfig& run, Hooks hooks);

  /// begin: when it posts its first work request; it takes messages from now on.
  void start(Time now, Time begin);
  Time begin() const { return origin_; }
  /// Of workloads of kind flows: a flow more to the peer of that place, from its start on, which
  /// counts from begin().
  void post(std::uint32_t peer, const Flow& flow);
  /// An entry of a completion queue will be there then.
  void completion_at(Time when);
  /// The software of a peer, in the order of the configuration.
  void compare_with(const VerbsDriver& peer) { peers_.push_back(&peer); }
  /// The adapter tells of that completion queue, which software has armed. [RDM-11]
  void interrupt(std::uint32_t queue, Time when);
  /// Its function was reset: what is posted will have no completion, and it posts no more. [HP-4]
  void go_down();
  /// The queue pairs are there anew, and it goes on. epoch: of its connections.
  void come_up(std::uint32_t epoch, Time now);

  bool is_quiet() const override {
    return posted_ == completed_ && !is_posting_ && coming_.empty() &&
           next_handler() == Time::never();
  }
  /// Its device serves its peers as well.
  bool is_exhausted() const override {
    return has_ended() && all_of(peers_, [](const VerbsDriver* peer) { return peer->has_ended(); });
  }
  bool is_done() const override {
    return is_exhausted() && is_quiet() &&
           all_of(peers_, [](const VerbsDriver* peer) { return peer->is_quiet(); });
  }
  Time next_own_work() const override;
  Time last_end() const override { return last_done_; }
  void add_progress(Progress& sum) const override;
  std::string waiting() const override;
  void start_window() override;
  void end_window() override;
  void extend_window() override;
  std::vector<WaitResult> waits() const override;
  void report(RunResult& result) const override;
  Counts errors() const override;
  std::vector<CheckResult> checks() const override;
  std::vector<CheckResult> checks_at_rest() const override;

 private:
  using Request = VerbsRequest;
  using Pair = VerbsPair;

  bool has_given_out() const { return is_exhausted_ && !has_item_; }
  bool has_ended() const { return is_down_ || has_given_out(); }
  void provide();
  void work();
  Time next_look() const;
  Time next_handler() const { return std::min(handler_at_[0], handler_at_[1]); }
  bool look(Time now);
  void arm(std::uint32_t queue) { hooks_.arm({queue, static_cast<std::uint32_t>(looked_[queue])}); }
  bool take_completion(bool is_receive, Time now);
  void retire(const WorkCompletion& completion, Time now);
  void give_up(Pair& pair);
  void take_message(const WorkCompletion& completion);
  // Of payload that came; what forged frames have left nobody knows.
  void expect_bytes(bool are_right) { corrupted_ += are_right || config_.is_attacked ? 0 : 1; }
  void post_receive(std::uint32_t pair);
  bool begin_post(Time now);
  bool take_item(Time now);
  bool take_piece(Time now);
  void load();
  void tell_end();
  void drop_item();
  WorkOpcode draw();
  bool has_room(std::uint32_t pair, Time now);
  bool is_place_free(std::uint32_t pair);
  void finish_post();
  bool uses_command() const {
    return config_.verbs.most_inline > 0 && payload_of_item() <= config_.verbs.most_inline;
  }
  // In a command; what the peer answers with is in none.
  std::uint32_t payload_of_item() const { return is_read_or_atomic(opcode_) ? 0 : item_.bytes; }
  void push(SendEntry& entry, const Command& command);
  Request& request_of(std::uint32_t pair, std::uint32_t number) {
    return requests_[std::uint64_t{pair} * places_ + number % places_];
  }
  bool is_at_peer(std::uint32_t pair, std::uint32_t number, const Request& request) const;
  void fill(std::uint64_t stamp, std::uint32_t bytes) const;
  bool has_stamp(const Memory& memory, std::uint64_t address, const Request& request) const;
  std::uint32_t pair_of_item() const { return to_int(item_.domain); }
  const Memory& memory_of_peer(std::uint32_t pair) const {
    return hooks_.peers[config_.pair(pair) / config_.hca.pairs_of_each()];
  }

  const std::string device_;
  const VerbsDriverConfig config_;
  const WorkloadConfig workload_;
  const Hooks hooks_;
  const std::uint32_t places_;
  Wakeup wakeup_;
  Random random_;
  std::unique_ptr<Workload> stream_;
  std::optional<FlowPosts> flows_;  // in its place, of kind flows
  std::uint64_t total_ = 0;
  std::vector<Pair> pairs_;
  std::vector<Request> requests_;  // by queue pair and place
  std::vector<const VerbsDriver*> peers_;

  Time origin_ = Time::never();
  Time free_{};            // of what it does
  UseClock thread_;        // in use up to then
  DueQueue<bool> coming_;  // entries of completion queues, until they are taken
  Time last_coming_{};
  WorkItem item_;
  WorkOpcode opcode_ = WorkOpcode::kWrite;  // of the item
  Time begun_{};
  bool has_item_ = false, is_exhausted_ = true, is_posting_ = false, waits_for_place_ = false;
  // Of each completion queue: entries so far, and when the handler of its event goes on.
  std::uint64_t looked_[kCompletionQueues] = {};
  Time handler_at_[kCompletionQueues] = {Time::never(), Time::never()};
  std::uint64_t posted_ = 0, completed_ = 0, received_ = 0;
  std::uint64_t disordered_ = 0, corrupted_ = 0;
  Counts errors_;
  OpenWait queue_wait_, completions_wait_;
  WaitBook queue_waits_, completions_waits_;
  LatencyHistogram latency_;
  VerbsResult totals_, before_;
  Time last_done_{}, window_begin_{}, window_end_ = Time::never();
  bool counts_ = false, has_told_ = false, is_down_ = false;  // its function is down
  std::uint32_t epoch_ = 0;                                   // of its connections
  std::uint64_t not_posted_ = 0, lost_ = 0;  // of queue pairs in error; of functions reset
  std::vector<std::uint8_t> command_;
  mutable std::vector<std::uint8_t> bytes_, seen_;
};

}  // namespace flitwise
