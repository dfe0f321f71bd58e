// SPDX-License-Identifier: Apache-2.0
// Results and traces of a run, staged and put in place.
#include "cli/run_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "common/interrupt.h"
#include "results/result_json.h"
#include "results/result_sqlite.h"

namespace flitwise::cli {
namespace {

namespace fs = std::filesystem;

/// Name of a path seen from the folder, links followed; empty where it lies elsewhere.
std::string name_in(const std::string& folder, const std::string& path) {
  std::error_code failure;
  const fs::path name = fs::weakly_canonical(fs::absolute(path), failure)
                            .lexically_relative(fs::weakly_canonical(fs::absolute(folder)));
  const bool is_inside = !failure && !name.empty() && *name.begin() != ".." && name != ".";
  return is_inside ? name.string() : "";
}

/// A regular file below the folder, however its name was written.
bool may_go(const std::string& folder, const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::symlink_status(path, ignored)) && !name_in(folder, path).empty();
}

/// Files that the result in the folder names as its own.
std::vector<std::string> files_of_last_run(const std::string& folder) {
  std::ifstream in(folder + "/result.json");
  const auto result = nlohmann::json::parse(in, nullptr, false);
  std::vector<std::string> files;
  if (!result.is_object() || !result.contains("flitwise") || !result["flitwise"].is_object()) {
    return files;
  }
  const auto names = result["flitwise"].value("files", nlohmann::json());
  for (const auto& name : names) {
    const std::string path =
        name.is_string() ? (fs::path(folder) / name.get<std::string>()).string() : "";
    if (may_go(folder, path)) {
      files.push_back(path);
    }
  }
  return files;
}

}  // namespace

RunFiles::RunFiles(const std::string& folder, TraceConfig& traces) : folder_(folder) {
  if (!folder.empty()) {
    lock_.emplace(folder);
  }
  for (auto& [kind, path] : traces.files) {
    files_.push_back(std::make_unique<StagedFile>(path));
    note_name(path);
    path = files_.back()->writable_path();
  }
}

void RunFiles::note_name(const std::string& path) {
  if (const std::string name = folder_.empty() ? "" : name_in(folder_, path); !name.empty()) {
    names_.push_back(name);
  }
}

void RunFiles::add(const std::string& path, const std::string& text) {
  stage(path, text);
  note_name(path);
}

void RunFiles::stage(const std::string& path, const std::string& text) {
  files_.push_back(std::make_unique<StagedFile>(path));
  files_.back()->write(text);
}

void RunFiles::put_in_place(const SimulatedRun& run) {
  const BlockedInterrupts blocked;
  std::vector<std::string> obsolete;
  if (!folder_.empty()) {
    obsolete = files_of_last_run(folder_);
    stage(folder_ + "/result.sqlite", result_sqlite(result_json(run.result, run.end)));
    stage(folder_ + "/result.json", result_text(run.result, run.end, names_));
    std::rotate(files_.begin(), files_.end() - 1, files_.end());  // the commit point
  }
  put_in_place(obsolete);
}

void RunFiles::put_traces_in_place() {
  std::vector<std::string> obsolete;
  if (!folder_.empty()) {
    obsolete = files_of_last_run(folder_);
    obsolete.insert(obsolete.begin(), {folder_ + "/result.json", folder_ + "/result.sqlite"});
  }
  put_in_place(obsolete);
}

void RunFiles::put_in_place(const std::vector<std::string>& obsolete) {
  std::vector<StagedFile*> all;
  for (const auto& file : files_) {
    all.push_back(file.get());
  }
  flitwise::put_in_place(all, obsolete);
}

}  // namespace flitwise::cli
