// SPDX-License-Identifier: Apache-2.0
// flitwise report: results as one HTML page.
#include "report/report.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "cli/commands.h"
#include "cli/run_files.h"
#include "common/atomic_file.h"
#include "common/printable.h"

namespace flitwise::cli {
namespace {

namespace fs = std::filesystem;

fs::path whole(const fs::path& path) {
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
}

/// The folders whose results are reported: that of a file, and of a point that of its sweep too.
std::vector<fs::path> folders_of(const std::vector<std::string>& paths) {
  std::vector<fs::path> folders;
  for (const std::string& path : paths) {
    std::error_code ignored;
    const fs::path place = whole(path);
    folders.push_back(fs::is_directory(place, ignored) ? place : place.parent_path());
    if (folders.back().filename() == "points") {
      folders.push_back(folders.back().parent_path());
    }
  }
  return folders;
}

/// Results to report, and the traces and the like that they name.
std::vector<NamedPath> results_and_traces(const std::vector<std::string>& paths) {
  std::vector<NamedPath> inputs;
  for (const std::string& path : paths) {
    inputs.push_back({path, "a result to report"});
    std::error_code ignored;
    const fs::path place = whole(path);
    for (const fs::path& result : {fs::is_directory(place, ignored) ? place / "result.json" : place,
                                   place.parent_path() / "result.json"}) {
      if (result.extension() != ".sqlite" && fs::is_regular_file(result, ignored)) {
        for (const std::string& file : files_of_result(whole(result).string())) {
          inputs.push_back({file, "a file of a result to report"});
        }
      }
    }
  }
  return inputs;
}

/// The page takes the place of no file that a run or a sweep has written, or will write.
void refuse_to_overwrite_results(const std::vector<std::string>& paths, const std::string& out) {
  std::vector<NamedPath> inputs = results_and_traces(paths);
  for (const fs::path& folder : folders_of(paths)) {
    for (const std::string name :
         {"result.json", "result.sqlite", "manifest.jsonl", "study.json", "points.txt",
          "array.sbatch", "merge.sbatch", "results.sqlite", "points.csv"}) {
      inputs.push_back({(folder / name).string(), name + " of a folder to report"});
    }
    std::error_code ignored;
    if (!fs::exists(folder / "manifest.jsonl", ignored)) {
      continue;
    }
    for (const char* part : {"points", "logs"}) {
      if (whole(end_of_links(out)).parent_path() == whole(folder / part)) {
        throw UsageError(
            fmt::format("--out: '{}' lies in {}/ of a sweep to report; expected another folder",
                        shortened(out), part));
      }
    }
  }
  refuse_to_overwrite(inputs, {{out, "--out"}});
}

struct PageOptions {
  std::vector<std::string> paths;
  std::string out;
  bool is_plain = false;
};

int report(const PageOptions& options) {
  const std::string command =
      fmt::format("flitwise report {} -o {}{}", fmt::join(options.paths, " "), options.out,
                  options.is_plain ? " --plain" : "");
  refuse_to_overwrite_results(options.paths, options.out);
  const std::string folder = fs::path(options.out).parent_path().string();
  const std::string page =
      report_page(options.paths, {options.is_plain, command, folder.empty() ? "." : folder});
  write_file_atomically(options.out, page);
  fmt::print("{}\n", options.out);
  return kOk;
}

}  // namespace

void add_report_command(CLI::App& app, Action& action) {
  const auto [command, options] =
      add_command<PageOptions>(app, "report", "Make one HTML page of results", action, report);
  command
      .add_option("result", options.paths,
                  "result.json, folder of a run or of a sweep, or results.sqlite")
      ->type_name("RESULT")
      ->required();
  add_path(command, "-o,--out", options.out, "The page", "FILE.html")->required();
  command.add_flag("--plain", options.is_plain, "Tables only, and no script");
  command.footer("Example:\n  flitwise report out -o out/report.html");
}

}  // namespace flitwise::cli
