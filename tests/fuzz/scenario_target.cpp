// SPDX-License-Identifier: Apache-2.0
// A text as a case file: refused with places, or cases whose operations and patterns can be used.
#include "flitwise/error.h"
#include "fuzz/fuzz_support.h"
#include "scenario/scenario.h"
#include "script/script_line.h"

namespace flitwise::scenario {
namespace {

void check_pattern(const EventPattern& pattern) {
  static const Json kEvent = Json::parse(
      R"({"event":"wire","t_ns":1.5,"type":"Nak","direction":"up","replay":false,"seq":7})");
  const bool is_match = pattern.matches(kEvent);
  FLITWISE_PROPERTY(!is_match || pattern.agreement(kEvent) == pattern.fields.size());
  pattern.text();
}

void check_case(const Case& one) {
  FLITWISE_PROPERTY(!one.cites.empty());
  FLITWISE_PROPERTY(!one.expect.empty() || !one.never.empty() || !one.final_checks.empty() ||
                    !one.same_as.empty());
  for (const Step& step : one.steps) {
    FLITWISE_PROPERTY(!step.at || *step.at >= Time{});
    // The text travels to the machine as one line.
    parse_script_line(Json::parse(step.op.dump()), 1);
  }
  for (const Expectation& expectation : one.expect) {
    for (const EventPattern& pattern : expectation.any_order) {
      check_pattern(pattern);
    }
  }
  for (const EventPattern& pattern : one.never) {
    check_pattern(pattern);
  }
  for (const FinalCheck& check : one.final_checks) {
    parse_script_line(Json::parse(check.op.dump()), 1);
    check_pattern(check.expected);
  }
}

void check(const std::string& yaml) {
  try {
    for (const Case& one : cases_from_text(yaml, "input.yaml")) {
      check_case(one);
    }
  } catch (const ConfigError& error) {
    FLITWISE_PROPERTY(!error.problems().empty());
  }
}

}  // namespace
}  // namespace flitwise::scenario

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  flitwise::scenario::check(flitwise::fuzz::text_of_input(data, size));
  return 0;
}
