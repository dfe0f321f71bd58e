// SPDX-License-Identifier: Apache-2.0
// Values that expectations take from events, and spans between two events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/verdict.h"

namespace flitwise::scenario::captures_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kHead = "id: A\ntitle: t\ncites: []\nstimulus: []\n";  // four lines

Json wire(double t, const char* type, Json tag, Json more = Json::object()) {
  Json made = {{"event", "wire"}, {"t_ns", t}, {"type", type}, {"tag", std::move(tag)}};
  made.update(more);
  return made;
}

std::vector<std::string> failures_of(const std::string& expectations, const EventLog& log) {
  std::vector<std::string> texts;
  for (const Failure& failure : judge(cases_from_text(kHead + expectations, "c.yaml").at(0), log)) {
    texts.push_back(std::to_string(failure.place.line) + " " + failure.expected + "; seen " +
                    failure.seen);
  }
  return texts;
}

std::vector<std::string> problems_of(const std::string& expectations) {
  std::vector<std::string> texts;
  try {
    cases_from_text(kHead + expectations, "c.yaml");
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems()) {
      texts.push_back(problem.text());
    }
  }
  return texts;
}

constexpr const char* kSameTag =
    "expect:\n"
    "- {event: wire, type: MRd, capture: {t: tag}}\n"
    "- {event: wire, type: CplD, tag: {same: t}}\n";

TEST(Captures, ALaterEventHasTheSameValue) {
  EXPECT_THAT(failures_of(kSameTag, {wire(1, "MRd", 7), wire(2, "CplD", 8), wire(3, "CplD", 7)}),
              IsEmpty());
  EXPECT_THAT(failures_of(kSameTag, {wire(1, "MRd", 7), wire(2, "CplD", 8)}),
              ElementsAre(HasSubstr("7 wire type=CplD tag=7; seen")));
  // Numbers are compared as numbers, in whatever base they stand.
  EXPECT_THAT(failures_of(kSameTag, {wire(1, "MRd", 16), wire(2, "CplD", "0x10")}), IsEmpty());
  // A text that looks like a relation is that text.
  EXPECT_THAT(failures_of(kSameTag, {wire(1, "MRd", "any"), wire(2, "CplD", "x")}), SizeIs(1));
}

TEST(Captures, EachPatternOfAGroupNamesItsOwnValue) {
  const std::string group =
      "expect:\n"
      "- any_order: [{event: wire, type: MRd, capture: {r: tag}}, {event: wire, type: MWr, "
      "capture: "
      "{w: tag}}]\n"
      "- {event: wire, type: CplD, tag: {same: r}}\n"
      "- {event: wire, type: Cpl, tag: {same: w}}\n";
  EXPECT_THAT(failures_of(group, {wire(1, "MWr", 8), wire(2, "MRd", 7), wire(3, "CplD", 7),
                                  wire(4, "Cpl", 8)}),
              IsEmpty());
  EXPECT_THAT(failures_of(group, {wire(1, "MWr", 8), wire(2, "MRd", 7), wire(3, "CplD", 7),
                                  wire(4, "Cpl", 7)}),
              ElementsAre(HasSubstr("wire type=Cpl tag=8; seen")));
}

TEST(Captures, ALaterEventHasAnotherValue) {
  const std::string other =
      "expect:\n"
      "- {event: wire, type: MRd, capture: {t: tag}}\n"
      "- {event: wire, type: MRd, tag: {not: t}}\n";
  EXPECT_THAT(failures_of(other, {wire(1, "MRd", 7), wire(2, "MRd", 7), wire(3, "MRd", 8)}),
              IsEmpty());
  EXPECT_THAT(failures_of(other, {wire(1, "MRd", 7), wire(2, "MRd", 7)}), SizeIs(1));
}

TEST(Captures, AnEventWithoutTheFieldIsNotTheOne) {
  Json bare = wire(1, "MRd", 0);
  bare.erase("tag");
  EXPECT_THAT(failures_of(kSameTag, {bare, wire(2, "MRd", 9), wire(3, "CplD", 9)}), IsEmpty());
  const auto failures = failures_of(kSameTag, {bare, wire(3, "CplD", 9)});
  ASSERT_THAT(failures, SizeIs(2));
  EXPECT_THAT(failures[0], HasSubstr("(differs in tag=absent, which is captured)"));
}

TEST(Captures, CountAndNeverMeanTheValueToo) {
  const std::string counted =
      "expect:\n"
      "- {event: wire, type: MRd, capture: {t: tag}}\n"
      "- {event: wire, tag: {same: t}, count: 2}\n";
  EXPECT_THAT(failures_of(counted, {wire(1, "MRd", 7), wire(2, "CplD", 8), wire(3, "CplD", 7)}),
              IsEmpty());
  EXPECT_THAT(failures_of(counted, {wire(1, "MRd", 7), wire(2, "CplD", 8)}), SizeIs(1));
  const std::string forbidden =
      "expect: [{event: wire, type: MRd, capture: {t: tag}}]\n"
      "never: [{event: wire, type: MWr, tag: {same: t}}]\n";
  EXPECT_THAT(failures_of(forbidden, {wire(1, "MRd", 7), wire(2, "MWr", 8)}), IsEmpty());
  EXPECT_THAT(failures_of(forbidden, {wire(1, "MRd", 7), wire(2, "MWr", 7)}), SizeIs(1));
}

TEST(Captures, NamesThatLeadNowhereAreRefusedAtTheirPlace) {
  EXPECT_THAT(problems_of("expect: [{event: wire, tag: {same: t}}]\n"),
              ElementsAre(AllOf(HasSubstr("c.yaml:5:29: tag: nothing is captured as 't' before"),
                                HasSubstr("expected capture: {t: tag}"))));
  EXPECT_THAT(problems_of("expect: [{event: wire, capture: {t: tag}}]\n"),
              ElementsAre(HasSubstr("c.yaml:5:34: capture.t: is used nowhere")));
  // Not from within the group itself, whose order is open.
  EXPECT_THAT(problems_of("expect:\n- any_order: [{event: wire, capture: {t: tag}}, {event: wire, "
                          "tag: {same: t}}]\n"),
              SizeIs(2));
  EXPECT_THAT(problems_of(std::string(kSameTag) + "- {event: wire, capture: {t: seq}}\n"),
              ElementsAre(HasSubstr("c.yaml:8:27: capture.t: is captured twice")));
  EXPECT_THAT(problems_of("expect:\n- {event: wire, capture: {t: tga}}\n- {event: wire, tag: "
                          "{same: t}}\n"),
              ElementsAre(HasSubstr("expect[0].capture.t: no field is called 'tga'")));
  EXPECT_THAT(problems_of("expect: [{event: wire, tag: {sane: t}}]\n"),
              ElementsAre(HasSubstr("expect[0].tag: is a map; expected a value")));
  EXPECT_THAT(problems_of("expect: [{event: wire, count: 2, capture: {t: tag}}, {event: wire, tag: "
                          "{same: t}}]\n"),
              ElementsAre(HasSubstr("expect[0].capture: has no meaning beside count")));
  EXPECT_THAT(problems_of("never: [{event: wire, capture: {t: tag}}]\n"), SizeIs(1));
  EXPECT_THAT(problems_of("final: {answers: [{peek: {addr: 0}, gives: {hex: {same: t}}}]}\n"),
              Contains(HasSubstr("gives.hex: nothing is captured here")));
}

constexpr const char* kBetween =
    "never:\n- {event: error, between: [{event: wire, type: MRd}, {event: wire, type: CplD}]}\n";

Json error(double t) {
  return {{"event", "error"}, {"t_ns", t}, {"kind", "malformed_tlp"}};
}

TEST(Between, OnlyWhatHappensWithinTheSpanCounts) {
  EXPECT_THAT(failures_of(kBetween, {error(0), wire(1, "MRd", 7), wire(2, "CplD", 7), error(3)}),
              IsEmpty());
  EXPECT_THAT(failures_of(kBetween, {wire(1, "MRd", 7), error(2), wire(3, "CplD", 7)}),
              ElementsAre(HasSubstr("6 never error between wire type=MRd and wire type=CplD")));
}

TEST(Between, EachSpanCountsAndTheLastMayBeOpen) {
  const EventLog second = {wire(1, "MRd", 7), wire(2, "CplD", 7), error(3),
                           wire(4, "MRd", 8), error(5),           wire(6, "CplD", 8)};
  EXPECT_THAT(failures_of(kBetween, second), SizeIs(1));
  EXPECT_THAT(
      failures_of(kBetween, {wire(1, "MRd", 7), wire(2, "MRd", 8), wire(3, "CplD", 7), error(4)}),
      IsEmpty());
  EXPECT_THAT(failures_of(kBetween, {wire(1, "MRd", 7), error(2)}), SizeIs(1));
}

TEST(Between, OneSpanMayBeginWhereTheOneBeforeEnds) {
  constexpr const char* kWrites =
      "never:\n- {event: error, between: [{event: wire, type: MWr}, {event: wire, type: MWr}]}\n";
  const EventLog second = {wire(1, "MWr", 1), wire(2, "MWr", 2), error(3), wire(4, "MWr", 3)};
  EXPECT_THAT(failures_of(kWrites, second), SizeIs(1));
  EXPECT_THAT(failures_of(kWrites, {wire(1, "MWr", 1), wire(2, "MWr", 2), error(3)}), SizeIs(1));
  EXPECT_THAT(failures_of(kWrites, {error(0), wire(1, "MWr", 1), wire(2, "MWr", 2)}), IsEmpty());
}

TEST(Captures, AnExpectationWithAReferenceAsksForWhatIsElseWrong) {
  const EventLog log = {wire(1, "MWr", 1), {{"event", "missed_event"}, {"t_ns", 2.0}, {"line", 9}}};
  const auto expecting = [](const char* line) {
    return std::string("expect:\n- {event: wire, type: MWr, capture: {s: tag}}\n") +
           "- {event: missed_event, line: " + line + "}\n";
  };
  EXPECT_THAT(failures_of(expecting("{not: s}"), log), IsEmpty());
  EXPECT_THAT(failures_of(expecting("{same: s}"), log), SizeIs(2));
}

TEST(Between, ASpanThatNeverBeginsProvesNothing) {
  EXPECT_THAT(failures_of(kBetween, {error(1), wire(2, "CplD", 7)}),
              ElementsAre(HasSubstr("6 wire type=MRd; seen")));
}

TEST(Between, ASpanMayHaveAValueOfItsOwn) {
  const std::string per_tag =
      "never: [{event: wire, type: MRd, tag: {same: t}, between: [{event: wire, type: MRd, "
      "capture: {t: tag}}, {event: wire, type: CplD, tag: {same: t}}]}]\n";
  EXPECT_THAT(failures_of(per_tag, {wire(1, "MRd", 7), wire(2, "MRd", 8), wire(3, "CplD", 7),
                                    wire(4, "MRd", 7), wire(5, "CplD", 8)}),
              IsEmpty());
  EXPECT_THAT(failures_of(per_tag, {wire(1, "MRd", 7), wire(2, "MRd", 8), wire(3, "CplD", 7),
                                    wire(4, "MRd", 8), wire(5, "CplD", 8)}),
              ElementsAre(HasSubstr("never wire type=MRd tag=8 between")));
}

TEST(Between, WhatIsNoSpanIsRefused) {
  for (const char* between :
       {"{event: wire}", "[{event: wire}]", "[{event: wire, count: 2}, {event: wire}]",
        "[{event: wire}, {event: wire, capture: {t: tag}}]",
        "[{event: wire, capture: {t: tag}}, {event: wire}]"}) {
    EXPECT_THAT(problems_of("never: [{event: error, between: " + std::string(between) + "}]\n"),
                ::testing::Not(IsEmpty()))
        << between;
  }
  EXPECT_THAT(problems_of("expect: [{event: error, between: [{event: wire}, {event: wire}]}]\n"),
              ElementsAre(HasSubstr("expect[0].between: has no meaning here")));
}

}  // namespace
}  // namespace flitwise::scenario::captures_test
