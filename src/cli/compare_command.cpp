// SPDX-License-Identifier: Apache-2.0
// flitwise compare: what changed between two results.
#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "cli/commands.h"
#include "common/atomic_file.h"
#include "common/printable.h"
#include "common/ranges.h"
#include "common/terminal.h"
#include "compare/comparison.h"
#include "report/report.h"

namespace flitwise::cli {
namespace {

struct CompareOptions {
  std::string a, b;
  std::vector<std::string> conditions;
  std::string page;
  bool as_json = false;
  bool shows_all = false;
};

int compare_results(const CompareOptions& options) {
  const auto conditions = mapped<Condition>(options.conditions, read_condition);
  if (!options.page.empty()) {
    refuse_to_overwrite({{options.a, "a result to compare"}, {options.b, "a result to compare"}},
                        {{options.page, "--out"}});
  }
  const ResultSource a = read_source(options.a), b = read_source(options.b);
  const Comparison comparison = compare(a, b);
  const std::vector<std::string> failed = failures_of(comparison, conditions);
  if (!options.page.empty()) {
    write_file_atomically(options.page, comparison_page(comparison, options.a, options.b, failed));
  }
  if (options.as_json) {
    fmt::print("{}\n", comparison_json(comparison, failed).dump(2));
  } else {
    constexpr std::size_t kMostRows = 20;
    const auto most = options.shows_all ? std::nullopt : std::optional(kMostRows);
    fmt::print("A: {}\nB: {}\n\n{}", printable(a.file), printable(b.file),
               printable(comparison_text(comparison, most, terminal_columns(STDOUT_FILENO)), true));
  }
  for (const std::string& sentence : failed) {
    fmt::print(stderr, "flitwise: {}\n", printable(sentence));
  }
  return failed.empty() ? kOk : kCheckFailed;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  const auto [command, options] = add_command<CompareOptions>(
      app, "compare", "Say what changed between two results", action, compare_results);
  const std::string what = "result.json, folder of a run or of a sweep, or results.sqlite";
  command.add_option("a", options.a, what)->type_name("A")->required();
  command.add_option("b", options.b, "The same of what is held against it")
      ->type_name("B")
      ->required();
  add_repeated(command, "--fail-if", options.conditions,
               "End with 1 if a figure changes so at any point: 'up_goodput_gbps < -2%', "
               "'dma_read_p99_ns > 50'",
               "CONDITION");
  CLI::Option* const all =
      command.add_flag("--all", options.shows_all, "All rows of each table, not the first 20");
  command.add_flag("--json", options.as_json, "As JSON")->excludes(all);
  add_path(command, "-o,--out", options.page, "An HTML page of it, too", "FILE.html");
  command.footer(
      "Changes are of B over A; points of sweeps are matched by block and axes\n\n"
      "Example:\n  flitwise compare before after --fail-if 'up_goodput_gbps < -2%'");
}

}  // namespace flitwise::cli
