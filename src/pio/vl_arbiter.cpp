// SPDX-License-Identifier: Apache-2.0
#include "pio/vl_arbiter.h"

namespace flitwise {

void VlArbiter::use_tables(const VlTables& tables) {
  has_tables_ = true;
  tables_ = tables;
  high_ = {0, tables.high[0].weight};
  low_ = {0, tables.low[0].weight};
  high_sent_ = 0;
}

VlArbiter::Choice VlArbiter::choose(unsigned ready_queues) const {
  const auto is_ready = [&](unsigned queue) { return (ready_queues >> queue & 1U) != 0; };
  if (is_ready(queue_of_vl(kManagementVl))) {
    return {queue_of_vl(kManagementVl), Choice::By::kStrict, 0};
  }
  if (!has_tables_) {
    constexpr unsigned kData = (1U << kDataVls) - 1;
    const unsigned ready = ready_queues & kData;
    if (ready == 0) {
      return {};
    }
    const unsigned first = last_ + 1;
    const auto ahead = static_cast<unsigned>(__builtin_ctz((ready | ready << kDataVls) >> first));
    return {(first + ahead) % kDataVls, Choice::By::kTurn, 0};
  }
  const Choice high = from_table(tables_.high, high_, Choice::By::kHigh, ready_queues);
  const Choice low = from_table(tables_.low, low_, Choice::By::kLow, ready_queues);
  const bool may_go_high = high_sent_ == 0 || high_sent_ < tables_.high_limit;
  const bool has_low = low.queue != kVlQueues;
  return high.queue != kVlQueues && (may_go_high || !has_low) ? high : low;
}

// The entry at hand while it has weight left, then those behind it, then itself anew.
VlArbiter::Choice VlArbiter::from_table(const VlTable& table, const Turn& turn, Choice::By by,
                                        unsigned ready) const {
  for (unsigned i = turn.left > 0 ? 0 : 1; i <= kVlTableEntries; ++i) {
    const unsigned entry = (turn.entry + i) % kVlTableEntries;
    if (table[entry].weight > 0 && (ready >> table[entry].vl & 1U) != 0) {
      return {table[entry].vl, by, entry};
    }
  }
  return {};
}

void VlArbiter::granted(const Choice& choice, unsigned blocks) {
  if (choice.by == Choice::By::kStrict) {
    return;
  }
  if (choice.by == Choice::By::kTurn) {
    last_ = choice.queue;
    return;
  }
  const bool is_high = choice.by == Choice::By::kHigh;
  Turn& turn = is_high ? high_ : low_;
  if (turn.entry != choice.entry || turn.left <= 0) {
    turn = {choice.entry, (is_high ? tables_.high : tables_.low)[choice.entry].weight};
  }
  turn.left -= static_cast<int>(blocks);
  high_sent_ = is_high ? high_sent_ + blocks : 0;
}

}  // namespace flitwise
