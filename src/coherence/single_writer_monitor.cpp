// SPDX-License-Identifier: Apache-2.0
// One owner, or sharers.
#include "coherence/single_writer_monitor.h"

namespace flitwise {

void SingleWriterMonitor::told(std::uint8_t agent, std::uint64_t line, LineState state) {
  const std::uint32_t bit = std::uint32_t{1} << agent;
  Copies& copies = copies_[line];
  copies.owners &= ~bit;
  copies.sharers &= ~bit;
  copies.modified &= ~bit;
  const bool meets_owner = copies.owners != 0 && state != LineState::kInvalid;
  if (meets_owner || (is_owned(state) && copies.sharers != 0)) {
    report(agent, line, state, copies);
  }
  if (is_owned(state)) {
    copies.owners |= bit;
    copies.modified |= state == LineState::kModified ? bit : 0;
  } else if (state == LineState::kShared) {
    copies.sharers |= bit;
  } else if (copies.owners == 0 && copies.sharers == 0) {
    copies_.erase(line);
  }
}

void SingleWriterMonitor::report(std::uint8_t agent, std::uint64_t line, LineState state,
                                 const Copies& others) {
  ++count_;
  if (first_.size() == kKept) {
    return;
  }
  const std::uint32_t holders = others.owners != 0 ? others.owners : others.sharers;
  const auto other = static_cast<std::uint8_t>(__builtin_ctz(holders));
  LineState other_state = others.owners != 0 ? LineState::kExclusive : LineState::kShared;
  if (((others.modified >> other) & 1U) != 0) {
    other_state = LineState::kModified;
  }
  first_.push_back({"COH-1.2", line, agent, other, state, other_state});
}

}  // namespace flitwise
