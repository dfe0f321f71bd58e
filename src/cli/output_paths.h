// SPDX-License-Identifier: Apache-2.0
/// What a command writes is none of what it reads, nor two files at once.
#pragma once

#include <string>
#include <vector>

namespace flitwise::cli {

struct NamedPath {
  std::string path;
  std::string what;  ///< "the config", "--trace packets": for the message
};

/// Throws UsageError where an output would overwrite an input or another output, by whatever name.
/// Devices and pipes may be shared.
void refuse_to_overwrite(const std::vector<NamedPath>& inputs,
                         const std::vector<NamedPath>& outputs);

}  // namespace flitwise::cli
