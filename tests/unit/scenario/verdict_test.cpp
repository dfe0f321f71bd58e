// SPDX-License-Identifier: Apache-2.0
// Judging logs of events, and what a failure tells.
#include "scenario/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenario/campaign.h"

namespace flitwise::scenario::verdict_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Json event(const char* name, double t, Json fields = Json::object()) {
  Json made = {{"event", name}, {"t_ns", t}};
  made.update(fields);
  return made;
}

// An Ack, a write and its replay, as a run might leave them.
const EventLog& log() {
  static const EventLog kLog = {
      event("wire", 10, {{"type", "MWr"}, {"seq", 3}, {"replay", false}, {"address", "0x1000"}}),
      event("wire", 50, {{"type", "Ack"}, {"seq", 3}}),
      event("wire", 90, {{"type", "MWr"}, {"seq", 3}, {"replay", true}, {"address", "0x1000"}}),
      event("committed", 120, {{"hex", "00ff"}})};
  return kLog;
}

std::vector<Failure> judged(const std::string& expectations) {
  const Case one =
      cases_from_text("id: X\ntitle: T\ncites: [X]\nstimulus:\n  - run: idle\n" + expectations,
                      "x.yaml")
          .front();
  return judge(one, log());
}

TEST(ValueTest, NumbersOf64BitsAreTakenToTheLastBit) {
  EXPECT_TRUE(ValueTest::of("18446744073709547520").holds(Json("0xfffffffffffff000")));
  EXPECT_FALSE(ValueTest::of("18446744073709547520").holds(Json("0xfffffffffffff001")));
  EXPECT_TRUE(ValueTest::of("0..9223372036854775808").holds(Json("0x8000000000000000")));
  EXPECT_FALSE(ValueTest::of("0..9223372036854775808").holds(Json("0x8000000000000001")));
  EXPECT_TRUE(ValueTest::of(">= 9223372036854775808").holds(Json(std::uint64_t{1} << 63)));
  EXPECT_FALSE(ValueTest::of("> 9223372036854775808").holds(Json(std::uint64_t{1} << 63)));
  EXPECT_TRUE(ValueTest::of("-9223372036854775808").holds(Json(INT64_MIN)));
}

TEST(Verdict, EventsAreFoundInOrder) {
  EXPECT_THAT(judged("expect:\n  - {type: MWr}\n  - {type: Ack}\n  - {type: MWr, replay: true}\n"),
              IsEmpty());
  const auto failures = judged("expect:\n  - {type: Ack}\n  - {type: MWr, replay: false}\n");
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_EQ(failures[0].place.line, 8);
  EXPECT_THAT(failures[0].seen, HasSubstr("before what is expected before it"));
}

TEST(Verdict, AFailureNamesTheFieldsThatDiffer) {
  const auto failures = judged("expect: [{event: wire, type: Ack, seq: 4, replay: true}]\n");
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_THAT(failures[0].seen, HasSubstr("(differs in seq=3 replay=absent)"));
  EXPECT_THAT(judged("expect: [{type: Ack, after: 60ns}]\n").at(0).seen,
              HasSubstr("(at another time)"));
}

TEST(Verdict, AFinalCheckSaysWhatItHasLookedAt) {
  const Case one = cases_from_text(
                       "id: X\ntitle: T\ncites: [X]\nstimulus: []\n"
                       "final: {memory: {0x1ffc: \"00\"}, counters: {links.0.up.replays: 1}}\n",
                       "x.yaml")
                       .front();
  EXPECT_THAT(judge_final(one.final_checks[0], {event("memory", 1, {{"hex", "11"}})})[0].expected,
              "at the end peek addr=0x1ffc bytes=1 gives memory hex=00");
  EXPECT_THAT(judge_final(one.final_checks[1], {})[0].expected,
              "at the end result path=links.0.up.replays gives result value=1");
}

TEST(Verdict, ALagCountsFromTheEventBefore) {
  EXPECT_THAT(judged("expect:\n  - {type: Ack}\n  - {type: MWr, lag: [40ns, 40ns]}\n"), IsEmpty());
  EXPECT_THAT(judged("expect:\n  - {type: Ack}\n  - {type: MWr, lag: [0ns, 39ns]}\n"), SizeIs(1));
  EXPECT_THAT(judged("expect:\n  - {type: Ack}\n  - {type: MWr, lag: [41ns, 1us]}\n"), SizeIs(1));
  EXPECT_THAT(judged("expect:\n  - {type: MWr, lag: [10ns, 10ns]}\n"), IsEmpty()) << "from 0 on";
}

TEST(Verdict, WholeNumbersAreComparedToTheLastBit) {
  const Case one = cases_from_text(
                       "id: X\ntitle: T\ncites: [X]\nstimulus: [{run: idle}]\n"
                       "expect: [{address: 0x4000000000001008}]\n",
                       "x.yaml")
                       .front();
  EXPECT_THAT(judge(one, {event("wire", 1, {{"address", "0x4000000000001000"}})}), SizeIs(1));
  EXPECT_THAT(judge(one, {event("wire", 1, {{"address", 0x4000000000001008U}})}), IsEmpty());
}

TEST(Verdict, AGroupTakesEventsInAnyOrderAndEachOnce) {
  EXPECT_THAT(
      judged("expect:\n  - any_order: [{type: Ack}, {type: MWr}]\n  - {event: committed}\n"),
      IsEmpty());
  EXPECT_THAT(judged("expect:\n  - any_order: [{type: Ack}, {type: Ack}]\n"), SizeIs(1));
}

TEST(Verdict, AGroupLeavesEachPatternWhatItNeeds) {
  EXPECT_THAT(judged("expect:\n  - any_order: [{event: wire}, {type: MWr, replay: false}]\n"),
              IsEmpty());
  EXPECT_THAT(judged("expect:\n  - any_order: [{event: wire}, {type: MWr}, {replay: false}]\n"
                     "  - {event: committed}\n"),
              IsEmpty());
  const auto failures =
      judged("expect:\n  - any_order: [{event: wire}, {replay: false}, {seq: 3, replay: false}]\n");
  EXPECT_THAT(failures, SizeIs(1));
}

TEST(Verdict, AGroupEndsAtTheEarliestEventThatCompletesIt) {
  EXPECT_THAT(judged("expect:\n  - any_order: [{seq: 3}, {type: MWr}]\n"
                     "  - {type: MWr, lag: [40ns, 40ns]}\n"),
              IsEmpty());
}

TEST(Verdict, ValuesAreNumbersWordsRangesAndLists) {
  EXPECT_THAT(judged("expect:\n  - {address: 4096, seq: '2..4', type: [MRd, MWr], tag: absent}\n"),
              IsEmpty());
  EXPECT_THAT(judged("expect:\n  - {type: Ack, seq: '!= 3'}\n"), SizeIs(1));
  EXPECT_THAT(judged("expect:\n  - {type: Ack, seq: '> 3'}\n"), SizeIs(1));
  EXPECT_THAT(judged("expect:\n  - {type: Ack, seq: '<= 3'}\n"), IsEmpty());
}

TEST(Verdict, BytesAreComparedDigitByDigit) {
  const auto with = [](const std::string& hex, const std::string& wanted) {
    const Case one =
        cases_from_text(
            "id: X\ntitle: T\ncites: [X]\nstimulus: []\nexpect:\n  - {hex: '" + wanted + "'}\n",
            "x.yaml")
            .front();
    return judge(one, {event("memory", 0, {{"hex", hex}})});
  };
  EXPECT_THAT(with("0e120000", "00000000"), SizeIs(1));
  EXPECT_THAT(with("1111111111111111111111111111111119", "1111111111111111111111111111111111"),
              SizeIs(1));
  EXPECT_THAT(with("00ffABcd", "00FFabCD"), IsEmpty());
}

TEST(Verdict, TimesBoundAnEvent) {
  EXPECT_THAT(judged("expect:\n  - {type: Ack, within: [50ns, 50ns]}\n"), IsEmpty());
  const auto after = judged("expect:\n  - {type: Ack, after: 51ns}\n");
  ASSERT_THAT(after, SizeIs(1));
  EXPECT_EQ(after[0].expected, "type=Ack after 51 ns");
  const auto before = judged("expect:\n  - {type: Ack, before: 49ns}\n");
  ASSERT_THAT(before, SizeIs(1));
  EXPECT_EQ(before[0].expected, "type=Ack before 49 ns");
}

TEST(Verdict, CountsLookAtTheWholeRun) {
  EXPECT_THAT(judged("expect:\n  - {event: committed}\n  - {type: MWr, count: 2}\n"), IsEmpty());
  const auto failures = judged("expect:\n  - {type: MWr, count: '>= 3'}\n");
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_EQ(failures[0].seen, "2 times");
  EXPECT_THAT(failures[0].around, ElementsAre(HasSubstr("10.0 ns  wire type=MWr"),
                                              HasSubstr("90.0 ns  wire type=MWr")));
}

TEST(Verdict, ACountOfNothingShowsWhatCameNearest) {
  const auto failures = judged("expect:\n  - {event: committed, hex: '00fe', count: 1}\n");
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_EQ(failures[0].seen, "0 times");
  EXPECT_THAT(failures[0].around, ::testing::Contains(HasSubstr("> ")));
}

TEST(Verdict, WhatMustNotHappenIsShownWithWhatIsAroundIt) {
  const auto failures = judged("never:\n  - {replay: true}\n");
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_THAT(failures[0].around, SizeIs(4));
  EXPECT_THAT(failures[0].around[2], HasSubstr("> "));
}

TEST(Verdict, ABrokenRuleIsAFailureUnlessTheCaseAsksForIt) {
  const std::string head = "id: X\ntitle: T\ncites: [X]\nstimulus:\n  - run: idle\n";
  const EventLog broken = {event("violation", 5, {{"rule", "LNK-8.3"}})};
  EXPECT_THAT(judge(cases_from_text(head + "never:\n  - {event: check}\n", "x").front(), broken),
              SizeIs(1));
  EXPECT_THAT(
      judge(cases_from_text(head + "expect:\n  - {event: violation, rule: LNK-8.3}\n", "x").front(),
            broken),
      IsEmpty());
}

TEST(Verdict, OneThatIsAskedForExcusesNoOther) {
  const Case one = cases_from_text(
                       "id: X\ntitle: T\ncites: [X]\nstimulus:\n  - run: idle\n"
                       "expect:\n  - {event: violation, rule: LNK-8.3}\n",
                       "x")
                       .front();
  const auto failures = judge(one, {event("violation", 5, {{"rule", "LNK-8.3"}}),
                                    event("violation", 6, {{"rule", "LNK-7.15"}})});
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_THAT(failures[0].seen, HasSubstr("LNK-7.15"));
}

TEST(Campaign, OneSeedIsOneCase) {
  EXPECT_EQ(campaign_case(7, {}).sets, campaign_case(7, {}).sets);
  EXPECT_NE(campaign_case(7, {}).sets, campaign_case(8, {}).sets);
  EXPECT_EQ(campaign_case(7, {"link.mps=128B"}).sets.back(), "link.mps=128B");
}

TEST(Campaign, ProvesNoRule) {
  const std::string page = "- LNK-7.3 One.\n- DHI D1 Two.\n";
  EXPECT_THAT(coverage_text(coverage_of({page}, {campaign_case(7, {})})),
              HasSubstr("0 rules have a case"));
  EXPECT_THAT(unknown_cites(coverage_of({page}, {}), {campaign_case(7, {})}), IsEmpty());
}

TEST(Campaign, ShrinkingKeepsWhatTheFailureNeeds) {
  Case big;
  for (int i = 0; i < 40; ++i) {
    Step step;
    step.op = Json{{"op", "peek"}, {"addr", i}};
    big.steps.push_back(std::move(step));
    big.sets.push_back("key" + std::to_string(i) + "=1");
  }
  const auto has_step = [](const Case& one, int address) {
    return std::any_of(one.steps.begin(), one.steps.end(),
                       [&](const Step& step) { return step.op.at("addr") == address; });
  };
  const Case small = shrunk(
      big, [&](const Case& one) { return has_step(one, 5) && has_step(one, 31); }, 1000);
  EXPECT_THAT(small.steps, SizeIs(2));
  EXPECT_THAT(small.sets, IsEmpty());
}

// A case that expects data of a read nobody has asked for fails on any machine.
TEST(Campaign, ShrinkingKeepsWhatAnExpectationRestsOn) {
  const Case big = cases_from_text(
                       "id: X\ntitle: T\ncites: [X]\nstimulus:\n"
                       "  - reset: {kind: flr, bdf: '01:00.0'}\n"
                       "  - cfg_write: {bdf: '01:00.0', offset: 4, bytes: 2, value: 6}\n"
                       "  - dma: {port: ep0, kind: write, addr: '0x2000', hex: 0102030405060708}\n"
                       "  - dma: {port: ep0, kind: write, addr: '0x1000', hex: 1112131415161718}\n"
                       "  - dma: {port: ep0, kind: read, addr: '0x1000', bytes: 8}\n"
                       "  - dma: {port: ep0, kind: read, addr: '0x2000', bytes: 8}\n"
                       "expect:\n  - {event: data, hex: '1112131415161718'}\n"
                       "final: {memory: {'0x2000': '0102030405060708'}}\n",
                       "x")
                       .front();
  const auto expects_data = [](const Case& one) { return !one.expect.empty(); };
  const Case small = shrunk(big, expects_data, 1000);
  EXPECT_THAT(small.final_checks, IsEmpty());
  ASSERT_THAT(small.steps, SizeIs(2));
  EXPECT_EQ(small.steps[0].op.at("hex"), "1112131415161718");
  EXPECT_EQ(small.steps[1].op.at("kind"), "read");
  EXPECT_EQ(small.steps[1].op.at("addr"), "0x1000");

  const auto resets = [](const Case& one) {
    return !one.steps.empty() && one.steps.front().op.at("op") == "reset";
  };
  const Case reset = shrunk(big, resets, 1000);
  ASSERT_THAT(reset.steps, SizeIs(2));
  EXPECT_EQ(reset.steps[1].op.at("op"), "cfg_write");
}

Case with_workload(unsigned requests) {
  Case one;
  one.sets = {"link.mps=128B", "workload.requests=" + std::to_string(requests)};
  Step start;
  start.op = Json{{"op", "start"}};
  one.steps.push_back(std::move(start));
  return one;
}

TEST(Campaign, ShrinkingNeverLeavesTheNumberOfRequestsOpen) {
  unsigned candidates = 0;
  const auto starts = [&](const Case& one) {
    ++candidates;
    EXPECT_THAT(one.sets, ::testing::Contains(HasSubstr("workload.requests=")));
    return one.steps.size() == 1 && one.steps.front().op.at("op") == "start";
  };
  const auto fails = [&](const Case& one) {
    const bool is_workload = !one.steps.empty() && one.steps.front().op.at("op") == "start";
    return is_workload && starts(one);
  };
  const Case small = shrunk(with_workload(200), fails, 1000);
  EXPECT_THAT(small.sets, ElementsAre("workload.requests=1"));
  EXPECT_GT(candidates, 5U);
}

TEST(Campaign, ShrinkingLeavesWhatIsHeldFixed) {
  const auto fails = [](const Case& one) { return !one.steps.empty(); };
  const Case small = shrunk(with_workload(8), fails, 1000, {"workload.requests=8"});
  EXPECT_THAT(small.sets, ElementsAre("workload.requests=8"));
}

TEST(Campaign, ShrinkingTellsTrafficByStepsWhereThatFailsAsWell) {
  const auto writes = [](const Case& one) {
    return std::any_of(one.steps.begin(), one.steps.end(), [](const Step& step) {
      return step.op.at("op") == "start" ||
             (step.op.at("kind") == "write" && step.op.at("hex").get<std::string>().size() >= 400);
    });
  };
  const Case small = shrunk(with_workload(200), writes, 1000);
  ASSERT_THAT(small.steps, SizeIs(1));
  EXPECT_EQ(small.steps.front().op.at("op"), "dma");
  EXPECT_THAT(small.steps.front().op.at("hex").get<std::string>(), SizeIs(512));
  EXPECT_THAT(small.sets, IsEmpty());
}

TEST(Verdict, TellsOfOneRuleOnceHoweverOftenItWasBroken) {
  const EventLog broken = {event("violation", 1, {{"rule", "LNK-8.3"}}),
                           event("violation", 2, {{"rule", "LNK-8.3"}}),
                           event("violation", 3, {{"rule", "LNK-7.15"}})};
  const std::vector<Failure> failures = judge(Case{}, broken);
  ASSERT_THAT(failures, SizeIs(2));
  EXPECT_THAT(failures[0].seen, HasSubstr("(and 1 more)"));
  EXPECT_THAT(failures[1].seen, HasSubstr("LNK-7.15"));
  EXPECT_THAT(failures[1].around, ElementsAre(HasSubstr("1.0 ns"), HasSubstr("2.0 ns"),
                                              AllOf(HasSubstr("> "), HasSubstr("LNK-7.15"))));
}

TEST(Coverage, TellsProvedOpenAndWaitingRulesApart) {
  const std::string page =
      "## Rules\n- LNK-1.1 One.\n- LNK-1.2 Two.\n- DHI D17 Three.\n"
      "## Not modelled yet\n| what | rule |\n|---|---|\n| it | DHI D17 |\n";
  Case one;
  one.stem = "X";
  one.cites = {"LNK-1.2", "LNK-9.99", "ACME-7"};
  const RuleCoverage coverage = coverage_of({page}, {one, one});
  ASSERT_THAT(coverage.rules, SizeIs(3));
  EXPECT_THAT(coverage.rules[1].cases, ElementsAre(::testing::Pair("X", 2)));
  EXPECT_TRUE(coverage.rules[2].waits);
  EXPECT_THAT(coverage_text(coverage), HasSubstr("1 rules have none:\n  LNK-1.1"));
  EXPECT_THAT(coverage_text(coverage), HasSubstr("LNK-1.2    X (2)\n"));
}

// Rules of other families are the user's own.
TEST(Coverage, FindsCitesOfRulesThatNoPageStates) {
  Case one;
  one.id = "X";
  one.file = "x.yaml";
  one.place.line = 3;
  one.cites = {"LNK-1.2", "LNK-9.99", "ACME-7"};
  const RuleCoverage coverage = coverage_of({"- LNK-1.2 Two.\n"}, {one});
  const std::vector<Problem> problems = unknown_cites(coverage, {one});
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_THAT(problems[0].text(), HasSubstr("x.yaml:3:"));
  EXPECT_THAT(problems[0].text(), HasSubstr("docs/rules states no rule 'LNK-9.99'"));
}

TEST(Verdict, AFaultThatNeverStruckIsAFailureAtItsStep) {
  Case one;
  one.place.line = 1;
  const EventLog log = {{{"event", "missed_fault"}, {"t_ns", 5.0}, {"line", 7}, {"struck", 0}}};
  const std::vector<Failure> failures = judge(one, log);
  ASSERT_THAT(failures, SizeIs(1));
  EXPECT_EQ(failures[0].place.line, 7);
}

TEST(Junit, EscapesWhatXmlWouldTakeForItsOwn) {
  const std::string xml =
      junit_xml({{"A/1", "x < \"y\" & z", 0.5, "line 1\nline 2"}, {"B", "ok", 0, ""}});
  EXPECT_THAT(xml, HasSubstr("tests=\"2\" failures=\"1\""));
  EXPECT_THAT(xml, HasSubstr("x &lt; &quot;y&quot; &amp; z"));
  EXPECT_THAT(xml, HasSubstr("message=\"line 1\">line 1\nline 2</failure>"));
}

TEST(Junit, AFileThatIsWrongIsAnError) {
  const std::string xml =
      junit_xml({{"A/1", "fails", 0.5, "seen"}, {"b.yaml", "a file", 0, "b.yaml:1:1: x", true}});
  EXPECT_THAT(xml, HasSubstr("tests=\"2\" failures=\"1\" errors=\"1\""));
  EXPECT_THAT(xml, HasSubstr("<error message=\"b.yaml:1:1: x\">b.yaml:1:1: x</error>"));
}

}  // namespace
}  // namespace flitwise::scenario::verdict_test
