// SPDX-License-Identifier: Apache-2.0
// The summary, one small function per table.
#include "results/summary_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <any>
#include <vector>

#include "results/tables.h"
#include "results/text_table.h"

namespace flitwise {
namespace {

TextTable errors_table(const RunResult& result) {
  TextTable table({"Errors and reports", "count"});
  for (const auto& [kind, count] : result.errors) {
    if (count != 0) {
      table.add(kind, count);
    }
  }
  return table;
}

std::string checks_text(const RunResult& result) {
  std::string failed;
  for (const CheckResult& check : result.checks) {
    if (!check.ok) {
      failed += fmt::format("Check FAILED: {}{}{}\n", check.name, check.detail.empty() ? "" : ": ",
                            check.detail);
    }
  }
  if (!failed.empty() || result.checks.empty()) {
    return failed;
  }
  return fmt::format("All {} checks of the run hold.\n", result.checks.size());
}

}  // namespace

std::string refusal_text(const RunResult& result) {
  const bool has_traffic =
      std::any_of(result.rows<LinkResult>().begin(), result.rows<LinkResult>().end(),
                  [](const LinkResult& link) { return link.up.tlps + link.down.tlps != 0; });
  const bool has_success =
      std::any_of(result.rows<LatencyResult>().begin(), result.rows<LatencyResult>().end(),
                  [](const LatencyResult& latency) { return latency.count != 0; });
  std::string kinds;
  for (const auto& [kind, count] : result.errors) {
    if (count != 0) {
      kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", kind, with_thousands(count));
    }
  }
  if (!has_traffic || has_success || kinds.empty() || !result.rows<AttackResult>().empty()) {
    return "";
  }
  return fmt::format(
      "No request succeeded: none reached memory or was answered with its data ({}).", kinds);
}

std::string summary_text(const RunResult& result, RunEnd end, std::size_t width) {
  std::string text = fmt::format("Simulated {} in {:.2f} s, seed {}, config {}\n",
                                 time_text(result.simulated.ns()), result.host_seconds, result.seed,
                                 result.config_sha256.substr(0, 12));
  if (end != RunEnd::kComplete) {
    text += interruption_text(end) + "\n";
  }
  const auto add = [&](const std::string& part) { text += part.empty() ? "" : "\n" + part; };
  const auto add_table = [&](const TextTable& table) {
    add(table.is_empty() ? "" : table.text(width));
  };
  if (end == RunEnd::kComplete && !refusal_text(result).empty()) {
    add(refusal_text(result) + "\n");
  }
  if (const ExplainResult* const most = most_limited(result.rows<ExplainResult>())) {
    add("Limit: " + text_of(*most) + "\n");
  }
  for (const StatisticsTable* const table : all_tables()) {
    if (const std::any* const rows = result.find(table->row_type())) {
      for (const TextTable& view : table->summary(*rows, result)) {
        add_table(view);
      }
    }
  }
  add_table(errors_table(result));
  add(checks_text(result));
  return text;
}

}  // namespace flitwise
