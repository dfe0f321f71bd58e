// SPDX-License-Identifier: Apache-2.0
// Case files whose parameters lead nowhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flitwise/config.h"
#include "flitwise/error.h"
#include "scenario/scenario.h"

namespace flitwise::scenario::bad_case_file_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

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

TEST(BadCaseFile, FormulaThatWouldRoundWholeNumbersIsRefused) {
  const std::string big = "matrix: {b: [9007199254740993, 0x20000000000001]}\n";
  for (const char* formula : {"${b / 1}", "${b * 1.5}", "${1e17 / 2}"}) {
    EXPECT_THAT(problems_of(big, std::string("${b}${b} ") + formula),
                Contains(HasSubstr("of 2^53 or more beside a division or a fraction")))
        << formula;
  }
  EXPECT_THAT(problems_of("", "${4611686018427387904 * 4 - 4611686018427387904 * 4}"),
              Contains(HasSubstr("leaves the whole numbers of 64 bits; expected a number up to")));
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

TEST(BadCaseFile, ANumberWithAUnitStandsInNoFormula) {
  const std::string end = "never: [{event: wire, tag: \"${b / 4}\"}]\n";
  EXPECT_THAT(problems_with("matrix: {b: [4KiB]}\n" + end),
              ElementsAre(HasSubstr("${b / 4}: b is '4KiB'; expected a number, or one of bytes")));
  EXPECT_THAT(problems_with("matrix: {b: [12ns]}\n" + end), ElementsAre(HasSubstr("b is '12ns'")));
  EXPECT_THAT(problems_with("matrix: {b: [128B, 0x10, 3]}\n" + end), IsEmpty());
  EXPECT_THAT(problems_with("matrix: {b: [4KiB]}\nnever: [{event: wire, tag: \"${b}\"}]\n"),
              IsEmpty());
}

TEST(BadCaseFile, AMatrixIsAMapOfListsOfValues) {
  const std::string end = "never: [{event: wire, tag: \"${b}\"}]\n";
  EXPECT_THAT(problems_with("matrix: [b]\nnever: [{event: wire}]\n"),
              ElementsAre(HasSubstr("c.yaml:5:9: matrix: is a sequence; expected a map of lists")));
  EXPECT_THAT(problems_with("matrix: {b: [[1]]}\n" + end),
              ElementsAre(HasSubstr("matrix.b: is a sequence; expected one value")));
}

TEST(BadCaseFile, SameAsNamesAnotherCaseOfTheFile) {
  const std::string same = "same_as: {case: A-1/x, events: [{event: wire}]}\n";
  EXPECT_THAT(problems_with(same), ElementsAre(HasSubstr("no case of this file has the id")));
  EXPECT_THAT(problems_with("same_as: {case: A-1, events: [{event: wire}]}\n"),
              ElementsAre(HasSubstr("is the case itself: 'A-1'; expected another one")));
  EXPECT_THAT(problems_with("matrix: {t: [x, y]}\nnever: [{event: wire, tag: \"${t}\"}]\n" + same),
              IsEmpty());
}

TEST(BadCaseFile, ASettingIsAValueOrAListOfValues) {
  const std::string end = "never: [{event: wire}]\n";
  EXPECT_THAT(problems_with("config: {set: {link: {mps: 128B}}}\n" + end),
              ElementsAre(AllOf(HasSubstr("c.yaml:5:16: config.set.link: is a map"),
                                HasSubstr("such as link.mps: 128B"))));
  EXPECT_THAT(problems_with("config: {set: {a: {b: {c: [1, 2], d: 3}}}}\n" + end),
              ElementsAre(HasSubstr("such as a.b.c: [1, 2]")));
  EXPECT_THAT(problems_with("config: {set: {link.mps: [[128B]]}}\n" + end),
              ElementsAre(HasSubstr("config.set.link.mps: is a list of more than values")));
  EXPECT_THAT(problems_with("config: {set: {link.mps: }}\n" + end),
              ElementsAre(HasSubstr("expected a value or a list of values")));
  EXPECT_THAT(problems_with("config: {base: [a.yaml]}\n" + end),
              ElementsAre(HasSubstr("c.yaml:5:16: config.base: is a sequence; expected the path")));
  EXPECT_THAT(problems_with("config: {set: {faults.break: [tags, credits]}}\n" + end), IsEmpty());
}

TEST(BadCaseFile, FinalChecksThatCannotFailAreRefused) {
  EXPECT_THAT(problems_with("final: {handles: [{end: host, dhi: 3}]}\n"),
              ElementsAre(HasSubstr("c.yaml:5:19: final.handles[0]: compares nothing")));
  EXPECT_THAT(problems_with("final: {handles: [{end: host, dhi: 3, valid: any}]}\n"),
              ElementsAre(HasSubstr("final.handles[0].valid: is 'any'; expected true or false")));
  EXPECT_THAT(problems_with("final: {handles: [{end: host, dhi: 3, pasidd: 5}]}\n"),
              Contains(HasSubstr("final.handles[0].pasidd: unknown key")));
  EXPECT_THAT(problems_with("final: {memory: {0x1000: \"!=00\"}}\n"),
              ElementsAre(HasSubstr("is the text '!=00'; expected hexadecimal digits in pairs")));
  for (const char* lone : {"count: 2", "lag: [1ns, 2ns]"}) {
    EXPECT_THAT(problems_with(std::string("final: {answers: [{peek: {addr: 0}, gives: {hex: 00, ") +
                              lone + "}}]}\n"),
                ElementsAre(HasSubstr("has no meaning here")))
        << lone;
  }
  EXPECT_THAT(problems_with("final: {handles: [{end: host, dhi: 3, pasid: absent}]}\n"), IsEmpty());
}

TEST(BadCaseFile, FinalChecksThatCannotBeAskedAreRefusedAtTheirPlace) {
  EXPECT_THAT(problems_with("final:\n  memory: {foo: \"00\"}\n"),
              ElementsAre(HasSubstr("c.yaml:6:12: final.memory.foo: \"foo\" seen; expected")));
  EXPECT_THAT(
      problems_with("final: {handles: [{end: hosst, dhi: 1, valid: true}]}\n"),
      ElementsAre(HasSubstr("c.yaml:5:25: final.handles[0].end: \"hosst\" seen; expected")));
  EXPECT_THAT(problems_with("final: {handles: [3]}\n"),
              Contains(HasSubstr("c.yaml:5:19: final.handles[0]")));
}

TEST(BadCaseFile, FinalChecksThatTheMachineCannotAnswerAreNamedWithIt) {
  for (const char* path : {"\"\"", "links..up", ".links", "links."}) {
    EXPECT_THAT(problems_with(std::string("final: {counters: {") + path + ": 1}}\n"),
                ElementsAre(HasSubstr("has an empty part; expected a path of result.json")))
        << path;
  }
  Config config;
  config.host.memory.size = 0x1000;
  const Case one =
      cases_from_text(
          "id: A\ntitle: t\ncites: []\nstimulus: []\nfinal:\n  counters: {links.0.up.tlps: 1, "
          "links.7.up.tlps: 1}\n  memory: {0xfff: \"00\", 0x1000: \"00\", 0xffe: \"000000\", "
          "0xffffffffffffffff: \"0000\"}\n  answers: [{peek: {addr: 0x1000}, gives: {event: "
          "error}}]\n",
          "c.yaml")
          .at(0);
  std::vector<std::string> texts;
  for (const Problem& problem : final_problems(one, config)) {
    texts.push_back(problem.text());
  }
  EXPECT_THAT(
      texts,
      ElementsAre(HasSubstr("0x1000 is outside of host memory; expected 1 bytes below 0x1000"),
                  HasSubstr("0xffe is outside"), HasSubstr("0xffffffffffffffff is outside"),
                  HasSubstr("c.yaml:6:34: final.counters: no link 7 in this machine; "
                            "expected links.0 to links.0")));
}

TEST(BadCaseFile, KeysBesideAGroupOrAComparisonAreRefused) {
  EXPECT_THAT(
      problems_with("expect: [{any_order: [{event: wire}], count: 2}]\n"),
      ElementsAre(HasSubstr("c.yaml:5:39: expect[0].count: unknown key; expected any_order")));
  EXPECT_THAT(problems_with("matrix: {t: [x, y]}\nnever: [{event: wire, tag: \"${t}\"}]\n"
                            "same_as: {case: A-1/x, event: [], events: [{event: wire}]}\n"),
              Contains(HasSubstr("same_as.event: unknown key; expected case or events")));
}

TEST(BadCaseFile, AFileForAnotherCommandSaysWhich) {
  EXPECT_THAT(problems_with("workload: {payload: 64B}\n"),
              Contains(HasSubstr("c.yaml:5:1: workload: unknown key; expected")));
  EXPECT_THAT(problems_with("workload: {payload: 64B}\n"),
              Contains(HasSubstr("a section of a config, which 'flitwise run' takes")));
  EXPECT_THAT(problems_with("axes: {link.mps: [128B]}\n"),
              Contains(HasSubstr("a key of a sweep, which 'flitwise sweep run' takes")));
}

TEST(BadCaseFile, CountsAndLagsAreRefusedWhereNothingCounts) {
  EXPECT_THAT(problems_with("never: [{event: wire, count: 3}]\n"),
              ElementsAre(HasSubstr("c.yaml:5:23: never[0].count: has no meaning here")));
  EXPECT_THAT(problems_with("never: [{event: wire, lag: [1ns, 2ns]}]\n"),
              ElementsAre(HasSubstr("never[0].lag: has no meaning here")));
  EXPECT_THAT(problems_with("matrix: {t: [x, y]}\nnever: [{event: wire, tag: \"${t}\"}]\n"
                            "same_as: {case: A-1/x, events: [{event: wire, count: 1}]}\n"),
              Contains(HasSubstr("same_as.events[0].count: has no meaning here")));
}

TEST(BadCaseFile, FieldsThatTheEventNeverHasAreRefused) {
  EXPECT_THAT(problems_with("never: [{event: data, kind: malformed_tlp}]\n"),
              ElementsAre(AllOf(HasSubstr("c.yaml:5:23: never[0].kind: is no field of data"),
                                HasSubstr("expected event, hex, t_ns or value"))));
  EXPECT_THAT(problems_with("never: [{event: wire, bdf: \"01:00.0\"}]\n"),
              ElementsAre(HasSubstr("never[0].bdf: is no field of wire")));
  EXPECT_THAT(
      problems_with("never: [{event: [data, wire], tag: 3}, {event: any, kind: bad_line}]\n"),
      IsEmpty());
}

TEST(BadCaseFile, ValuesThatNoEventHasAreRefused) {
  for (const char* value : {"\">= x\"", "\"< \"", "\"8..4\"", "\"!=\"", "[1, \"> 2ns\"]"}) {
    EXPECT_THAT(problems_with(std::string("never: [{event: wire, tag: ") + value + "}]\n"),
                ElementsAre(AllOf(HasSubstr("never[0].tag: is "), HasSubstr("; expected "))))
        << value;
  }
  for (const char* value : {"0g", "123", "\">= 2\""}) {
    EXPECT_THAT(problems_with(std::string("never: [{event: committed, hex: ") + value + "}]\n"),
                ElementsAre(HasSubstr("which no bytes are")))
        << value;
  }
  EXPECT_THAT(problems_with("never: [{event: wire, replay: 1}]\n"),
              ElementsAre(HasSubstr("no replay is called '1'")));
  EXPECT_THAT(problems_with("expect: [{event: wire, count: twice}]\n"),
              ElementsAre(HasSubstr("is 'twice'; expected a number of events")));
  EXPECT_THAT(problems_with("expect: [{event: wire, count: 2, lag: [1ns, 2ns]}]\n"),
              ElementsAre(HasSubstr("expect[0].lag: has no meaning beside count")));
  EXPECT_THAT(problems_with("never: [{event: wire, payload: \"!= 00\", tag: \"4..4\"}]\n"),
              IsEmpty());
}

TEST(BadCaseFile, NumbersThatFailToParseAreNoTexts) {
  for (const char* value :
       {"0 .. 0xffff_ffff", "0x0..0x1_0000", "0x0..4KiB", "0..0X2000", "..5", "0..",
        "0..18446744073709551616", "0xffff_ffff", "0X20", "!= 0x1_0", ">= 18446744073709551616"}) {
    EXPECT_THAT(problems_with(std::string("never: [{event: wire, address: \"") + value + "\"}]\n"),
                ElementsAre(HasSubstr("of at most 64 bits")))
        << value;
  }
  EXPECT_THAT(problems_with("never: [{event: wire, address: [18446744073709547520, \"../x\", "
                            "\"0..9223372036854775808\", \">= 9223372036854775808\", \"a..b\", "
                            "\"see 0..x\", \"0..0.30000000000000004\"]}]\n"),
              IsEmpty());
  EXPECT_THAT(problems_with("never: [{event: committed, hex: \"112233445566778899001122\"}]\n"),
              IsEmpty());
  EXPECT_THAT(problems_with("final: {memory: {0: \"112233445566778899001122\"}}\n"), IsEmpty());
}

TEST(BadCaseFile, AListOfValuesHoldsValuesAlone) {
  EXPECT_THAT(problems_with("never: [{event: wire, tag: [{same: t}, {not: t}]}]\n"),
              ElementsAre(HasSubstr("c.yaml:5:29: never[0].tag: is a map; expected one value"),
                          HasSubstr("c.yaml:5:40: never[0].tag: is a map; expected one value")));
  EXPECT_THAT(problems_with("never: [{event: wire, type: [[MWr, MRd]]}]\n"),
              ElementsAre(HasSubstr("never[0].type: is a sequence; expected one value")));
  EXPECT_THAT(problems_with("final: {counters: {links.0.up.tlps: [[1, 2]]}}\n"),
              ElementsAre(HasSubstr("c.yaml:5:38: final.counters.links.0.up.tlps: is a sequence")));
  EXPECT_THAT(problems_with("never: [{event: wire, tag: }]\n"),
              ElementsAre(HasSubstr("never[0].tag: is nothing; expected a value or a list")));
}

TEST(BadCaseFile, FaultRecordsAreReadLikeSteps) {
  EXPECT_THAT(problems_with("final: {faults: [{index: 1, code: 0x59, type: write}]}\n"), IsEmpty());
  EXPECT_THAT(problems_with("final: {faults: [{index: 1}]}\n"),
              ElementsAre(HasSubstr("final.faults[0]: compares nothing; expected taken, code")));
  EXPECT_THAT(
      problems_with("final: {faults: [{index: 999, taken: maybe}]}\n"),
      ElementsAre(HasSubstr("c.yaml:5:26: final.faults[0].index: \"999\" seen; expected 0 to 255"),
                  HasSubstr("final.faults[0].taken: is 'maybe'; expected true or false")));
  EXPECT_THAT(problems_with("final: {faults: [{cod: 1}]}\n"),
              Contains(HasSubstr("final.faults[0].cod: unknown key")));
}

TEST(BadCaseFile, CitesAreTexts) {
  std::vector<std::string> texts;
  try {
    cases_from_text("id: A\ntitle: t\ncites: [[x], {a: b}]\nstimulus: []\nnever: [{event: wire}]\n",
                    "c.yaml");
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems()) {
      texts.push_back(problem.text());
    }
  }
  EXPECT_THAT(texts, ElementsAre(HasSubstr("c.yaml:3:9: cites: is a sequence; expected a rule id"),
                                 HasSubstr("c.yaml:3:14: cites: is a map; expected a rule id")));
}

TEST(BadCaseFile, CitesAreAListThatMayBeEmpty) {
  const std::string rest = "title: t\nstimulus: []\nnever: [{event: wire}]\n";
  EXPECT_THAT(cases_from_text("id: A\ncites: []\n" + rest, "c.yaml").front().cites, IsEmpty());
  for (const char* cites : {"", "cites: A-1\n", "cites: {}\n"}) {
    EXPECT_THROW(cases_from_text("id: A\n" + (cites + rest), "c.yaml"), ConfigError) << cites;
  }
}

TEST(BadCaseFile, WhatARunWaitsForIsReadLikeAnExpectation) {
  const std::string head = "id: A\ntitle: t\ncites: []\nnever: [{event: check}]\nstimulus:\n";
  EXPECT_THAT(
      cases_from_text(head + "- run: {until: {event: wire, tag: 3}, limit: 2us}\n", "c.yaml")
          .front()
          .steps,
      SizeIs(1));
  try {
    cases_from_text(head + "- run: {until: {event: wire, tga: 3,\n    count: 2}}\n", "c.yaml");
    FAIL() << "read";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("c.yaml:6:30: stimulus[0].run.until.tga: no field is called 'tga'"),
                      HasSubstr("c.yaml:7:5: stimulus[0].run.until.count: has no meaning here")));
  }
}

TEST(BadCaseFile, CountersOfErrorsThatNoMachineHasAreRefused) {
  EXPECT_THAT(problems_with("final: {counters: {errors.unsuported_request: 0}}\n"),
              ElementsAre(AllOf(HasSubstr("errors.unsuported_request: no machine counts such"),
                                HasSubstr("nearest kind 'unsupported_request'"))));
  for (const char* const kind : {"bad_line", "malformed_tlp.nonsense", "unmapped_address.foo"}) {
    EXPECT_THAT(problems_with(std::string("final: {counters: {errors.") + kind + ": 0}}\n"),
                ElementsAre(HasSubstr("no machine counts such errors")));
  }
  EXPECT_THAT(problems_with("final: {counters: {errors.unmapped_address: 0, "
                            "errors.malformed_tlp.crosses_4kib: 0, errors.warning_PRI-33: 1}}\n"),
              IsEmpty());
}

TEST(BadCaseFile, IdAndTitleAreOneLine) {
  std::vector<std::string> texts;
  try {
    cases_from_text(
        "id: \"A\\tB\"\ntitle: \"t\\nu\"\ncites: [X]\nstimulus: []\nnever: [{event: wire}]\n",
        "c.yaml");
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems()) {
      texts.push_back(problem.text());
    }
  }
  EXPECT_THAT(texts, ElementsAre(HasSubstr("c.yaml:1:5: id: has a line break or another"),
                                 HasSubstr("c.yaml:2:8: title: has a line break or another")));
}

TEST(BadCaseFile, TheNameOfAVariantIsOneLine) {
  const std::string end = "never: [{event: wire, tag: \"${b}\"}]\n";
  EXPECT_THAT(problems_with("matrix: {b: [\"1\\n2\"]}\n" + end),
              Contains(HasSubstr("c.yaml:5:14: matrix.b: has a line break or another")));
  EXPECT_THAT(problems_with("variants: [{name: \"x\\ty\", b: 1}]\n" + end),
              ElementsAre(HasSubstr("c.yaml:5:12: variants.name: has a line break or another")));
  EXPECT_THAT(problems_with("variants: [{name: xy, b: \"1\\n2\"}]\n" + end), IsEmpty());
}

TEST(BadCaseFile, AnEmptyFileIsNamed) {
  for (const char* const text : {"", "# nothing\n"}) {
    try {
      cases_from_text(text, "c.yaml");
      ADD_FAILURE() << "taken";
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.problems().at(0).text(), HasSubstr("c.yaml:1:1: is nothing"));
    }
  }
}

TEST(BadCaseFile, TextThatIsNoUtf8IsRefused) {
  EXPECT_THAT(problems_of("", "\xfa"),
              ElementsAre(HasSubstr("c.yaml:4:34: bytes that are no UTF-8")));
}

}  // namespace
}  // namespace flitwise::scenario::bad_case_file_test
