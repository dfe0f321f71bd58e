// SPDX-License-Identifier: Apache-2.0
// The files of a catalogue.
#include "scenario/case_files.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "flitwise/error.h"

namespace flitwise::scenario {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_of(const std::string& path) {
  if (!fs::is_directory(path)) {
    return {path};
  }
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file() && entry.path().extension() == ".yaml") {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<Case> find_cases(const std::vector<std::string>& paths) {
  std::vector<Case> cases;
  std::vector<Problem> problems;
  for (const std::string& path : paths) {
    for (const std::string& file : files_of(path)) {
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

bool matches_glob(const std::string& id, const std::string& glob) {
  return fnmatch(glob.c_str(), id.c_str(), 0) == 0;
}

}  // namespace flitwise::scenario
