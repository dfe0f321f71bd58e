// SPDX-License-Identifier: Apache-2.0
// Results and traces of a run, staged and put in place.
#include "cli/run_files.h"

#include <algorithm>

#include "common/interrupt.h"
#include "results/result_json.h"
#include "results/result_sqlite.h"

namespace flitwise::cli {

RunFiles::RunFiles(const std::string& folder, TraceConfig& traces) : folder_(folder) {
  if (!folder.empty()) {
    lock_.emplace(folder);
  }
  for (auto& [kind, path] : traces.files) {
    files_.push_back(std::make_unique<StagedFile>(path));
    path = files_.back()->writable_path();
  }
}

void RunFiles::add(const std::string& path, const std::string& text) {
  files_.push_back(std::make_unique<StagedFile>(path));
  files_.back()->write(text);
}

void RunFiles::put_in_place(const SimulatedRun& run) {
  const BlockedInterrupts blocked;
  if (!folder_.empty()) {
    add(folder_ + "/result.sqlite", result_sqlite(result_json(run.result, run.end)));
    add(folder_ + "/result.json", result_text(run.result, run.end));
    std::rotate(files_.begin(), files_.end() - 1, files_.end());  // the commit point
  }
  put_traces_in_place();
}

void RunFiles::put_traces_in_place() {
  std::vector<StagedFile*> all;
  for (const auto& file : files_) {
    all.push_back(file.get());
  }
  flitwise::put_in_place(all);
}

}  // namespace flitwise::cli
