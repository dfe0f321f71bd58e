// SPDX-License-Identifier: Apache-2.0
// A cache has gone with its link: whatever waits for it goes on without. [COH-3.10]
#include "coherence/home_agent.h"

namespace flitwise {

void HomeAgent::port_lost(std::uint8_t port, CxlOutput& out) {
  for (Transaction& transaction : transactions_) {
    transaction.is_orphan = transaction.is_orphan || transaction.port == port;
  }
  std::vector<std::uint64_t> given_up;
  lines_.for_each([&](std::uint64_t address, Line& line) {
    line.holders.remove(port);
    if (line.holders.empty() && !line.is_busy) {
      given_up.push_back(address);
    }
  });
  for (const std::uint64_t address : given_up) {
    lines_.erase(address);
  }
  cqids_[port].reset();
  for (std::size_t id = 0; id < expected_.size(); ++id) {
    const auto uqid = static_cast<std::uint16_t>(id);
    if (is_expected(port, uqid)) {
      answer_lost(uqid, out);
    }
  }
  start_ready(out);
}

/// Data under way are lost: a pull writes nothing, and behind a snoop memory has the line as it
/// was.
void HomeAgent::answer_lost(std::uint16_t uqid, CxlOutput& out) {
  const std::uint32_t transaction = expected_[uqid].transaction;
  if (expected_[uqid].is_pull) {
    uqids_.release(uqid);
    write_back(transaction, out);
    return;
  }
  if (expected_[uqid].has_response) {
    transactions_[transaction].has_line = false;
    transactions_[transaction].is_dirty = false;
  }
  snoop_done(uqid, out);
}

}  // namespace flitwise
