// SPDX-License-Identifier: Apache-2.0
// flitwise trace: a trace in short.
#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "cli/commands.h"
#include "common/printable.h"
#include "common/terminal.h"
#include "trace_summary/trace_summary.h"

namespace flitwise::cli {
namespace {

constexpr std::size_t kSlowest = 5;  // unless asked for others
constexpr std::size_t kMostSlowest = 1000;

struct SummaryOptions {
  std::string file;
  std::size_t slowest = kSlowest;
  std::optional<std::uint64_t> transaction;
  bool as_json = false;
};

template <class Summary>
void print(const Summary& summary, bool as_json, std::string (*text)(const Summary&, std::size_t),
           nlohmann::ordered_json (*json)(const Summary&)) {
  if (as_json) {
    fmt::print("{}\n",
               json(summary).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    fmt::print("{}", printable(text(summary, terminal_columns(STDOUT_FILENO)), true));
  }
}

int show_trace(const SummaryOptions& options) {
  if (options.transaction) {
    print(read_transaction(options.file, *options.transaction), options.as_json, transaction_text,
          transaction_json);
  } else {
    print(summarise_trace(options.file, options.slowest), options.as_json, summary_text,
          summary_json);
  }
  return kOk;
}

}  // namespace

void add_trace_command(CLI::App& app, Action& action) {
  const auto [command, options] = add_command<SummaryOptions>(
      app, "trace", "Say in short what a trace shows", action, show_trace);
  command.add_option("file", options.file, "What run --trace sqlite=FILE has written")
      ->type_name("FILE")
      ->required();
  CLI::Option* const slowest =
      command
          .add_option("--slowest", options.slowest,
                      "So many of the slowest transactions, step by step; default: 5")
          ->type_name("N")
          ->check(CLI::Range(std::size_t{0}, kMostSlowest).description(""));
  command
      .add_option("--transaction", options.transaction,
                  "Only this one, with all its units; the uid that follows # in the summary")
      ->type_name("UID")
      ->check(is_seed())
      ->excludes(slowest);
  command.add_flag("--json", options.as_json, "As JSON");
  command.footer(
      "A transaction is a TLP of a request, or a line of CXL, that was over\n\n"
      "Example:\n  flitwise run configs/checks/saturated.yaml --trace sqlite=run.db\n"
      "  flitwise trace run.db --slowest 3");
}

}  // namespace flitwise::cli
