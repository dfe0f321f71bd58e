// SPDX-License-Identifier: Apache-2.0
/// result.json and result.sqlite: the numbers of a run as docs/formats/results.md describes them,
/// and these as one flat row.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

#include "flitwise/result.h"
#include "flitwise/result_text.h"

namespace flitwise {

class StatisticsTable;

/// What is said of an interrupted run to people; empty of one that is complete.
std::string interruption_text(RunEnd end);

/// Every key of the format, in its order. REQUIRES: result.config_json is JSON or empty.
nlohmann::ordered_json result_json(const RunResult& result, RunEnd end = RunEnd::kComplete);

/// Schema of result.sqlite: src/results/schema.sql, and a table for each table of statistics.
std::string result_schema();

/// The bytes of that file: the same data as tables. `result` is what result_json gives.
std::string result_sqlite(const nlohmann::ordered_json& result);

/// Appends the leaves of `object` to `row`, their keys joined by underscores behind `prefix`:
/// {"wire_bytes": {"crc": 4}} gives wire_bytes_crc.
void flatten(const nlohmann::ordered_json& object, const std::string& prefix,
             nlohmann::ordered_json& row);

/// The figures of a result.json as one row: simulated_ns, up_link_efficiency, dma_write_p99_ns,
/// dhi_hits, iommu_walks, errors_KIND, checks_failed ... Figures of the first link and device have
/// no further name; those of the n-th carry its name in front.
nlohmann::ordered_json figures_row(const nlohmann::ordered_json& result);

/// Whose column of figures_row a name may be: "" for one that needs no name in it (up_tlps,
/// errors_KIND, attack_KIND_tried), else the link, device, agent or latency in its front
/// ("rp1-ep1" of rp1-ep1_up_tlps, "dma_write" of dma_write_p99_ns). Empty: nobody's.
/// `only`: in that table; null: in any, or beside them.
std::vector<std::string> owners_of_column(const std::string& column,
                                          const StatisticsTable* only = nullptr);

/// Columns of figures_row that have no name of a link, device or kind in them, whether or not a
/// machine makes them: simulated_ns, up_tlps, dhi_hits.
std::vector<std::string> plain_columns();

/// The rows of a table, by its TableInfo::list; none where the result has no such list, as of an
/// older version. Throws Json::exception where it is no list.
const nlohmann::ordered_json& table_rows(const std::string& list,
                                         const nlohmann::ordered_json& result);

/// A path of keys and list indices, "links.0.up.replays".
nlohmann::ordered_json::json_pointer pointer_of(const std::string& path);
/// The value there; nothing where there is none.
std::optional<nlohmann::ordered_json> figure_of(const nlohmann::ordered_json& result,
                                                const std::string& path);

}  // namespace flitwise
