// SPDX-License-Identifier: Apache-2.0
/// What has to hold between several keys.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "flitwise/config.h"
#include "topology/graph.h"

namespace flitwise::config {

struct BrokenRelation {
  std::vector<std::string> paths;  ///< the keys concerned; the one written last is to blame
  std::string message;             ///< what was seen; what was expected
};

class BrokenRelations : public std::vector<BrokenRelation> {
 public:
  /// Returns is_broken.
  template <class... Args>
  bool add_if(bool is_broken, std::vector<std::string> paths,
              fmt::format_string<const Args&...> message, const Args&... args) {
    if (is_broken) {
      push_back({std::move(paths), fmt::format(message, args...)});
    }
    return is_broken;
  }
};

/// What of the topology matters to them.
struct TopologyFacts {
  bool has_switch = false;  ///< above the devices concerned
  unsigned devices = 1;     ///< of the host that has most
};

/// All relations that do not hold.
BrokenRelations broken_relations(const Config& config, const TopologyFacts& topology);

/// Those of functions and PASIDs for domains, part of broken_relations().
void check_domains(const Config& config, BrokenRelations& broken);

/// One of a machine as a whole, with the device that breaks it.
struct BrokenRelationOf {
  NodeIndex device;
  BrokenRelation relation;
};
/// Software gives each domain of a host's devices a Domain ID. REQUIRES: all else holds.
std::optional<BrokenRelationOf> too_many_domains(const Config& whole, const Graph& graph);

/// Wires between devices, as a whole: at the other end of each one of PIO is one receive engine,
/// which has room for what it writes; cables join two RDMA adapters that fit; and all buffers have
/// their place. REQUIRES: all else holds.
std::vector<BrokenRelationOf> broken_wires(const Config& whole, const Graph& graph);

/// Those of cables between RDMA adapters, part of broken_wires(). configs: of the devices.
void add_broken_cables(const Graph& graph, const std::vector<Config>& configs,
                       std::vector<BrokenRelationOf>& all);

/// Those between times and run.deadlock_after, part of broken_relations().
void check_patience(const Config& config, BrokenRelations& broken);

/// Those of workloads that take longer than kLongestRun, part of broken_relations().
void check_duration(const Config& config, BrokenRelations& broken);

/// Those of PIO send memory, part of broken_relations().
void check_pio(const Config& config, BrokenRelations& broken);
/// Those of RDMA adapters, likewise.
void check_rdma(const Config& config, BrokenRelations& broken);

/// Devices that send by PIO: virtual lanes without weight, threads without a context, thresholds
/// and depths that do not fit, times that are no whole number of clocks of a core.
void warn_of_pio(const Config& whole, std::vector<std::string>& warnings);
/// Adapters whose timers are too short, or whose structures lie badly.
void warn_of_rdma(const Config& whole, std::vector<std::string>& warnings);

/// Devices whose requests fail, most or all of them, and those that host software cannot find.
void warn_of_failing_requests(const Config& whole, std::vector<std::string>& warnings);

/// Those of CXL.cache and CXL.mem, part of broken_relations().
void check_cxl(const Config& config, const TopologyFacts& topology, BrokenRelations& broken);

}  // namespace flitwise::config
