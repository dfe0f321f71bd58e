// SPDX-License-Identifier: Apache-2.0
// A text as lines of a host channel adapter, one behind the other: each is done or refused
// with a message, and every answer is text that can be printed.
#include <sstream>

#include "flitwise/error.h"
#include "fuzz/fuzz_support.h"
#include "script/hca_script.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flitwise;
  std::istringstream lines(fuzz::text_of_input(data, size));
  HcaScript script;
  std::string text;
  for (int number = 1; std::getline(lines, text); ++number) {
    const Json json = json_value::parse(text);
    if (!json.is_array()) {
      continue;
    }
    try {
      script.run(parse_hca_line(json, number), [](const Json& answer) {
        FLITWISE_PROPERTY(!answer.dump(-1, ' ', false, Json::error_handler_t::strict).empty());
        FLITWISE_PROPERTY(answer.contains("event"));
      });
    } catch (const ConfigError& error) {
      FLITWISE_PROPERTY(!error.problems().empty());
    }
  }
  return 0;
}
