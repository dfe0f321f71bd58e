// SPDX-License-Identifier: Apache-2.0
/// Every figure of a result in one place: its key, unit, meaning and how it is taken from the
/// numbers of a run. result.json, the SQLite columns and `flitwise list statistics` come from here.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

#include "flitwise/result.h"

namespace flitwise {

/// One direction of a link with the link it belongs to.
struct LinkDirection {
  const LinkResult& link;
  const DirectionResult& traffic;
};

/// One figure of a subject. `key` is its dotted place inside the subject's object of result.json;
/// the SQLite column has underscores for the dots. An empty unit means a plain count.
template <class Subject>
struct Statistic {
  const char* key;
  const char* unit;
  const char* definition;
  nlohmann::ordered_json (*value)(const Subject&);
};

const std::vector<Statistic<LinkDirection>>& link_statistics();
const std::vector<Statistic<LatencyResult>>& latency_statistics();
const std::vector<Statistic<DhiResult>>& dhi_statistics();
const std::vector<Statistic<IommuResult>>& iommu_statistics();
const std::vector<Statistic<AtsResult>>& ats_statistics();
const std::vector<Statistic<WaitResult>>& wait_statistics();

/// A row of `flitwise list statistics`.
struct StatisticInfo {
  std::string where;  ///< "links[].up|down", "latency[]", "dhi[]", "iommu[]", "flitwise"
  std::string key;
  std::string unit;
  std::string definition;
};
std::vector<StatisticInfo> all_statistics();

/// Payload bits over all bits that are not idle; empty when the wire carried nothing.
std::optional<double> link_efficiency(const DirectionResult& traffic);
/// Payload bits over the span from the first to the last symbol of the counted TLPs; empty without
/// such a span. Unit: Gb/s.
std::optional<double> goodput_gbps(const LinkDirection& direction);
/// Share of the window that is not idle; empty when there is no window.
std::optional<double> utilisation(const DirectionResult& traffic);

}  // namespace flitwise
