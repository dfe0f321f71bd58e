// SPDX-License-Identifier: Apache-2.0
/// One simulation from a validated config to its result, and its files: all of them are put in
/// place together, at its end.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/atomic_file.h"
#include "flitwise/config.h"
#include "flitwise/error.h"
#include "flitwise/result.h"
#include "results/result_json.h"

namespace flitwise::cli {

struct SimulatedRun {
  RunResult result;
  RunEnd end = RunEnd::kComplete;
};

struct SimulateOptions {
  std::string* config_space = nullptr;  ///< takes the dump of configuration space after bring-up
  bool shows_progress = false;          ///< on stderr
  std::vector<Problem> given = {};      ///< keys of LoadNotes, for places of warnings
};

/// Builds the machine, runs it to its end and completes the result with seed, effective config and
/// host time. May be called once per process. Throws SimulationError, and ConfigError for a wrong
/// trace.
SimulatedRun simulate(const Config& config, const SimulateOptions& options = {});

/// Exit code of a finished run: a failed check is reported and ends in 3, since only a broken model
/// fails one; an interrupted run ends in 130.
int exit_code_of(const SimulatedRun& run);

/// Where a run shall write.
struct RunPaths {
  std::string folder;        ///< of the result; empty: none
  std::string config_space;  ///< file; empty: none
};

/// Paths of the regular files below the folder of a result that the result names as its own.
std::vector<std::string> files_of_result(const std::string& result);

class RunFiles {
 public:
  /// Takes the folder, if there is one, and opens the traces, which go to `traces`, and the
  /// configuration space: what cannot be written is known before the run. Throws OutputError.
  RunFiles(const RunPaths& paths, TraceConfig& traces);

  void write_config_space(const std::string& text) { config_space_->write(text); }
  /// Nothing changes where one of the files is gone. Files of the last run into the folder go,
  /// those named in its result as well.
  void put_in_place(const SimulatedRun& run);
  /// Without a result, nor that of the last run: what a trace has tells why.
  void put_traces_in_place();
  /// The text with the paths that the user has named in place of those that are written to.
  std::string with_own_names(std::string text) const;
  /// Names in the folder of the files that go there beside the result.
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::unique_ptr<StagedFile> open(const std::string& path);
  void stage_result(const std::string& name, const std::string& text);

  const std::string folder_;
  std::optional<FolderLock> lock_;
  std::vector<std::string> names_;
  StagedFiles files_;
  std::unique_ptr<StagedFile> config_space_;
};

}  // namespace flitwise::cli
