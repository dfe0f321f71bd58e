// SPDX-License-Identifier: Apache-2.0
// flitwise report: results as one HTML page.
#include "report/report.h"

#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/output_paths.h"
#include "common/atomic_file.h"

namespace flitwise::cli {

void add_report_command(CLI::App& app, Action& action) {
  struct Options {
    std::vector<std::string> paths;
    std::string out;
    ReportOptions report;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("report", "Make one HTML page of results");
  command
      ->add_option("result", options->paths,
                   "result.json, folder of a run or of a sweep, or results.sqlite")
      ->type_name("RESULT")
      ->required();
  command->add_option("-o,--out", options->out, "The page")
      ->type_name("FILE.html")
      ->required()
      ->check(is_named());
  command->add_flag("--plain", options->report.is_plain, "Tables only");
  command->footer("Example:\n  flitwise report out -o out/report.html");
  command->callback([options, &action] {
    action = [options] {
      options->report.command =
          fmt::format("flitwise report {} -o {}{}", fmt::join(options->paths, " "), options->out,
                      options->report.is_plain ? " --plain" : "");
      std::vector<NamedPath> inputs;
      for (const std::string& path : options->paths) {
        inputs.push_back({path, "a result to report"});
        for (const char* name :
             {"result.json", "manifest.jsonl", "study.json", "results.sqlite", "points.csv"}) {
          inputs.push_back({path + "/" + name, "a file of a folder to report"});
        }
      }
      refuse_to_overwrite(inputs, {{options->out, "--out"}});
      write_file_atomically(options->out, report_page(options->paths, options->report));
      fmt::print("{}\n", options->out);
      return kOk;
    };
  });
}

}  // namespace flitwise::cli
