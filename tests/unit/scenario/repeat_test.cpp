// SPDX-License-Identifier: Apache-2.0
// Repeated steps of a stimulus.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flitwise/error.h"
#include "scenario/scenario.h"

namespace flitwise::scenario::repeat_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string text_with(const std::string& stimulus, const std::string& parameters = "") {
  return "id: A\ntitle: t\ncites: []\n" + parameters + "never: [{event: check}]\nstimulus:\n" +
         stimulus;
}

std::vector<std::string> addresses_of(const Case& one) {
  std::vector<std::string> addresses;
  for (const Step& step : one.steps) {
    addresses.push_back(step.op.value("addr", step.op.at("op").get<std::string>()));
  }
  return addresses;
}

std::vector<std::string> problems_of(const std::string& stimulus,
                                     const std::string& parameters = "") {
  std::vector<std::string> texts;
  try {
    cases_from_text(text_with(stimulus, parameters), "c.yaml");
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems()) {
      texts.push_back(problem.text());
    }
  }
  return texts;
}

TEST(Repeat, StepsComeSoOftenWithTheirNumber) {
  const auto cases = cases_from_text(
      text_with(
          "- repeat: {times: 3, as: i, steps: [{poke: {addr: \"${4096 + i * 64}\", u8: 1}}]}\n"
          "- run: idle\n"),
      "c.yaml");
  EXPECT_THAT(addresses_of(cases.at(0)), ElementsAre("4096", "4160", "4224", "run"));
}

TEST(Repeat, RepeatsStandInRepeatsAndKnowParameters) {
  const auto cases = cases_from_text(
      text_with(
          "- repeat:\n    times: \"${n}\"\n    as: i\n    steps:\n"
          "    - repeat: {times: 2, as: j, steps: [{peek: {addr: \"${n * 100 + i * 10 + j}\"}}]}\n"
          "    - run: 10ns\n",
          "matrix: {n: [1, 2]}\n"),
      "c.yaml");
  ASSERT_THAT(cases, SizeIs(2));
  EXPECT_THAT(addresses_of(cases[0]), ElementsAre("100", "101", "run"));
  EXPECT_THAT(addresses_of(cases[1]), ElementsAre("200", "201", "run", "210", "211", "run"));
}

TEST(Repeat, WhatIsNoRepeatIsRefused) {
  const std::string steps = ", steps: [{poke: {addr: \"${i}\", u8: 1}}]";
  EXPECT_THAT(problems_of("- repeat: {times: 0, as: i" + steps + "}\n"),
              ElementsAre(HasSubstr("c.yaml:6:19: stimulus.repeat.times: is '0'; expected a whole "
                                    "number from 1 to 100000")));
  EXPECT_THAT(problems_of("- repeat: {times: 2x, as: i" + steps + "}\n"), SizeIs(1));
  EXPECT_THAT(problems_of("- repeat: {as: i" + steps + "}\n"),
              ElementsAre(HasSubstr("stimulus.repeat: is a map; expected times and steps")));
  EXPECT_THAT(problems_of("- repeat: {times: 2, steps: []}\n"), SizeIs(1));
  EXPECT_THAT(problems_of("- repeat: {times: 2, is: i, as: i" + steps + "}\n"),
              ElementsAre(HasSubstr("c.yaml:6:22: stimulus.repeat.is: unknown key")));
  EXPECT_THAT(problems_of("- {at: 1us, repeat: {times: 2, as: i" + steps + "}}\n"),
              ElementsAre(HasSubstr("stimulus.at: unknown key; expected repeat")));
  EXPECT_THAT(problems_of("- repeat: {times: 2, as: k, steps: [{run: idle}]}\n"),
              ElementsAre(HasSubstr("stimulus.repeat.as: is used nowhere; expected ${k}")));
  EXPECT_THAT(
      problems_of("- repeat: {times: 2, as: n, steps: [{peek: {addr: \"${n}\"}}]}\n",
                  "matrix: {n: [1]}\n"),
      ElementsAre(HasSubstr("stimulus.repeat.as: is 'n'; expected a name that no parameter")));
}

TEST(Repeat, MoreStepsThanAnybodyNeedsAreRefused) {
  EXPECT_THAT(problems_of("- repeat: {times: 1000, steps: [{repeat: {times: 1000, steps: [{run: "
                          "1ns}]}}]}\n"),
              ElementsAre(HasSubstr("c.yaml:5:1: stimulus: has more than 100000 steps")));
}

TEST(Repeat, ARoundThatIsWrongIsTheLastOne) {
  const std::string inside = "steps: [{repeat: {times: 0, steps: [{run: idle}]}}]";
  EXPECT_THAT(problems_of("- repeat: {times: 18446744073709551615, " + inside + "}\n"),
              ElementsAre(HasSubstr("c.yaml:6:19: stimulus.repeat.times: is '18446744073709551615';"
                                    " expected a whole number from 1 to 100000")));
  EXPECT_THAT(problems_of("- repeat: {times: 100001, steps: [{run: idle}]}\n"), SizeIs(1));
  std::string nested = "{repeat: {times: 0, steps: [{run: idle}]}}";
  for (unsigned level = 0; level < 4; ++level) {
    nested = "{repeat: {times: 100000, steps: [" + nested + "]}}";
  }
  EXPECT_THAT(problems_of("- " + nested + "\n"), ElementsAre(HasSubstr("is '0'; expected")));
}

TEST(Repeat, WhatCannotBeFilledInIsToldOnce) {
  EXPECT_THAT(problems_of("- repeat: {times: 3, steps: [{poke: {addr: \"${x + 1}\", u8: 1}}]}\n"),
              ElementsAre(HasSubstr("no such parameter")));
}

TEST(Repeat, StepsKnowTheirRound) {
  const auto cases = cases_from_text(
      text_with("- repeat:\n    times: 2\n    as: i\n    steps:\n"
                "    - repeat: {times: 2, as: j, steps: [{peek: {addr: \"${i * 10 + j}\"}}]}\n"
                "- run: idle\n"),
      "c.yaml");
  ASSERT_THAT(cases.at(0).steps, SizeIs(5));
  EXPECT_EQ(cases[0].steps[1].round, "i = 0, j = 1");
  EXPECT_EQ(cases[0].steps[2].round, "i = 1, j = 0");
  EXPECT_EQ(cases[0].steps[4].round, "");
}

TEST(Repeat, AStepThatIsWrongIsToldOnceUnderItsOwnNumber) {
  EXPECT_THAT(
      problems_of(
          "- run: idle\n"
          "- repeat: {times: 5, as: i, steps: [{run: idle}, {poke: {addr: \"x${i}\", u8: 1}}]}\n"),
      ElementsAre(AllOf(HasSubstr("c.yaml:7:51: stimulus[2].poke"), HasSubstr("x0"))));
}

}  // namespace
}  // namespace flitwise::scenario::repeat_test
