// SPDX-License-Identifier: Apache-2.0
// Case files: parameters, errors with their places, and cases that are written and read again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flitwise/error.h"
#include "scenario/scenario.h"

namespace flitwise::scenario::scenario_reader_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kHead = "id: LNK-1.1\ntitle: A title\ncites: [LNK-1.1]\n";

std::string problems_of(const std::string& yaml) {
  try {
    cases_from_text(yaml, "case.yaml");
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(CaseFile, ReadsStepsAsOperationsOfTheScriptLanguage) {
  const auto cases = cases_from_text(std::string(kHead) +
                                         "stimulus:\n"
                                         "  - at: 2us\n"
                                         "    peek: {addr: 0x10}\n"
                                         "  - run: 1us\n"
                                         "  - run: idle\n"
                                         "never:\n  - {event: violation}\n",
                                     "case.yaml");
  ASSERT_THAT(cases, SizeIs(1));
  ASSERT_THAT(cases[0].steps, SizeIs(3));
  EXPECT_EQ(cases[0].steps[0].at, Time::from_us(2));
  EXPECT_EQ(cases[0].steps[0].op, (Json{{"op", "peek"}, {"addr", "0x10"}}));
  EXPECT_EQ(cases[0].steps[1].op, (Json{{"op", "run"}, {"for", "1us"}}));
  EXPECT_EQ(cases[0].steps[2].op, (Json{{"op", "run"}, {"until", "idle"}}));
  EXPECT_EQ(cases[0].steps[1].place.line, 7);
}

TEST(CaseFile, FormulasOfWholeNumbersAreExactTo64Bits) {
  const auto poked = [](const std::string& formula) {
    return cases_from_text(std::string(kHead) +
                               "matrix: {b: [9007199254740993], h: [0x20000000000001]}\n"
                               "stimulus:\n  - poke: {addr: '${h + b - h - b}', u64: '${" +
                               formula + "}'}\nnever:\n  - {event: violation}\n",
                           "case.yaml")
        .at(0)
        .steps.at(0)
        .op.value("u64", "");
  };
  EXPECT_EQ(poked("9007199254740993 + 0"), "9007199254740993");
  EXPECT_EQ(poked("b + h"), "18014398509481986");
  EXPECT_EQ(poked("max(b, 7) * 3 + 1e3"), "27021597764223979");
  EXPECT_EQ(poked("0 - b + 18014398509481987"), "9007199254740994");
}

TEST(CaseFile, AMatrixGivesAllCombinationsAndFormulasAreFilledIn) {
  const auto cases =
      cases_from_text(std::string(kHead) +
                          "matrix: {bytes: [64, 128], again: [a, b]}\n"
                          "stimulus:\n  - peek: {addr: 0, bytes: '${bytes / 4 + 1}'}\n"
                          "final: {counters: {'links.0.${again}': '${bytes}'}}\n",
                      "case.yaml");
  std::vector<std::string> ids;
  for (const Case& one : cases) {
    ids.push_back(one.id);
  }
  EXPECT_THAT(ids, ElementsAre("LNK-1.1/64-a", "LNK-1.1/64-b", "LNK-1.1/128-a", "LNK-1.1/128-b"));
  EXPECT_EQ(cases[3].steps[0].op.at("bytes"), "33");
  EXPECT_EQ(cases[3].final_checks[0].op.at("path"), "links.0.b");
}

TEST(CaseFile, NamedVariantsCarryTheirNames) {
  const auto cases =
      cases_from_text(std::string(kHead) +
                          "variants:\n  - {name: short, n: 1}\n  - {n: 2}\n"
                          "stimulus:\n  - peek: {addr: '${n}'}\nnever:\n  - {event: violation}\n",
                      "case.yaml");
  ASSERT_THAT(cases, SizeIs(2));
  EXPECT_EQ(cases[0].id, "LNK-1.1/short");
  EXPECT_EQ(cases[1].id, "LNK-1.1/2");
}

TEST(CaseFile, TellsEveryProblemWithItsPlace) {
  const std::string problems = problems_of(
      "id: LNK-1.1\ntitle: A title\ncites: [LNK-1.1]\n"
      "stimuli: []\n"
      "stimulus:\n"
      "  - peeek: {addr: 0}\n"
      "  - peek: {adr: 0}\n"
      "  - {at: 3 parsecs, run: idle}\n"
      "expect:\n  - {event: wire, within: [1ns]}\n");
  EXPECT_THAT(problems, HasSubstr("case.yaml:4:1: stimuli: unknown key"));
  EXPECT_THAT(problems, HasSubstr("nearest key 'stimulus'"));
  EXPECT_THAT(problems, HasSubstr("case.yaml:6:5: stimulus[0].peeek.op: unknown op 'peeek'"));
  EXPECT_THAT(problems, HasSubstr("case.yaml:7:5: stimulus[1].peek.addr: missing"));
  EXPECT_THAT(problems, HasSubstr("stimulus[1].peek.adr: unknown key"));
  EXPECT_THAT(problems, HasSubstr("case.yaml:8:10: stimulus[2].at"));
  EXPECT_THAT(problems, HasSubstr("expect[0].within"));
}

TEST(CaseFile, ACaseThatCannotFailIsRefused) {
  EXPECT_THAT(problems_of(std::string(kHead) + "stimulus:\n  - run: idle\n"),
              HasSubstr("expected something that can fail"));
}

TEST(CaseFile, WordsThatNoEventHasAreRefused) {
  const std::string problems =
      problems_of(std::string(kHead) +
                  "stimulus: []\nnever:\n  - {event: comitted}\n  - {event: wire, adress: 0}\n");
  EXPECT_THAT(problems, HasSubstr("no event is called 'comitted'; nearest event 'committed'"));
  EXPECT_THAT(problems, HasSubstr("case.yaml:7:19: never[1].adress: no field"));
  EXPECT_THAT(problems, HasSubstr("nearest field 'address'"));
}

TEST(CaseFile, AKeyOfTheWrongKindIsRefusedInsteadOfIgnored) {
  const std::string problems = problems_of(std::string(kHead) +
                                           "config: {set: [link.mps=128B]}\n"
                                           "stimulus: []\nnever: {event: committed}\n"
                                           "final: {memory: [0]}\n");
  EXPECT_THAT(problems, HasSubstr("config.set: is a sequence; expected a map"));
  EXPECT_THAT(problems, HasSubstr("never: is a map; expected a list"));
  EXPECT_THAT(problems, HasSubstr("final.memory: is a sequence; expected a map"));
}

TEST(CaseFile, AnUnknownParameterIsRefused) {
  EXPECT_THAT(
      problems_of(std::string(kHead) +
                  "stimulus:\n  - peek: {addr: '${size}'}\nnever:\n  - {event: violation}\n"),
      HasSubstr("${size}: no such parameter"));
}

TEST(CaseFile, WhatIsWrittenReadsBackAsTheSameCase) {
  Case one =
      cases_from_text(
          std::string(kHead) +
              "config:\n  boot: false\n  set: {link.mps: 128B, faults.up.corrupt_tlps: [1, 2]}\n"
              "stimulus:\n  - {at: 5ns, poke: {addr: 0x10, hex: '00ff'}}\n  - run: idle\n"
              "never:\n  - {event: check}\n"
              "final: {memory: {0x10: 00ff}}\n",
          "case.yaml")
          .front();
  const Case again = cases_from_text(yaml_of(one), "again.yaml").front();
  EXPECT_EQ(again.id, one.id);
  EXPECT_EQ(again.boots, one.boots);
  EXPECT_EQ(again.sets, one.sets);
  ASSERT_EQ(again.steps.size(), one.steps.size());
  EXPECT_EQ(again.steps[0].op, one.steps[0].op);
  EXPECT_EQ(again.steps[0].at, one.steps[0].at);
  EXPECT_EQ(again.never[0].text(), one.never[0].text());
  EXPECT_EQ(again.final_checks[0].expected.text(), one.final_checks[0].expected.text());
}

}  // namespace
}  // namespace flitwise::scenario::scenario_reader_test
