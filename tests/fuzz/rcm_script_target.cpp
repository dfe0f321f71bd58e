// SPDX-License-Identifier: Apache-2.0
// A text as lines of a session group: each is done or refused with a message, every answer is an
// event, and levels and weights are from 0 to 1.
#include "script/rcm_script.h"

#include "fuzz/script_arrays.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flitwise;
  RcmScript script;
  fuzz::run_arrays(data, size, [&](const Json& line, int number) {
    script.run(parse_rcm_line(line, number), [](const Json& answer) {
      fuzz::check_text(answer);
      FLITWISE_PROPERTY(answer.contains("event"));
      for (const char* score : {"level", "weight"}) {
        FLITWISE_PROPERTY(!answer.contains(score) ||
                          (answer[score].get<double>() >= 0 && answer[score].get<double>() <= 1));
      }
    });
  });
  return 0;
}
