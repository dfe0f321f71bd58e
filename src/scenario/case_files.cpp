// SPDX-License-Identifier: Apache-2.0
// The files of a catalogue.
#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "flitwise/error.h"
#include "scenario/scenario.h"

namespace flitwise::scenario {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_of(const std::string& path, std::vector<std::string>& dead_links) {
  std::error_code failure;
  if (!fs::is_directory(path, failure)) {
    return {path};
  }
  std::vector<std::string> files;
  fs::recursive_directory_iterator at(path, failure), end;
  for (; !failure && at != end; at.increment(failure)) {
    std::error_code unknown;
    const fs::file_status status = at->status(unknown);
    if (at->path().extension() != ".yaml") {
      continue;
    }
    if (fs::is_regular_file(status)) {
      files.push_back(at->path().string());
    } else if (!fs::exists(status)) {  // it leads nowhere, or round and round
      dead_links.push_back(at->path().string());
    }
  }
  if (failure) {
    throw ConfigError(
        {{path, 0, 0, "",
          "cannot be read through: " + failure.message() + "; expected a folder of case files"}});
  }
  std::sort(files.begin(), files.end());
  std::sort(dead_links.begin(), dead_links.end());
  return files;
}

}  // namespace

std::vector<Case> find_cases(const std::vector<std::string>& paths,
                             std::vector<std::string>& dead_links) {
  std::vector<Case> cases;
  std::vector<Problem> problems;
  for (const std::string& path : paths) {
    for (const std::string& file : files_of(path, dead_links)) {
      try {
        std::vector<Case> some = read_cases(file);
        std::move(some.begin(), some.end(), std::back_inserter(cases));
      } catch (const ConfigError& error) {
        problems.insert(problems.end(), error.problems().begin(), error.problems().end());
      }
    }
  }
  std::map<std::string, const Case*> by_id;
  for (const Case& one : cases) {
    const auto [other, is_new] = by_id.emplace(one.id, &one);
    if (!is_new) {
      problems.push_back({one.file, one.place.line, one.place.column, "id",
                          "'" + one.id + "' stands in " + other->second->file +
                              " too; expected an id of its own"});
    }
  }
  if (!problems.empty()) {
    throw ConfigError(problems);
  }
  return cases;
}

}  // namespace flitwise::scenario
