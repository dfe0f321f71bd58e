// SPDX-License-Identifier: Apache-2.0
/// All tables of statistics, in the order of result.json.
#pragma once

#include <string>
#include <vector>

#include "results/statistics_table.h"

namespace flitwise {

/// Of what every machine has, and then those that components have added.
const std::vector<const StatisticsTable*>& all_tables();
/// Of a component; does nothing the second time. `table` outlives all results.
void add_table(const StatisticsTable& table);

const StatisticsTable& link_table();
const StatisticsTable& latency_table();
const StatisticsTable& handle_table();
const StatisticsTable& iommu_table();
const StatisticsTable& ats_table();
const StatisticsTable& wait_table();
const StatisticsTable& explain_table();
const StatisticsTable& cxl_cache_table();
const StatisticsTable& cxl_hdm_db_table();
const StatisticsTable& attack_table();

/// A row of `flitwise list statistics`.
struct StatisticInfo {
  std::string where;  ///< "links[].up|down", "latency[]", "dhi[]", "iommu[]", "flitwise"
  std::string key;
  std::string unit;
  std::string definition;
};
std::vector<StatisticInfo> all_statistics();

}  // namespace flitwise
