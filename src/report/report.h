// SPDX-License-Identifier: Apache-2.0
/// Results as one HTML page: runs and sweeps.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include "compare/comparison.h"
#include "report/html.h"
#include "sweep/merge.h"

namespace flitwise {

struct ReportOptions {
  bool is_plain = false;     ///< tables only, no charts
  std::string command;       ///< how the report was asked for
  std::string folder = ".";  ///< where the page will stand: links lead from there
};

/// Reads what each path names: a result.json, a folder with one, a folder of a sweep, or a merged
/// SQLite file. Throws ConfigError for anything else.
std::string report_page(const std::vector<std::string>& paths, const ReportOptions& options);

/// The sections of one run: its summary, table for table as on the terminal, and every figure.
std::string run_section(const nlohmann::ordered_json& result, const ReportOptions& options);

/// Is it a trace `series`?
bool is_series(const std::string& path);
/// Figures over time of such a trace. Throws ConfigError with the line that is none of it.
std::string series_section(const std::string& path, const ReportOptions& options);

/// What a sweep asks and what came out, before its sections: verdicts, break-evens, what varies.
std::string overview_section(const MergedSweep& merged);

/// What the words of a page mean; empty where it has none that need it.
std::string terms_section(const std::string& page);

/// The sections of a sweep: per block its charts and its table.
/// `points`: where their results are, seen from the page; empty: not there.
std::string sweep_section(const MergedSweep& merged, const ReportOptions& options,
                          const std::string& points);

/// Where the bytes of the first link went, a bar a row, called by its values in `columns`; empty
/// for a single row, and for more rows than can be told apart.
std::string cause_bars(const MergedSweep& merged, const Rows& rows,
                       const std::vector<std::string>& columns);

/// Points of a chart with the intervals of those that several seeds tell.
std::vector<Series::Point> chart_points(const Rows& rows, const std::string& x,
                                        const std::string& y);

/// True when the study names plots or findings for the block.
bool has_own_look(const BlockPresentation& block);

/// A block as its study asks for it: title, what it is about, findings reckoned from the rows,
/// plots, and the table of all points.
std::string study_block_section(const MergedSweep& merged, const BlockPresentation& block,
                                const ReportOptions& options, const std::string& points);

/// What changed between two results, which are called as they were named.
std::string comparison_page(const Comparison& comparison, const std::string& a,
                            const std::string& b, const std::vector<std::string>& failed);

}  // namespace flitwise
