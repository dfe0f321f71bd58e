// SPDX-License-Identifier: Apache-2.0
// Case files whose parameters lead nowhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flitwise/error.h"
#include "scenario/scenario.h"

namespace flitwise::scenario {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> problems_of(const std::string& parameters, const std::string& value) {
  std::vector<std::string> texts;
  try {
    cases_from_text("id: A-1\ntitle: t\ncites: [A-1]\n" + parameters +
                        "stimulus: [{poke: {addr: 0, u64: \"" + value +
                        "\"}}]\nnever: [{event: wire}]\n",
                    "c.yaml");
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems()) {
      texts.push_back(problem.text());
    }
  }
  return texts;
}

TEST(BadCaseFile, FormulaBeyondTheWholeNumbersIsRefused) {
  EXPECT_THAT(problems_of("", "${9000000000 * 1000000000}"), IsEmpty());
  for (const char* formula :
       {"${1e300 * 1}", "${1e308 * 10}", "${0 - 1e308 * 10}", "${1e308 * 10 - 1e308 * 10}"}) {
    EXPECT_THAT(problems_of("", formula), Contains(HasSubstr("expected a number up to")))
        << formula;
  }
}

TEST(BadCaseFile, MatrixOfMoreCasesThanAnybodyReadsIsRefused) {
  std::string matrix = "matrix:\n";
  for (char axis = 'a'; axis <= 'l'; ++axis) {
    matrix += std::string("  ") + axis + ": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n";
  }
  EXPECT_THAT(problems_of(matrix, "1"),
              Contains(HasSubstr("c.yaml:8:3: matrix.d: makes 1000 x 10 cases; expected at most")));
}

std::vector<std::string> problems_with(const std::string& rest) {
  std::vector<std::string> texts;
  try {
    cases_from_text("id: A-1\ntitle: t\ncites: [A-1]\nstimulus: [{run: idle}]\n" + rest, "c.yaml");
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems()) {
      texts.push_back(problem.text());
    }
  }
  return texts;
}

TEST(BadCaseFile, WhatCannotFailIsRefused) {
  EXPECT_THAT(problems_with("expect: [{any_order: []}]\n"),
              ElementsAre(HasSubstr("expected a list of events")));
  for (const char* figure : {"any", "\">= 0\"", "[0, \"> 0\"]"}) {
    EXPECT_THAT(problems_with(std::string("expect: [{event: wire, count: ") + figure + "}]\n"),
                ElementsAre(HasSubstr("holds for every number")))
        << figure;
    EXPECT_THAT(
        problems_with(std::string("final: {counters: {links.0.up.replays: ") + figure + "}}\n"),
        ElementsAre(HasSubstr("holds for every number")))
        << figure;
  }
  EXPECT_THAT(problems_with("expect: [{event: wire, count: \">= 1\"}]\n"), IsEmpty());
}

TEST(BadCaseFile, WordsThatNoEventHasAreRefusedWithTheNearest) {
  EXPECT_THAT(problems_with("never: [{event: wire, type: mwr}]\n"),
              ElementsAre(HasSubstr("no type is called 'mwr'")));
  EXPECT_THAT(problems_with("never: [{event: wire, direction: upwards}]\n"),
              ElementsAre(HasSubstr("direction")));
  EXPECT_THAT(problems_with("never: [{event: error, kind: malformed}]\n"),
              ElementsAre(HasSubstr("malformed_tlp")));
  EXPECT_THAT(problems_with("never: [{event: completion, status: [SC, URR]}]\n"),
              ElementsAre(HasSubstr("URR")));
  EXPECT_THAT(problems_with("never: [{type: [MWr, Nak], direction: \"!= up\", kind: any}]\n"),
              IsEmpty());
}

TEST(BadCaseFile, AParameterThatNothingUsesIsRefused) {
  const std::string end = "never: [{event: wire, tag: \"${b + 1}\"}]\n";
  EXPECT_THAT(problems_with("matrix: {b: [1], a: [1, 2, 3]}\n" + end),
              ElementsAre(HasSubstr("matrix.a: is used nowhere")));
  EXPECT_THAT(problems_with("variants: [{name: x, b: 1, bb: 2}]\n" + end),
              ElementsAre(HasSubstr("variants.bb: is used nowhere")));
}

TEST(BadCaseFile, SameAsNamesAnotherCaseOfTheFile) {
  const std::string same = "same_as: {case: A-1/x, events: [{event: wire}]}\n";
  EXPECT_THAT(problems_with(same), ElementsAre(HasSubstr("no case of this file has the id")));
  EXPECT_THAT(problems_with("same_as: {case: A-1, events: [{event: wire}]}\n"),
              ElementsAre(HasSubstr("is the case itself")));
  EXPECT_THAT(problems_with("matrix: {t: [x, y]}\nnever: [{event: wire, tag: \"${t}\"}]\n" + same),
              IsEmpty());
}

TEST(BadCaseFile, TextThatIsNoUtf8IsRefused) {
  EXPECT_THAT(problems_of("", "\xfa"),
              ElementsAre(HasSubstr("c.yaml:4:34: bytes that are no UTF-8")));
}

}  // namespace
}  // namespace flitwise::scenario
