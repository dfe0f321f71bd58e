// SPDX-License-Identifier: Apache-2.0
/// Many simulations in one test: each in a forked child, because the kernel starts once a process.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace flitwise {

/// One run: a file below configs/ and what is set on top of it.
struct Simulation {
  std::string config;
  std::vector<std::string> sets;
  std::string text() const;  ///< for messages
};

/// The result.json of each simulation, in order; two run at a time. A run that failed gives
/// {"failed": reason}. REQUIRES: inside the kernel's main, before anything was elaborated.
std::vector<nlohmann::ordered_json> simulate_in_children(const std::vector<Simulation>& runs);

}  // namespace flitwise
