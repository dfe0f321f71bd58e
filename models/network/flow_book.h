// SPDX-License-Identifier: Apache-2.0
/// Flows between hosts of a network: which of them may start, and how long those took that are
/// over.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "flitwise/time.h"
#include "results/tables.h"
#include "stats/flow_times.h"
#include "workload/flow.h"

namespace flitwise {

struct NetworkFlowResult {
  std::uint32_t id = 0;
  std::string source, destination;
  std::uint64_t bytes = 0;
  Time start{};
  Time taken{};  ///< from its start to its last byte at the receiver
  Time ideal{};  ///< with the network for itself
};
const StatisticsTable& network_flow_table();
const StatisticsTable& flow_time_table();

class FlowBook {
 public:
  explicit FlowBook(std::unique_ptr<FlowSource> source);

  /// When the next flow starts; never: none does by itself.
  Time next_start() const;
  /// The next flow, which starts now. REQUIRES: next_start() has come.
  Flow start(Time now);
  /// It goes in so many parts, which have its id.
  void split(const Flow& flow, unsigned parts);
  /// A part of it has come. True: the last one; `part` becomes the whole flow.
  bool is_whole(Flow& part);
  /// All its bytes have arrived. Those that waited for it may start.
  void over(const Flow& flow, Time taken, Time ideal);

  bool is_done() const { return started_ == over_ && next_start() == Time::never(); }
  std::uint64_t total() const { return total_; }
  std::uint64_t started() const { return started_; }
  std::uint64_t finished() const { return over_; }
  std::vector<NetworkFlowResult> flows() const { return results_; }
  std::vector<FlowTimesRow> times() const { return times_.rows(); }

 private:
  /// So many flows have a row of their own; of those behind them only the times are kept.
  static constexpr std::size_t kMostRows = 4096;
  struct Split {
    Flow whole;
    unsigned left = 0;  // parts that have not come
  };
  void read();

  std::unique_ptr<FlowSource> source_;
  std::uint64_t total_ = 0, started_ = 0, over_ = 0;
  std::optional<Flow> next_;                        // read ahead, starts by itself
  std::multimap<std::uint32_t, Flow> waiting_;      // by the flow that they wait for
  std::multimap<Time, Flow> ready_;                 // by when they may start
  std::unordered_map<std::uint32_t, Split> split_;  // by flow, of those in several parts
  std::vector<bool> is_over_;                       // by flow, of patterns that wait
  std::vector<NetworkFlowResult> results_;
  FlowTimes times_;
};

}  // namespace flitwise
