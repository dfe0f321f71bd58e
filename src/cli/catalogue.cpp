// SPDX-License-Identifier: Apache-2.0
// Where the catalogue is.
#include "cli/catalogue.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "cli/commands.h"
#include "common/printable.h"
#include "flitwise/error.h"
#include "scenario/case_files.h"

namespace flitwise::cli {

namespace fs = std::filesystem;

std::vector<std::string> default_case_paths() {
  const fs::path here = "tests/cases";
  if (fs::is_directory(here)) {
    return {here.string()};
  }
  const fs::path program = own_path();
  for (const char* const beside :
       {"../share/flitwise/cases", "../../tests/cases", "../tests/cases"}) {
    if (const fs::path cases = program.parent_path() / beside; fs::is_directory(cases)) {
      return {cases.lexically_normal().string()};
    }
  }
  throw ConfigError(
      {{"tests/cases", 0, 0, "",
        "no catalogue here or installed; expected the path of a case file or folder"}});
}

std::vector<scenario::Case> cases_in(const std::vector<std::string>& paths) {
  std::vector<std::string> dead_links;
  std::vector<scenario::Case> cases = scenario::find_cases(paths, dead_links);
  for (const std::string& link : dead_links) {
    fmt::print(stderr, "flitwise: warning: {} is a link that leads to no file; passed over\n",
               printable(link));
  }
  return cases;
}

std::string list_of(const std::vector<scenario::Case>& cases) {
  std::string lines;
  for (const scenario::Case& one : cases) {
    lines += fmt::format("{}\t{}\n", one.id, one.title);
  }
  return lines;
}

}  // namespace flitwise::cli
