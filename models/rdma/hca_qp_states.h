// SPDX-License-Identifier: Apache-2.0
/// States of queue pairs of an RDMA adapter: the owner of the QP-state cache. [HP-2, HP-3]
/// In: look-ups of queue pair fetch; pins of all who have work with a queue pair. Out: reads of
/// states that are not there, behind the write of the one whose place they take. Queue: none, and
/// no time of its own: `fetch` has both. Pins block look-ups, which stall.
#pragma once

#include "rdma/hca_module.h"
#include "rdma/hca_seams.h"

namespace flitwise {

class HcaQpStates final : public HcaModule, public HcaStates {
 public:
  explicit HcaQpStates(const HcaParts& parts)
      : HcaModule("qp_state"), s_(parts), cache_(parts.config.rdma.qpsc_entries, 0) {}

  /// Software writes them into host memory.
  void start();
  QpLookup::Outcome look_up(std::uint32_t pair, Time now) override;
  void pin(std::uint32_t pair) override { cache_.pin_again(s_.pairs[pair].entry); }
  void release(std::uint32_t pair) override {
    cache_.mark_dirty(s_.pairs[pair].entry);
    cache_.unpin(s_.pairs[pair].entry);
  }
  void done(HcaJob& job, Time now) override;
  /// States that were not read as they had been written back.
  std::uint64_t wrong() const { return wrong_; }

 private:
  void write_back(std::uint32_t pair, Time now);

  const HcaParts& s_;
  QpStateCache cache_;
  std::uint64_t wrong_ = 0;
};

}  // namespace flitwise
