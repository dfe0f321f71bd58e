// SPDX-License-Identifier: Apache-2.0
// Lines of session groups: how they are read, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flitwise/error.h"
#include "script/srdma_script.h"

namespace flitwise::srdma_line_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string srdma_problems(const std::string& text) {
  std::string all;
  try {
    parse_srdma_line(json_value::parse(text), 7);
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems()) {
      all += problem.text() + "\n";
    }
  }
  return all;
}

/// What the lines tell.
std::vector<Json> told_by(const std::vector<std::string>& lines) {
  SrdmaScript script;
  std::vector<Json> told;
  for (const std::string& line : lines) {
    script.run(parse_srdma_line(json_value::parse(line), 1),
               [&](const Json& event) { told.push_back(event); });
  }
  return told;
}

TEST(SrdmaLine, ArgumentsAreRead) {
  const SrdmaLine line = parse_srdma_line(json_value::parse(R"(["send", 1, 3, "0x8001", 512])"), 1);
  EXPECT_EQ(line.end, 1U);
  EXPECT_EQ(line.group, 3U);
  EXPECT_EQ(line.session, 0x8001);
  EXPECT_THAT(line.numbers, ElementsAre(512U));
  const SrdmaScriptSetup setup =
      parse_srdma_line(json_value::parse(R"(["srdma", {"secured": [true, false],
                       "max_sessions": 9, "latency_ns": 2000, "lifetime_us": 20000}])"),
                       1)
          .setup;
  EXPECT_TRUE(setup.ends[0].sessions.credentials.is_secured);
  EXPECT_FALSE(setup.ends[1].sessions.credentials.is_secured);
  EXPECT_EQ(setup.ends[1].sessions.max_sessions, 9U);
  EXPECT_EQ(setup.latency, Time::from_us(2));
  EXPECT_LT(setup.ends[0].address, setup.ends[1].address);
}

TEST(SrdmaLine, WhatIsWrongIsSaidWithWhatWasExpected) {
  EXPECT_THAT(srdma_problems(R"(["delivr", 1])"), HasSubstr("nearest verb 'deliver'"));
  EXPECT_THAT(srdma_problems(R"(["add", 1])"),
              HasSubstr("1 argument seen; expected [\"add\", end, group]"));
  EXPECT_THAT(srdma_problems(R"(["lose", "REFRESH", 1])"), HasSubstr("REFRESH_REQ"));
  EXPECT_THAT(srdma_problems(R"(["connect", 2, {"qps": [0], "sesions": 1}])"),
              AllOf(HasSubstr("expected numbers of queue pairs"), HasSubstr("'sessions'"),
                    HasSubstr("2 seen; expected 0 to 1")));
  EXPECT_THAT(srdma_problems(R"(["srdma", {"secured": true, "lifetime_us": 5,
                             "refresh_margin_us": 6}])"),
              HasSubstr("lifetime 5000 ns seen; expected at least refresh_margin, 6000 ns"));
  EXPECT_THAT(srdma_problems(R"(["srdma", {"source_first": 9, "source_last": 8}])"),
              HasSubstr("an empty range of ports seen"));
  EXPECT_THAT(srdma_problems(R"(["srdma", {"mtu": [1024, 1024, 1024]}])"),
              HasSubstr("expected one value, or two of the ends 0 and 1"));
}

TEST(SrdmaLine, WhatIsRefusedChangesNothing) {
  const auto told = told_by({R"(["add", 0, 0])", R"(["deliver", 1])", R"(["pass", 20000001])",
                             R"(["connect", 0, {"sessions": 0}])", R"(["guess", 0, 1, 1000001])",
                             R"(["counts", 0])"});
  ASSERT_EQ(told.size(), 6U);
  EXPECT_EQ(told[0]["detail"], "add of end 0: there is no group 0");
  EXPECT_EQ(told[1]["detail"], "deliver of end 1: no frame is on its way to it");
  EXPECT_EQ(told[2]["detail"], "pass of end 0: 20000001 ns seen; expected up to 20000000 a line");
  EXPECT_EQ(told[3]["detail"], "connect of end 0: NO_PORT");
  EXPECT_EQ(told[4]["detail"], "guess of end 0: 1000001 guesses seen; expected up to 1000000");
  EXPECT_EQ(told[5]["ports"], 0);
}

TEST(SrdmaLine, SameLinesSameEvents) {
  const std::vector<std::string> lines = {R"(["srdma", {"secured": true, "seed": 5}])",
                                          R"(["connect", 0, {"sessions": 3}])", R"(["run"])",
                                          R"(["status", 0, 0])", R"(["status", 1, 0])"};
  EXPECT_EQ(told_by(lines), told_by(lines));
  std::vector<std::string> other = lines;
  other[0] = R"(["srdma", {"secured": true, "seed": 6}])";
  EXPECT_NE(told_by(lines), told_by(other));
}

}  // namespace
}  // namespace flitwise::srdma_line_test
