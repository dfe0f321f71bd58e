// SPDX-License-Identifier: Apache-2.0
// Lines of a session group: how they are read, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flitwise/error.h"
#include "script/rcm_script.h"

namespace flitwise::rcm_line_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::string rcm_problems(const std::string& text) {
  std::string all;
  try {
    parse_rcm_line(json_value::parse(text), 7);
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems()) {
      all += problem.text() + "\n";
    }
  }
  return all;
}

TEST(RcmLine, ArgumentsAreReadAsNumbersOrTexts) {
  const RcmLine line =
      parse_rcm_line(json_value::parse(R"(["echo", "3", "0xffffff", 40, "true"])"), 1);
  EXPECT_THAT(line.numbers, ElementsAre(3U, 0xffffffU, 40U, 1U));
  const BalancerSetup setup =
      parse_rcm_line(json_value::parse(R"(["rcm", {"policy": "hash_table", "g_w": "0.5",
                     "T_low": 0.25, "weights": ["0.125", 1], "stale_ns": 7, "q_max_ns": "9",
                     "algorithm": "bandwidth_ratio", "form": "capability"}])"),
                     1)
          .setup.balancer;
  EXPECT_EQ(setup.choice.policy, ChoicePolicy::kHashTable);
  EXPECT_TRUE(setup.choice.is_capability && setup.control.is_capability);
  EXPECT_EQ(setup.weights.gain, 0.5);
  EXPECT_EQ(setup.control.relaxed, 0.25);
  EXPECT_THAT(setup.weights.fixed, ElementsAre(0.125, 1));
  EXPECT_EQ(setup.weights.stale_time, Time::from_ns(7));
  EXPECT_EQ(setup.weights.q_max, Time::from_ns(9));
}

TEST(RcmLine, WhatIsWrongIsSaidWithWhatWasExpected) {
  EXPECT_THAT(rcm_problems(R"(["sent", 1, 0])"), HasSubstr("nearest verb 'send'"));
  EXPECT_THAT(rcm_problems(R"(["lost"])"), HasSubstr("0 arguments seen; expected [\"lost\", psn]"));
  EXPECT_THAT(rcm_problems(R"(["lost", 16777216])"), HasSubstr("16777216 seen"));
  EXPECT_THAT(
      rcm_problems(R"(["rcm", {"policy": "hash_tables", "g_w": 2, "weights": [0, "x"],
                              "wait_ns": 5, "base_window_ns": 1}])"),
      AllOf(HasSubstr("nearest value 'hash_table'"), HasSubstr("2 seen; expected a number from 0"),
            HasSubstr("\"x\" seen; expected a number"), HasSubstr("unknown key"),
            HasSubstr("base_window_ns")));
  EXPECT_THAT(rcm_problems(R"(["path", 0, {"rtt": 5}])"), HasSubstr("nearest key 'rtt_ns'"));
  EXPECT_THAT(rcm_problems(R"(["weights", {"eta": -1}])"), HasSubstr("-1 seen"));
}

TEST(RcmScript, WhatIsRefusedChangesNothing) {
  RcmScript script;
  std::vector<std::string> details;
  const auto play = [&](const char* text) {
    script.run(parse_rcm_line(json_value::parse(text), 1), [&](const Json& event) {
      details.push_back(event.value("detail", event["event"].get<std::string>()));
    });
  };
  play(R"(["session", 2])");  // nothing is set up but by default
  play(R"(["add", 1])");
  play(R"(["lost", 5])");
  play(R"(["send", 10001, 0])");
  play(R"(["drive", 1000, 0])");
  play(R"(["share", 0])");
  play(R"(["end_add", true])");
  play(R"(["weights", {"algorithm": "bandwidth_ratio", "form": "capability"}])");
  play(R"(["rcm", {"sessions": 3, "max_sessions": 2}])");
  play(R"(["group"])");
  EXPECT_THAT(details, ElementsAre("session: there is no session 2", "add: there is a session 1",
                                   "lost: no packet of PSN 5 was sent",
                                   HasSubstr("send: 10001 packets seen; expected up to 10000"),
                                   HasSubstr("drive: a packet each 0 ns for 1000 ns seen"),
                                   "share: 0 packets seen; expected 1 to 2000000",
                                   "end_add: no handshake is under way",
                                   HasSubstr("weights: form capability"),
                                   "rcm: 3 sessions seen; expected up to 2", "rcm_group"));
}

TEST(RcmScript, AGroupThatIsFullTakesNoMore) {
  RcmScript script;
  std::vector<std::string> told;
  const auto play = [&](const char* text) {
    script.run(parse_rcm_line(json_value::parse(text), 1), [&](const Json& event) {
      told.push_back(event.value("detail", event["event"].get<std::string>()));
    });
  };
  play(R"(["rcm", {"sessions": 2, "max_sessions": 2}])");
  play(R"(["add", 9])");
  EXPECT_THAT(told, ElementsAre("add: expected up to 2 sessions"));
  play(R"(["remove", 0])");
  told.clear();
  play(R"(["add", 9])");
  play(R"(["session", 9])");
  EXPECT_THAT(told, ElementsAre("rcm_session"));
}

TEST(RcmScript, TimeAndPathsAreTheSameEachTime) {
  const auto played = [] {
    RcmScript script;
    std::string all;
    for (const char* text :
         {R"(["rcm", {"acts": true, "C": 2, "mode": "any", "path": {"service_ns": 900}}])",
          R"(["drive", 400000, 300])", R"(["path", 1, {"dead": true}])",
          R"(["drive", 1000000, 700])", R"(["group"])", R"(["session", 1])", R"(["stats", 0])"}) {
      script.run(parse_rcm_line(json_value::parse(text), 1),
                 [&](const Json& event) { all += event.dump() + "\n"; });
    }
    return all;
  };
  const std::string first = played();
  EXPECT_THAT(first, AllOf(HasSubstr("\"action\":\"add\""), HasSubstr("\"timed_out\":true")));
  EXPECT_EQ(first, played());
}

}  // namespace
}  // namespace flitwise::rcm_line_test
