// SPDX-License-Identifier: Apache-2.0
// A text as a config: refused with places, or one whose canonical form reads back as itself.
#include "config/load.h"

#include <algorithm>

#include "flitwise/error.h"
#include "fuzz/fuzz_support.h"

namespace flitwise {
namespace {

// No files are found from here.
constexpr const char* kNowhere = "/nonexistent";

// A first line "#--set KEY=VALUE" is an option of the command line.
LoadOptions options_in(const std::string& text) {
  const std::string mark = "#--set ";
  LoadOptions options;
  if (text.rfind(mark, 0) == 0) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    options.sets.push_back(text.substr(mark.size(), end - mark.size()));
  }
  return options;
}

void check(const std::string& yaml) {
  Config config;
  try {
    config = config_from_text(yaml, "input.yaml", kNowhere, options_in(yaml));
  } catch (const ConfigError& error) {
    FLITWISE_PROPERTY(!error.problems().empty());
    for (const Problem& problem : error.problems()) {
      FLITWISE_PROPERTY(!problem.message.empty() && problem.line >= 0 && problem.column >= 0);
    }
    return;
  }
  const std::string canonical = effective_config(config).dump();
  const Config again = config_from_text(canonical, "canonical.yaml", kNowhere);
  FLITWISE_PROPERTY(effective_config(again).dump() == canonical);
  FLITWISE_PROPERTY(config_sha256(again) == config_sha256(config));
  for (const auto& [name, values] : config.instances) {
    for_instance(config, name);
  }
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  flitwise::check(flitwise::fuzz::text_of_input(data, size));
  return 0;
}
