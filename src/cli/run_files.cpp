// SPDX-License-Identifier: Apache-2.0
// System::run inside the kernel, with a stopwatch; results and traces of a run, staged and put in
// place.
#include "cli/run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "cli/commands.h"
#include "common/input_file.h"
#include "common/interrupt.h"
#include "config/load.h"
#include "config/traces.h"
#include "flitwise/system.h"
#include "results/run_progress_printer.h"
#include "results/summary_table.h"
#include "system/kernel.h"

namespace flitwise::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kResult = "/result.json";
constexpr const char* kDatabase = "/result.sqlite";

/// Name of what is written to a path, seen from the folder; empty where it lies elsewhere.
std::string name_in(const std::string& folder, const std::string& path) {
  std::error_code failure;
  const fs::path name = fs::weakly_canonical(fs::absolute(end_of_links(path)), failure)
                            .lexically_relative(fs::weakly_canonical(fs::absolute(folder)));
  const bool is_inside = !failure && !name.empty() && *name.begin() != ".." && name != ".";
  return is_inside ? name.string() : "";
}

/// A regular file below the folder, however its name was written.
bool may_go(const std::string& folder, const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::symlink_status(path, ignored)) && !name_in(folder, path).empty();
}

/// Files of the run whose result stands in the folder. A link stands for a result of elsewhere.
std::vector<std::string> files_of_last_run(const std::string& folder) {
  std::error_code ignored;
  return fs::is_symlink(folder + kResult, ignored) ? std::vector<std::string>{}
                                                   : files_of_result(folder + kResult);
}

}  // namespace

std::vector<std::string> files_of_result(const std::string& path) {
  const auto result = nlohmann::json::parse(read_own_file(path).text, nullptr, false);
  const std::string folder = fs::path(path).parent_path().string();
  std::vector<std::string> files;
  if (!result.is_object() || !result.contains("flitwise") || !result["flitwise"].is_object()) {
    return files;
  }
  const auto names = result["flitwise"].value("files", nlohmann::json());
  for (const auto& name : names) {
    const std::string file =
        name.is_string() ? (fs::path(folder) / name.get<std::string>()).string() : "";
    if (may_go(folder, file)) {
      files.push_back(file);
    }
  }
  return files;
}

RunFiles::RunFiles(const RunPaths& paths, TraceConfig& traces) : folder_(paths.folder) {
  if (!folder_.empty()) {
    lock_.emplace(folder_);
    for (const char* name : {kResult, kDatabase}) {
      check_place(folder_ + name);
    }
  }
  for (auto& [kind, path] : traces.files) {
    files_.push_back(open(path));
    path = files_.back()->writable_path();
  }
  if (!paths.config_space.empty()) {
    config_space_ = open(paths.config_space);
  }
}

std::unique_ptr<StagedFile> RunFiles::open(const std::string& path) {
  auto file = std::make_unique<StagedFile>(path);
  if (const std::string name = folder_.empty() ? "" : name_in(folder_, path); !name.empty()) {
    names_.push_back(name);
  }
  return file;
}

std::string RunFiles::with_own_names(std::string text) const {
  for (const auto& file : files_) {
    boost::replace_all(text, file->writable_path(), file->path());
  }
  return text;
}

void RunFiles::stage_result(const std::string& name, const std::string& text) {
  files_.push_back(std::make_unique<StagedFile>(folder_ + name, Place::kRegularFile));
  files_.back()->write(text);
}

void RunFiles::put_in_place(const SimulatedRun& run) {
  const BlockedInterrupts blocked;
  std::vector<std::string> obsolete;
  if (config_space_) {
    files_.push_back(std::move(config_space_));
  }
  for (const auto& file : files_) {
    file->check_there();  // before the result makes its folder anew
  }
  if (!folder_.empty()) {
    obsolete = files_of_last_run(folder_);
    stage_result(kDatabase, result_sqlite(result_json(run.result, run.end)));
    stage_result(kResult, result_text(run.result, run.end, names_));
    std::rotate(files_.begin(), files_.end() - 1, files_.end());  // the commit point
  }
  flitwise::put_in_place(files_, obsolete);
}

void RunFiles::put_traces_in_place() {
  std::vector<std::string> obsolete;
  if (!folder_.empty()) {
    obsolete = files_of_last_run(folder_);
    obsolete.insert(obsolete.begin(), {folder_ + kResult, folder_ + kDatabase});
  }
  flitwise::put_in_place(files_, obsolete);
}

SimulatedRun simulate(const Config& config, const SimulateOptions& options) {
  watch_for_interrupt();
  SimulatedRun run;
  RunResult& result = run.result;
  check_traces(config);
  print_warnings(config, options.given);
  const auto start = std::chrono::steady_clock::now();
  run_in_kernel([&] {
    RunProgressPrinter printer(stderr, is_drawable(stderr), start);
    System system(config);
    if (options.shows_progress) {
      system.report_progress([&printer](const RunProgress& progress) {
        printer.show(progress, std::chrono::steady_clock::now());
      });
    }
    if (options.config_space != nullptr) {
      *options.config_space = system.config_space();
    }
    result = system.run();
    run.end = !system.is_cut_short()  ? RunEnd::kComplete
              : system.has_measured() ? RunEnd::kInterrupted
                                      : RunEnd::kInterruptedBeforeWindow;
    return kOk;
  });
  result.host_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.seed = config.run.seed;
  result.config_json = effective_config(config).dump();
  result.config_sha256 = config_sha256(config);
  if (const std::string text = refusal_text(result);
      run.end == RunEnd::kComplete && !text.empty()) {
    fmt::print(stderr, "flitwise: warning: {}\n", text);
  }
  if (config.faults.broken_rules != 0 && result.violations.empty()) {
    fmt::print(
        stderr,
        "flitwise: faults.break broke nothing: no monitor spoke. docs/monitors.md says which "
        "traffic each rule needs to be broken\n");
  }
  return run;
}

int exit_code_of(const SimulatedRun& run) {
  const RunResult& result = run.result;
  if (run.end != RunEnd::kComplete) {
    fmt::print(stderr, "flitwise: interrupted{}\n",
               run.end == RunEnd::kInterrupted
                   ? "; the figures cover the run up to there"
                   : " before the measured window began; nothing was measured");
    return kInterrupted;
  }
  int code = kOk;
  for (const CheckResult& check : result.checks) {
    if (!check.ok) {
      fmt::print(stderr, "flitwise: check failed: {}: {}\n", check.name, check.detail);
      code = kSimulationError;
    }
  }
  constexpr std::size_t kMostPrinted = 5;
  for (std::size_t i = 0; i < std::min(result.violations.size(), kMostPrinted); ++i) {
    fmt::print(stderr, "flitwise: violation: {}", text_of(result.violations[i]));
  }
  return code;
}

}  // namespace flitwise::cli
