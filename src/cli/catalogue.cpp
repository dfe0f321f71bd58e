// SPDX-License-Identifier: Apache-2.0
// Where the catalogue is.
#include "cli/catalogue.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.h"
#include "flitwise/error.h"

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

void print_list(const std::vector<scenario::Case>& cases) {
  for (const scenario::Case& one : cases) {
    fmt::print("{}\t{}\n", one.id, one.title);
  }
}

}  // namespace flitwise::cli
