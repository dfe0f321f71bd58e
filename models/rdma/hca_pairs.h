// SPDX-License-Identifier: Apache-2.0
/// The queue pairs of an RDMA adapter, by functions, which all of its stages know.
#pragma once

#include <boost/ptr_container/ptr_vector.hpp>

#include <cstdint>
#include <vector>

#include "common/ranges.h"
#include "common/slot_list.h"
#include "hca/qp_state_cache.h"
#include "rdma/hca_commands.h"
#include "rdma/hca_config.h"
#include "rdma/queue_pair.h"
#include "rdma/ring_entries.h"

namespace flitwise {

/// A queue pair: its rules, and where its rings and timers stand.
struct HcaPair {
  HcaPair(const HcaConfig& config, std::uint32_t number, MemoryKeys& keys, CompletionQueue& sends,
          CompletionQueue& receives)
      : peer(config.peer_of(number).adapter),
        buffers(config.rdma.queue),
        rules(config.setup(number), keys, sends, receives, buffers, false) {}
  const unsigned peer;  ///< number of the adapter at its other end
  RdmaBuffers buffers;
  QueuePair rules;
  HcaRing send, receive;
  HcaCommands::Queue commands, payloads;  ///< work requests to be posted; payload of others
  Slot entry = kNoSlot;                   ///< of its state, while that is pinned
  std::uint32_t pins = 0;                 ///< of that, by work
  bool is_kicked = false, is_ready = false;
  bool waits_for_rnr = false, has_timer = false;
  bool timer_runs = false;         ///< by the rules, when they were asked last
  std::uint64_t last_payload = 0;  ///< number of the last that goes to memory for it
  std::uint64_t progress = 0;      ///< as the timer has seen it
  Time progress_at{};
  Time rnr_due{};                             ///< while it waits_for_rnr
  std::vector<std::uint8_t> state_in_memory;  ///< as it was written there last
};

/// What the queue pairs of a function share. A key of another function names nothing. [HP-4]
struct HcaFunction {
  HcaFunction(const HcaConfig& config, std::uint32_t place)
      : keys(config.pairs_of(place) * kPairRegions),
        sends(config.rdma.cq),
        receives(config.rdma.cq) {}
  MemoryKeys keys;
  CompletionQueue sends, receives;
  bool has_completions = false;  ///< that wait for room
  /// It was reset, and software has not set it up again. [HP-4]
  bool is_down = false;
};

/// All queue pairs of an adapter, by functions.
class HcaPairs {
 public:
  explicit HcaPairs(const HcaConfig& config);
  /// Its queue pairs are in RESET and have nothing posted, its regions and completions are gone;
  /// work with them that is under way comes to nothing. [HP-4]
  void reset(std::uint32_t place);
  /// Software has registered its regions again, and connects the queue pairs.
  void set_up(std::uint32_t place, std::uint32_t epoch);
  /// They go to RTS: management of connections is not modelled. Both ends have told each other
  /// their first PSNs of that epoch.
  void connect(std::uint32_t place, std::uint32_t epoch);
  /// Work with one of them has its state. [HP-3]
  bool are_pinned(std::uint32_t place);
  bool is_down(std::uint32_t pair) const { return functions_[config_.place_of(pair)].is_down; }
  /// The physical function has not put the adapter out of service. [HP-9]
  bool are_served() const { return are_served_; }
  void serve(bool are_served) { are_served_ = are_served; }

  HcaPair& operator[](std::uint32_t pair) { return pairs_[pair]; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(pairs_.size()); }
  auto begin() const { return pairs_.begin(); }
  auto end() const { return pairs_.end(); }
  /// Of turns, by function; empty: all alike. [HP-8]
  const std::vector<unsigned>& weights() const { return weights_; }
  /// False, and nothing has changed: no such share.
  bool set_weight(const ShareCommand& command) {
    const bool is_good = command.function < weights_.size() && command.weight > 0 &&
                         command.weight <= ShareCommand::kMostWeight;
    if (is_good) {
      weights_[command.function] = command.weight;
    }
    return is_good;
  }
  HcaFunction& function(std::uint32_t place) { return functions_[place]; }
  HcaFunction& function_of(std::uint32_t pair) { return function(config_.place_of(pair)); }

  /// Which function it belongs to, and its number there. [HP-4]
  QpTag tag_of(std::uint32_t pair) const {
    return {config_.place_of(pair), config_.index_of(pair)};
  }
  std::uint32_t pair_of(QpTag tag) const {
    return tag.number * config_.function_count() + tag.function;
  }
  std::uint64_t sum_of(QpCounter counter) const {
    return flitwise::sum_of<std::uint64_t>(
        pairs_, [&](const HcaPair& pair) { return pair.rules.count(counter); });
  }

 private:
  void add_regions(std::uint32_t pair);
  template <class Visit>
  void for_each(std::uint32_t place, Visit visit) {
    for (std::uint32_t pair = place; pair < size(); pair += config_.function_count()) {
      visit(pair, pairs_[pair]);
    }
  }

  const HcaConfig& config_;
  bool are_served_ = true;
  std::vector<unsigned> weights_;
  boost::ptr_vector<HcaFunction> functions_;  // these two stay where they are
  boost::ptr_vector<HcaPair> pairs_;
};

}  // namespace flitwise
