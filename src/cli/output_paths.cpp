// SPDX-License-Identifier: Apache-2.0
// Compares what is there by device and inode, what is to come by the path where it will be.
#include "cli/output_paths.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "cli/commands.h"
#include "common/atomic_file.h"
#include "common/printable.h"

namespace flitwise::cli {
namespace {

namespace fs = std::filesystem;

fs::path final_place(const std::string& path) {
  std::error_code failure;
  return fs::weakly_canonical(fs::absolute(end_of_links(path), failure), failure);
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code failure;
  if (fs::equivalent(one, other, failure) && !failure) {
    return fs::is_regular_file(one, failure);
  }
  if (fs::exists(one, failure) || fs::exists(other, failure)) {
    return false;
  }
  const fs::path first = final_place(one), second = final_place(other);
  return !first.empty() && first == second;
}

}  // namespace

void refuse_to_overwrite(const std::vector<NamedPath>& inputs,
                         const std::vector<NamedPath>& outputs) {
  std::vector<NamedPath> others = inputs;
  for (const NamedPath& output : outputs) {
    for (const NamedPath& other : others) {
      if (is_same_file(output.path, other.path)) {
        throw UsageError(fmt::format("{}: '{}' is {} as well; expected a file of its own",
                                     output.what, shortened(output.path), other.what));
      }
    }
    others.push_back(output);
  }
}

}  // namespace flitwise::cli
