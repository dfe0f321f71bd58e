// SPDX-License-Identifier: Apache-2.0
/// What session groups have counted, a row for each session.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "results/tables.h"
#include "srdma/session_balancer.h"

namespace flitwise {

struct SrdmaSessionResult {
  std::string device;  ///< the host
  std::uint32_t group = 0;
  std::uint32_t id = 0;
  std::uint16_t source_port = 0, destination_port = 0;
  double weight = 0, level = 0;
  std::string state;
  std::uint64_t packets = 0, bytes = 0, losses = 0, echoes = 0, ce_echoes = 0;
  Time rtt{}, rtt_base{};
};

/// Of one session at one end.
SrdmaSessionResult session_result(std::string device, std::uint32_t group,
                                  const SessionBalancer& balancer, SessionIndex session);
/// Of those at one end whose index another one has by now.
std::vector<SrdmaSessionResult> past_session_results(const std::string& device, std::uint32_t group,
                                                     const SessionBalancer& balancer);

const StatisticsTable& srdma_table();

}  // namespace flitwise
