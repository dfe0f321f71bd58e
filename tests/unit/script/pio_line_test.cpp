// SPDX-License-Identifier: Apache-2.0
// Lines of PIO send memory: how they are read, and what is answered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flitwise/error.h"
#include "script/pio_script.h"

namespace flitwise::pio_line_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct PioAnswers {
  std::vector<std::string> lines;
  PioScript script;
  PioScript::Form form = PioScript::Form::kLines;

  void play(std::initializer_list<const char*> texts) {
    int number = 0;
    for (const char* const text : texts) {
      script.run(parse_pio_line(json_value::parse(text), ++number), form,
                 [this](const Json& answer) { lines.push_back(answer.dump()); });
    }
  }
};

std::vector<std::string> pio_problems(const std::string& text) {
  std::vector<std::string> texts;
  try {
    parse_pio_line(json_value::parse(text), 7);
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems()) {
      texts.push_back(problem.text());
    }
  }
  return texts;
}

TEST(PioLine, ArgumentsStandOneBehindTheOther) {
  const PioLine line = parse_pio_line(json_value::parse(R"(["fill", "0x3", 162, 15, true])"), 1);
  EXPECT_STREQ(line.verb->name, "fill");
  EXPECT_THAT(line.numbers, ElementsAre(3U, 162U, 15U, 1U));
  const PioLine write = parse_pio_line(json_value::parse(R"(["write", 8, "00ff"])"), 1);
  EXPECT_THAT(write.bytes, ElementsAre(0x00, 0xff));
  const PioLine tables =
      parse_pio_line(json_value::parse(R"(["vl_tables", [[7, 255]], [], 16383])"), 1);
  ASSERT_EQ(tables.numbers.size(), 65U);
  EXPECT_EQ(tables.numbers[0], 7U);
  EXPECT_EQ(tables.numbers[1], 255U);
  EXPECT_EQ(tables.numbers[2], 0U);
  EXPECT_EQ(tables.numbers[64], 16383U);
}

TEST(PioLine, WhatIsWrongIsSaidWithWhatWasExpected) {
  EXPECT_THAT(pio_problems("[]"), ElementsAre(HasSubstr("script:7:1: no verb; expected device")));
  EXPECT_THAT(pio_problems(R"(["lunch"])"), ElementsAre(HasSubstr("nearest verb 'launch'")));
  EXPECT_THAT(pio_problems(R"(["fill", 1])"),
              ElementsAre(HasSubstr("fill: 1 arguments seen; expected "
                                    "[\"fill\", ctx, blocks, vl, credit_return]")));
  EXPECT_THAT(pio_problems(R"(["fill", 256, 0, 16, "perhaps"])"),
              ElementsAre(HasSubstr("fill.ctx: 256 seen; expected 0 to 255"),
                          HasSubstr("fill.blocks: 0 seen; expected 1 to 256"),
                          HasSubstr("fill.vl: 16 seen; expected 0 to 15"),
                          HasSubstr("fill.credit_return: ")));
  EXPECT_THAT(pio_problems(R"(["setup", 160, 0, 1, 2048, 32, 0, 1])"),
              ElementsAre(HasSubstr("setup.ctx"), HasSubstr("setup.threshold"),
                          HasSubstr("setup.return_addr: 0x20 seen; expected a multiple of 64")));
  EXPECT_THAT(pio_problems(R"(["device", [1, 2]])"), ElementsAre(HasSubstr("a list of 20")));
  EXPECT_THAT(pio_problems(R"(["device", 3])"), ElementsAre(HasSubstr("a list of 20")));
  EXPECT_THAT(pio_problems(R"(["device", [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,4]])"),
              ElementsAre(HasSubstr("4 seen; expected 0 to 3")));
  EXPECT_THAT(pio_problems(R"(["vl_tables", [[8, 1]], [], 0])"),
              ElementsAre(HasSubstr("vl_tables.high: ")));
  EXPECT_THAT(pio_problems(R"(["vl_tables", [], [[1]], 0])"),
              ElementsAre(HasSubstr("up to 16 pairs such as [7, 255]")));
  EXPECT_THAT(pio_problems(R"(["write", 0, ""])"), ElementsAre(HasSubstr("0 bytes seen")));
  EXPECT_THAT(pio_problems(R"(["write", "0x4000000", "00"])"),
              ElementsAre(HasSubstr("write.addr")));
  EXPECT_THAT(pio_problems(R"(["launch"])"), IsEmpty());
}

// [PIO-6.8, 7.3]
TEST(PioLine, AnswersAreLinesOfTheContract) {
  PioAnswers answers;
  answers.play({R"(["setup", 3, 0, 8, 2, 4096, false, true])", R"(["fill", 3, 2, 5, false])",
                R"(["sdma_fill", 1, 1, 5])", R"(["launch"])", R"(["launch"])",
                R"(["commit", 5, true])", R"(["clear", 5])", R"(["commit", 5, true])"});
  EXPECT_THAT(answers.lines,
              ElementsAre(R"({"wire":[5,3,0]})",
                          R"({"addr":4096,"qw":[0,0,0,8194,0,0,0,0],"ctx":3,"irq":[579]})",
                          R"({"wire":[5,161,0]})"));
}

// A busy VL, one without packets and a refused packet say nothing.
TEST(PioLine, WhatIsRefusedSaysNothingButTheErrorsReturn) {
  PioAnswers answers;
  answers.play({R"(["setup", 3, 0, 8, 2, 4096, false, true])", R"(["fill", 3, 1, 5, false])",
                R"(["fill", 3, 1, 5, false])", R"(["launch"])", R"(["launch"])",
                R"(["commit", 4, true])", R"(["clear", 5])", R"(["commit", 5, true])",
                R"(["commit", 5, true])", R"(["arbitrate", true])", R"(["clear", 5])"});
  EXPECT_THAT(answers.lines, ElementsAre(R"({"wire":[5,3,0]})"));
  answers.lines.clear();
  answers.play({R"(["commit", 5, false])", R"(["force", 3, 1])", R"(["write", "0x30000", "00"])"});
  EXPECT_THAT(answers.lines,
              ElementsAre(R"({"addr":4096,"qw":[0,0,0,26626,0,0,0,0],"ctx":3,"irq":[579]})"));
}

TEST(PioLine, ContextThatDoesNotFitIsAnErrorAndChangesNothing) {
  PioAnswers answers;
  answers.play({R"(["setup", 3, 0, 8, 0, 4096, false, true])",
                R"(["setup", 4, 7, 8, 0, 64, false, true])",
                R"(["setup", 3, 16383, 2, 0, 64, false, true])", R"(["force", 3, 1])"});
  ASSERT_EQ(answers.lines.size(), 3U);
  EXPECT_THAT(answers.lines[0], HasSubstr("expected none of the blocks 0 to 7 of context 3"));
  EXPECT_THAT(answers.lines[1], HasSubstr("expected up to 16384 blocks"));
  EXPECT_THAT(answers.lines[2], HasSubstr("\"addr\":4096"));
}

// [PIO-12.21]
TEST(PioLine, HeldReturnsCoalesce) {
  PioAnswers answers;
  answers.play({R"(["setup", 0, 0, 8, 1, 64, false, false])", R"(["hold", 1])",
                R"(["force", 0, 1])", R"(["fill", 0, 1, 0, true])", R"(["launch"])",
                R"(["arbitrate", 1])", R"(["clear", 0])"});
  EXPECT_THAT(answers.lines, ElementsAre(R"({"wire":[0,0,0]})"));
  answers.play({R"(["hold", 0])"});
  EXPECT_THAT(answers.lines.back(), HasSubstr("\"qw\":[45057,"));  // force, threshold, PBC
}

TEST(PioLine, EventsNameTheirFields) {
  PioAnswers answers;
  answers.form = PioScript::Form::kEvents;
  answers.play({R"(["setup", 1, 4, 8, 1, 64, false, true])", R"(["fill", 1, 1, 2, false])",
                R"(["launch"])", R"(["commit", 2, true])", R"(["clear", 2])", R"(["status", 1])",
                R"(["write", "0x1000001", "00"])", R"(["write", "0xa00000", "0000000000000000"])",
                R"(["sdma_fill", 2, 1, 8])", R"(["sdma_fill", 2, 1, 15])", R"(["launch"])",
                R"(["launch"])", R"(["counts"])", R"(["block", 4])"});
  ASSERT_EQ(answers.lines.size(), 6U);
  EXPECT_EQ(answers.lines[0], R"({"event":"pio_wire","vl":2,"source":1,"block":0,"bytes":60})");
  EXPECT_EQ(answers.lines[1], R"({"event":"pio_cleared","vl":2,"source":1,"block":0,"hex":")" +
                                  std::string(112, '0') + "\"}");
  EXPECT_THAT(answers.lines[2], HasSubstr(R"("addr":"0x40","ctx":1,"qw0":"0x0","qw1":"0x2001")"));
  EXPECT_THAT(answers.lines[2], HasSubstr(R"("irq":"577"})"));
  EXPECT_EQ(answers.lines[3],
            R"({"event":"pio_context","ctx":1,"enabled":true,"halted":false,"errors":"none",)"
            R"("free":1,"returned":1,"pending":0,"packet_blocks":1,"next_slot":1})");
  EXPECT_EQ(
      answers.lines[4],
      R"({"event":"pio_counts","launched":"0 0 0 0 0 0 0 0 1","bad_context_writes":2,"mixed_address_returns":0,)"
      R"("sdma_errors":"162"})");
  EXPECT_THAT(answers.lines[5], HasSubstr(R"({"event":"pio_block","block":4,"qws":"0x0","hex":")"));
}

}  // namespace
}  // namespace flitwise::pio_line_test
