// SPDX-License-Identifier: Apache-2.0
/// States of queue pairs of an RDMA adapter: the owner of the QP-state cache. [HP-2, HP-3]
/// In: look-ups of queue pair fetch; pins of all who have work with a queue pair. Out: reads of
/// states that are not there, behind the write of the one whose place they take. Queue: none, and
/// no time of its own: `fetch` has both. Pins block look-ups, which stall.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "rdma/hca_module.h"
#include "rdma/hca_seams.h"

namespace flitwise {

class HcaQpStates final : public HcaModule, public HcaStates {
 public:
  explicit HcaQpStates(const HcaParts& parts)
      : HcaModule("qp_state"), s_(parts), caches_(caches_of(parts.config)) {}

  QpLookup::Outcome look_up(std::uint32_t pair, Time now) override;
  void pin(std::uint32_t pair) override {
    cache_of(pair).pin_again(s_.pairs[pair].entry);
    ++s_.pairs[pair].pins;
  }
  void release(std::uint32_t pair) override {
    --s_.pairs[pair].pins;
    QpStateCache& cache = cache_of(pair);
    cache.mark_dirty(s_.pairs[pair].entry);
    cache.unpin(s_.pairs[pair].entry);
  }
  /// The function at that place is reset: its entries are free once work with them is done. [HP-4]
  void reset(std::uint32_t place) { cache_of(place).reset(place); }
  /// Software has written the states of a function into host memory anew.
  void start(std::uint32_t place);
  /// Likewise of one queue pair.
  void begin(std::uint32_t pair);
  void done(HcaJob& job, Time now) override;
  void add_errors(std::map<std::string, std::uint64_t>& errors) const override {
    errors["bad_state"] += bad_;
  }
  /// States that were not read as they had been written back.
  std::uint64_t wrong() const { return wrong_; }

 private:
  static std::vector<QpStateCache> caches_of(const HcaConfig& config);
  QpStateCache& cache_of(std::uint32_t pair) {
    return caches_[std::min<std::size_t>(s_.config.place_of(pair), caches_.size() - 1)];
  }
  void write_back(std::uint32_t pair, Time now);

  const HcaParts& s_;
  std::vector<QpStateCache> caches_;  // one, or that of each function with a share
  std::uint64_t wrong_ = 0;
  std::uint64_t bad_ = 0;  // likewise, where hostile software may write them
};

}  // namespace flitwise
