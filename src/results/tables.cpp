// SPDX-License-Identifier: Apache-2.0
// Which tables there are.
#include "results/tables.h"

#include <algorithm>

namespace flitwise {
namespace {

std::vector<const StatisticsTable*>& tables() {
  static std::vector<const StatisticsTable*> all = {
      &link_table(), &latency_table(), &handle_table(),    &iommu_table(),      &ats_table(),
      &wait_table(), &explain_table(), &cxl_cache_table(), &cxl_hdm_db_table(), &attack_table()};
  return all;
}

void append(const TableInfo& table, std::vector<StatisticInfo>& list) {
  const std::string where = table.list + "[]" + (table.nested.empty() ? "" : "." + table.nested);
  for (const FigureInfo& figure : table.figures) {
    list.push_back({where, figure.type == FigureType::kByKind ? figure.key + ".KIND" : figure.key,
                    figure.unit, figure.definition});
  }
}

}  // namespace

const std::vector<const StatisticsTable*>& all_tables() {
  return tables();
}

void add_table(const StatisticsTable& table) {
  if (std::find(tables().begin(), tables().end(), &table) == tables().end()) {
    tables().push_back(&table);
  }
}

std::vector<StatisticInfo> all_statistics() {
  std::vector<StatisticInfo> list = {
      {"flitwise", "simulated_ns", "ns",
       "Simulated time from the first counted request to the end of the last."},
      {"flitwise", "host_seconds", "s", "Wall-clock time that the run took on the host."},
  };
  for (const StatisticsTable* const table : all_tables()) {
    append(table->info(), list);
    if (table == &latency_table()) {
      list.insert(
          list.end(),
          {{"latency[]", "dma_read", "ns",
            "Read requests of engines: from issue to the last byte at the engine."},
           {"latency[]", "dma_write", "ns",
            "Write requests of engines: from issue to the last byte in memory, or in a cache that "
            "keeps the line."},
           {"latency[]", "dma_write_tlp", "ns",
            "Write TLPs, or lines of CXL, each: from the request's issue to memory, or to a cache "
            "that keeps it."}});
    }
  }
  list.push_back({"errors[]", "count", "", "Things refused, dropped or reported, by kind."});
  return list;
}

}  // namespace flitwise
