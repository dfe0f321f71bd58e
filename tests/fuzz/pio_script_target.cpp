// SPDX-License-Identifier: Apache-2.0
// A text as lines of PIO send memory, one behind the other: each is done or refused with a message,
// and every return names a counter and a cause.
#include <array>
#include <sstream>

#include "flitwise/error.h"
#include "fuzz/fuzz_support.h"
#include "script/pio_script.h"

namespace flitwise {
namespace {

void check_answer(const Json& answer) {
  FLITWISE_PROPERTY(!answer.dump(-1, ' ', false, Json::error_handler_t::strict).empty());
  if (answer.contains("qw")) {
    const auto trigger = answer["qw"][answer["ctx"].get<unsigned>() % 8].get<std::uint64_t>();
    FLITWISE_PROPERTY(trigger >> 16 == 0 && (trigger & kCreditCauses) != 0);
    FLITWISE_PROPERTY(((trigger & kCreditStatus) != 0) == ((trigger & kDueToError) != 0));
  }
}

}  // namespace
}  // namespace flitwise

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flitwise;
  std::istringstream lines(fuzz::text_of_input(data, size));
  PioScript script;
  std::string text;
  for (int number = 1; std::getline(lines, text); ++number) {
    const Json json = json_value::parse(text);
    if (!json.is_array()) {
      continue;
    }
    try {
      script.run(parse_pio_line(json, number), PioScript::Form::kLines, check_answer);
    } catch (const ConfigError& error) {
      FLITWISE_PROPERTY(!error.problems().empty());
      for (const Problem& problem : error.problems()) {
        FLITWISE_PROPERTY(!Json(problem.text()).dump().empty());
      }
    }
  }
  return 0;
}
