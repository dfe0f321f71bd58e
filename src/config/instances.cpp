// SPDX-License-Identifier: Apache-2.0
// Instances: names, what they may override, and the overrides applied.
#include "config/instances.h"

#include <fmt/format.h>

#include "config/document.h"
#include "config/load.h"
#include "config/table.h"

namespace flitwise {

namespace config {

std::vector<InstanceName> instance_names(const SystemConfig& system) {
  const std::vector<std::string> host = {"host"};
  const std::vector<std::string> device = {"device", "workload"};
  const std::vector<std::string> link = {"link", "message", "faults"};
  std::vector<InstanceName> all;
  const bool has_switch = system.topology == Topology::kSwitch;
  if (has_switch) {
    all.push_back({"rp0", host});
    all.push_back({"rp0-sw0", link});
    all.push_back({"sw0", {"system.switch_mode", "system.source_validation", "system.timing"}});
  }
  for (unsigned i = 0; i < system.devices; ++i) {
    if (!has_switch) {
      all.push_back({fmt::format("rp{}", i), {"host", "workload"}});
    }
    all.push_back({fmt::format(has_switch ? "sw0-ep{0}" : "rp{0}-ep{0}", i), link});
    all.push_back({fmt::format("ep{}", i), device});
  }
  return all;
}

Config with_overrides(const Config& config,
                      const std::vector<std::pair<std::string, std::string>>& overrides) {
  Config copy = config;
  ProblemList problems;
  for (const auto& [path, text] : overrides) {
    const Place place{"system.instances: " + path, 0, 0, 0};
    const Key* key = find_row(path);
    if (key == nullptr) {
      problems.add(place, path, "unknown key");
      continue;
    }
    const auto report = [&, &at = path](const Place& where, const std::string& message) {
      problems.add(where, at, message);
    };
    key->read(copy, parse_yaml(text, place, problems, true), {report, {""}});
  }
  if (!problems.empty()) {
    throw ConfigError(problems.sorted());
  }
  return copy;
}

}  // namespace config

Config for_instance(const Config& config, const std::string& name) {
  const auto at = config.instances.find(name);
  return at == config.instances.end() ? config : config::with_overrides(config, at->second);
}

}  // namespace flitwise
