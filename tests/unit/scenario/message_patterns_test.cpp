// SPDX-License-Identifier: Apache-2.0
// Cases that name fields of ATS and PRI messages.
#include "scenario/message_patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flitwise/error.h"
#include "scenario/verdict.h"

namespace flitwise::scenario::message_patterns_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A page request for index 7 that is the last of its group, the response, an invalidation and its
// completion, printed as they always were.
const EventLog& log() {
  static const EventLog kLog = {{{"event", "wire"},
                                 {"type", "Msg"},
                                 {"message_code", 4U},
                                 {"message_dw2", "0x00000000"},
                                 {"message_dw3", "0x4000003d"}},
                                {{"event", "wire"},
                                 {"type", "Msg"},
                                 {"message_code", 5U},
                                 {"message_dw2", "0x0100f007"},
                                 {"message_dw3", "0x00000000"}},
                                {{"event", "wire"},
                                 {"type", "MsgD"},
                                 {"message_code", 1U},
                                 {"tag", 9U},
                                 {"message_dw2", "0x01010000"},
                                 {"message_dw3", "0x00000000"},
                                 {"payload", "0000000040000801"}},
                                {{"event", "wire"},
                                 {"type", "Msg"},
                                 {"message_code", 2U},
                                 {"message_dw2", "0x00080002"},
                                 {"message_dw3", "0x00000200"}}};
  return kLog;
}

Case case_with(const std::string& rest) {
  return cases_from_text("id: X\ntitle: T\ncites: [X]\nstimulus: [{run: idle}]\n" + rest, "x.yaml")
      .front();
}

std::vector<Failure> judged(const std::string& fields) {
  return judge(case_with("expect: [{event: wire, " + fields + "}]\n"), log());
}

std::vector<std::string> problems_with(const std::string& text) {
  std::vector<std::string> texts;
  try {
    case_with(text);
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems()) {
      texts.push_back(problem.text());
    }
  }
  return texts;
}

TEST(MessagePatterns, LNK_4_7_APageRequestIsMatchedByItsFields) {
  const std::string all = "page_address: 0x40000000, prg_index: 7, last_request: true, ";
  EXPECT_THAT(judged("message_code: 4, " + all + "read_requested: true, write_requested: false"),
              IsEmpty());
  for (const char* other : {"page_address: 0x40001000", "prg_index: 6", "last_request: false",
                            "read_requested: false", "write_requested: true"}) {
    EXPECT_THAT(judged(std::string("message_code: 4, ") + other), SizeIs(1)) << other;
  }
  EXPECT_THAT(judged("message_code: 4, prg_index: \">= 8\""), SizeIs(1));
  EXPECT_THAT(judged("message_code: 4, prg_index: \"5..8\""), IsEmpty());
}

TEST(MessagePatterns, PRI_10_AResponseCodeIsItsNameOrItsNumber) {
  for (const char* same : {"response_failure", "15", "0xf", "[success, response_failure]",
                           "\"!= success\"", "\"!= 1\""}) {
    EXPECT_THAT(judged(std::string("message_code: 5, response_code: ") + same), IsEmpty()) << same;
  }
  for (const char* other : {"success", "0", "[0, invalid_request]", "\"!= response_failure\""}) {
    EXPECT_THAT(judged(std::string("message_code: 5, response_code: ") + other), SizeIs(1))
        << other;
  }
}

TEST(MessagePatterns, LNK_4_4_LNK_4_6_AnInvalidateRequestIsMatchedByItsFields) {
  EXPECT_THAT(judged("message_code: 1, itag: 9, destination_id: \"01:00.1\", sized: true, "
                     "untranslated_address: 0x40000000, global_invalidate: true, "
                     "reserved_bits: 0, reserved_payload_bits: 0"),
              IsEmpty());
  EXPECT_THAT(judged("message_code: 1, destination_id: 0x101"), IsEmpty());
  EXPECT_THAT(judged("message_code: 1, destination_id: \"01:00.0\""), SizeIs(1));
}

TEST(MessagePatterns, LNK_4_5_AFailureShowsWhatTheMessageSays) {
  EXPECT_THAT(judged("message_code: 2, completion_count: 2, itag_vector: 0x200, "
                     "destination_id: \"00:01.0\", reserved_bits: 0"),
              IsEmpty());
  EXPECT_THAT(judged("message_code: 2, completion_count: 1").at(0).seen,
              HasSubstr("(differs in completion_count=2)"));
}

TEST(MessagePatterns, AnotherMessageHasNoSuchField) {
  EXPECT_THAT(judged("type: MsgD, prg_index: absent"), IsEmpty());
  EXPECT_THAT(judged("prg_index: 7, count: 2"), IsEmpty());
}

TEST(MessagePatterns, AValueOfAMessageIsCapturedAndComparedAcrossMessages) {
  const std::string start =
      "expect:\n  - {event: wire, message_code: 4, capture: {group: prg_index}}\n"
      "  - {event: wire, message_code: 5, prg_index: ";
  EXPECT_THAT(judge(case_with(start + "{same: group}}\n"), log()), IsEmpty());
  EXPECT_THAT(judge(case_with(start + "{not: group}}\n"), log()), SizeIs(1));
}

TEST(MessagePatterns, AFieldOfAnotherMessageIsRefusedWhereItStands) {
  EXPECT_THAT(problems_with("expect: [{event: wire, message_code: 2, itag: 3}]\n"),
              ElementsAre(AllOf(HasSubstr("x.yaml:5:41: expect[0].itag: is no field of"),
                                HasSubstr("message_code 1 (invalidate_request), destination_id"),
                                HasSubstr("itag_vector or reserved_bits"))));
  EXPECT_THAT(problems_with("expect: [{event: wire, message_code: [1, 2], prg_index: 3}]\n"),
              SizeIs(1));
  EXPECT_THAT(problems_with("expect: [{event: wire, message_code: [4, 2], prg_index: 3}]\n"),
              IsEmpty());
  EXPECT_THAT(problems_with("never: [{event: wire, prg_indx: 3}]\n"),
              ElementsAre(HasSubstr("nearest field 'prg_index'")));
  EXPECT_THAT(problems_with("expect: [{event: wire, message_code: 2, capture: {a: prg_index}}, "
                            "{event: wire, tag: {same: a}}]\n"),
              ElementsAre(HasSubstr("is no field of a message with this message_code")));
}

TEST(MessagePatterns, AValueThatNoMessageCanHaveIsRefused) {
  EXPECT_THAT(problems_with("never: [{event: wire, prg_index: 512}]\n"),
              ElementsAre(AllOf(HasSubstr("x.yaml:5:34: never[0].prg_index"),
                                HasSubstr("expected 0 to 511"))));
  EXPECT_THAT(problems_with("never: [{event: wire, response_code: sucess}]\n"),
              ElementsAre(HasSubstr("nearest value 'success'")));
  EXPECT_THAT(problems_with("never: [{event: wire, read_requested: maybe}]\n"),
              ElementsAre(HasSubstr("expected true or false")));
}

TEST(MessagePatterns, AStepOfAnotherMessageIsRefusedWithItsPlace) {
  std::vector<std::string> texts;
  try {
    cases_from_text(
        "id: X\ntitle: T\ncites: [X]\nstimulus:\n"
        "  - tlp: {tlp: {type: Msg, message_code: 2, prg_index: 3}}\nnever: [{event: error}]\n",
        "x.yaml");
  } catch (const ConfigError& error) {
    texts.push_back(error.problems().at(0).text());
  }
  EXPECT_THAT(texts, ElementsAre(AllOf(HasSubstr("x.yaml:5:5: stimulus[0].tlp.tlp: prg_index: Msg"),
                                       HasSubstr("message_code 4 (page_request)"))));
}

}  // namespace
}  // namespace flitwise::scenario::message_patterns_test
