// SPDX-License-Identifier: Apache-2.0
// Lines of a host channel adapter: how they are read, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flitwise/error.h"
#include "script/hca_script.h"

namespace flitwise::hca_line_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string hca_problems(const std::string& text) {
  std::string all;
  try {
    parse_hca_line(json_value::parse(text), 7);
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems()) {
      all += problem.text() + "\n";
    }
  }
  return all;
}

TEST(HcaLine, ArgumentsAreRead) {
  const HcaLine line =
      parse_hca_line(json_value::parse(R"(["invalidate", 3, 31, "all", "0x7000", 2097152])"), 1);
  EXPECT_EQ(line.function, 3U);
  EXPECT_THAT(line.numbers, ElementsAre(31U, 0x7000U));
  EXPECT_TRUE(line.scope.all_pasids);
  EXPECT_EQ(line.range_bits, 21U);
  const HcaScriptSetup setup =
      parse_hca_line(
          json_value::parse(R"(["hca", {"page": [4096, 1073741824], "pasid": ["none", 5]}])"), 1)
          .setup;
  EXPECT_EQ(setup.pretranslation.functions[1].page_bits, 30U);
  EXPECT_EQ(setup.pretranslation.functions[1].pasid, OptionalId<Pasid>(Pasid{5}));
  EXPECT_FALSE(setup.pretranslation.functions[0].pasid.has_value());
}

TEST(HcaLine, WhatIsWrongIsSaidWithWhatWasExpected) {
  EXPECT_THAT(hca_problems(R"(["scam"])"), HasSubstr("nearest verb 'scan'"));
  EXPECT_THAT(hca_problems(R"(["stop"])"),
              HasSubstr("0 arguments seen; expected [\"stop\", function]"));
  EXPECT_THAT(hca_problems(R"(["status", 0, "CQ_DESK"])"), HasSubstr("nearest value 'CQ_DESC'"));
  EXPECT_THAT(hca_problems(R"(["answer", 0, 0, 5000, "x"])"),
              AllOf(HasSubstr("5000 seen; expected a power of two from 4096 on"),
                    HasSubstr("none, r, w or rw")));
  EXPECT_THAT(hca_problems(R"(["hca", {"entries": 6, "ways": 4, "page": [4096, 4096, 4096],
                              "retry_ns": 5, "most_retry_ns": 4}])"),
              AllOf(HasSubstr("4 seen; expected a divisor of the 6 entries"),
                    HasSubstr("3 values seen; expected one, or one for each of 2 functions"),
                    HasSubstr("4 seen; expected at least retry_ns, which is 5")));
}

TEST(HcaLine, WhatIsRefusedChangesNothing) {
  HcaScript script;
  std::vector<std::string> details;
  const auto play = [&](const char* text) {
    script.run(parse_hca_line(json_value::parse(text), 1), [&](const Json& event) {
      details.push_back(event.value("detail", event["event"].get<std::string>()));
    });
  };
  play(R"(["scan"])");  // nothing is set up but by default
  play(R"(["start", 2])");
  play(R"(["fetched", 0, 7])");
  play(R"(["finish", 1, 1])");
  play(R"(["answer", 0, 0, 4096, "rw"])");
  play(R"(["served", 0, "CQ"])");
  play(R"(["invalidate", 0, 32, "none", 0, 4096])");
  play(R"(["structure", 0, "CQ", "0xffffffffffffffff", 2])");
  play(R"(["command", 0, 7, 1])");
  play(R"(["command", 0, 8, 1])");
  EXPECT_THAT(
      details,
      ElementsAre("start: function 2 seen; expected 0 to 1",
                  "fetched: nothing is fetched of QP 0x7 of function 0",
                  "finish: no command 1 has its state", "answer: no request 0 is under way",
                  "served: no access to CQ with AT=10 is under way",
                  "invalidate: ITag 32 seen; expected 0 to 31, and none that waits",
                  "structure: 2 bytes at 0xffffffffffffffff seen; expected an end within 64 bits",
                  "hca_command",
                  HasSubstr("command 1 seen; expected another id than those of the 1 under way")));
  for (unsigned i = 0; i < 838; ++i) {
    play(R"(["wait", 4294967295])");
  }
  details.clear();
  play(R"(["wait", 4294967295])");
  EXPECT_THAT(details, ElementsAre("wait: expected one hour in all at most"));
}

}  // namespace
}  // namespace flitwise::hca_line_test
