// SPDX-License-Identifier: Apache-2.0
// A text as lines of PIO send memory: each is done or refused with a message, and every return
// names a counter and a cause.
#include "script/pio_script.h"

#include "fuzz/script_arrays.h"

namespace flitwise {
namespace {

void check_answer(const Json& answer) {
  fuzz::check_text(answer);
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
  PioScript script;
  fuzz::run_arrays(data, size, [&](const Json& line, int number) {
    script.run(parse_pio_line(line, number), PioScript::Form::kLines, check_answer);
  });
  return 0;
}
