// SPDX-License-Identifier: Apache-2.0
/// Configurations from YAML: files become validated structs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flitwise/config.h"
#include "flitwise/error.h"

namespace flitwise {

/// What the command line adds to a file.
struct LoadOptions {
  std::vector<std::string> sets;  ///< "device.dhi.bits=6"; later ones win, all win over the file
  std::optional<std::uint64_t> seed;  ///< wins over everything
};

/// What became of an input beside its values.
struct LoadNotes {
  std::string base_file;  ///< empty: there is none
  /// Every key that the file itself or the options give, in file order. The message says why it has
  /// no effect on a run ("because ..."); empty: a run reads it.
  std::vector<Problem> given;
};

/// Reads a YAML file over its base (if any) over the defaults, then applies the options.
/// Throws ConfigError with every problem found, in file order. Fills in the notes that are asked
/// for.
Config load_config(const std::string& file, const LoadOptions& options = {},
                   LoadNotes* notes = nullptr);

/// The same for a text. `name` stands for the file in messages; relative paths inside the text
/// start at `directory` (empty: the working directory).
Config config_from_text(const std::string& yaml, const std::string& name,
                        const std::string& directory, const LoadOptions& options = {},
                        LoadNotes* notes = nullptr);

}  // namespace flitwise
