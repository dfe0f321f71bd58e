// SPDX-License-Identifier: Apache-2.0
// A text as lines of session groups: each is done or refused with a message, and every answer is an
// event.
#include "script/srdma_script.h"

#include "fuzz/script_arrays.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flitwise;
  SrdmaScript script;
  fuzz::run_arrays(data, size, [&](const Json& line, int number) {
    script.run(parse_srdma_line(line, number), [](const Json& answer) {
      fuzz::check_text(answer);
      FLITWISE_PROPERTY(answer.contains("event"));
    });
  });
  return 0;
}
