// SPDX-License-Identifier: Apache-2.0
#include "network/session_rows.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "network/network_agents.h"

namespace flitwise {

std::vector<SrdmaSessionResult> session_rows(const NetworkEnds& ends, const NetworkAgents* agents) {
  std::vector<SrdmaSessionResult> rows;
  for (std::uint32_t number = 0; number < ends.size(); ++number) {
    const HostConnection& connection = *ends[number].connection;
    if (!connection.is_first()) {
      continue;
    }
    const SessionBalancer& balancer = connection.balancer();
    const NodeId own = connection.ends().own;
    const std::string host = fmt::format("h{}", own);
    for (SrdmaSessionResult& past : past_session_results(host, number, balancer)) {
      rows.push_back(std::move(past));
    }
    const SessionIndex sessions = balancer.sessions();
    for (SessionIndex index = 0; index < sessions; ++index) {
      if (balancer.stats(index).sent_packets == 0) {
        continue;
      }
      rows.push_back(session_result(host, number, balancer, index));
      if (agents != nullptr) {
        rows.back().state =
            agents->agent(own).state_of(*ends[number].group, balancer.session(index).id);
      }
    }
  }
  return rows;
}

}  // namespace flitwise
