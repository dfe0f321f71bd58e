// SPDX-License-Identifier: Apache-2.0
// A text as lines of the switches of a network: each is done or refused with a message, and every
// answer is an event. No packet ends elsewhere than at its host with the outcome that it came.
#include "script/network_script.h"

#include "fuzz/script_arrays.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flitwise;
  NetworkScript script;
  fuzz::run_arrays(data, size, [&](const Json& line, int number) {
    const NetworkLine parsed = parse_network_line(line, number);
    script.run(parsed, [&](const Json& answer) {
      fuzz::check_text(answer);
      FLITWISE_PROPERTY(answer.contains("event"));
      if (answer["event"] == "network_packet") {
        const std::string way = answer["way"];
        FLITWISE_PROPERTY(answer["checksum"] == "good");
        FLITWISE_PROPERTY((answer["outcome"] == "delivered") ==
                          (way.size() > parsed.packet.to.size() &&
                           way.substr(way.rfind(' ') + 1) == parsed.packet.to));
      }
    });
  });
  return 0;
}
