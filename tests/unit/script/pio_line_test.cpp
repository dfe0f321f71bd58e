// SPDX-License-Identifier: Apache-2.0
// Lines of PIO send memory: how they are read, and what is answered.
#include <fmt/format.h>
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
              ElementsAre(HasSubstr("fill: 1 argument seen; expected "
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
  for (const char* bytes : {"7", "12", "48", "65"}) {
    EXPECT_THAT(pio_problems(fmt::format(R"(["send", 0, 0, 1, 0, false, {}])", bytes)),
                ElementsAre(HasSubstr("seen; expected a power of two from 8 to 64")));
  }
  EXPECT_THAT(pio_problems(R"(["send", 0, 0, 1, 0, false, 16])"), IsEmpty());
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
      R"({"event":"pio_counts","launched":"0 0 0 0 0 0 0 0 1","bad_context_writes":2,"mixed_address_returns":0,"unaddressed_returns":0,)"
      R"("sdma_errors":"162"})");
  EXPECT_THAT(answers.lines[5], HasSubstr(R"({"event":"pio_block","block":4,"qws":"0x0","hex":")"));
}

// [PIO-4.2, 4.3, 4.4] [PIO-12.29]
TEST(PioLine, StoresGoThroughTheStoreBufferOfTheirCore) {
  PioAnswers answers;
  answers.play({R"(["setup", 0, 0, 8, 1, 64, false, false])", R"(["core", 1, 1, 0])",
                R"(["store", 2, "0x1000000", "1000000000000000"])", R"(["block", 0])",
                R"(["store", 3, "0x1000040", "1000000000000000"])",
                R"(["store", 3, "0x1000038", "1111111111111111"])", R"(["sfence", 3])",
                R"(["block", 0])", R"(["store", 3, "0x1000040", "1000000000000000"])",
                R"(["store", 2, "0x1000040", "1000000000000000"])", R"(["core_counts", 1])",
                R"(["ack", 3])", R"(["ack", 3])", R"(["evict", 1])", R"(["evict", 1])",
                R"(["core_counts", 1])"});
  ASSERT_EQ(answers.lines.size(), 6U);
  EXPECT_THAT(answers.lines[0], HasSubstr(R"("qws":"0x0")"));
  EXPECT_EQ(answers.lines[1], R"({"event":"pio_stall","thread":3,"addr":"0x1000040"})");
  EXPECT_THAT(answers.lines[2], HasSubstr(R"("qws":"0x81")"));
  EXPECT_EQ(answers.lines[3], R"({"event":"pio_stall","thread":3,"addr":"0x1000040"})");
  EXPECT_EQ(answers.lines[4],
            R"({"event":"pio_core","core":1,"stores":3,"whole_writes":0,"partial_writes":2,)"
            R"("held_bytes":8,"waiting":"0 0","fenced":"0 1","fences":0,"stalls":2})");
  EXPECT_THAT(answers.lines[5], HasSubstr(R"("partial_writes":3,"held_bytes":0)"));
  EXPECT_THAT(answers.lines[5], HasSubstr(R"("fenced":"0 0","fences":1)"));
}

TEST(PioLine, WhatIsNoStoreIsRefused) {
  PioAnswers answers;
  answers.play({R"(["store", 0, 4, "0000000000000000"])", R"(["store", 0, 56, "00000000"])",
                R"(["core_counts", 0])"});
  ASSERT_EQ(answers.lines.size(), 3U);
  EXPECT_THAT(answers.lines[0], HasSubstr("pio_store_refused"));
  EXPECT_THAT(answers.lines[0], HasSubstr("8 bytes at 0x4 seen; expected 8, 16, 32 or 64 bytes"));
  EXPECT_THAT(answers.lines[1], HasSubstr("4 bytes at 0x38 seen"));
  EXPECT_THAT(answers.lines[2], HasSubstr(R"("stores":0)"));
  EXPECT_THAT(pio_problems(R"(["store", 32, 0, ""])"),
              ElementsAre(HasSubstr("store.thread: 32 seen; expected 0 to 31"),
                          HasSubstr("0 bytes seen; expected 1 to 64")));
  EXPECT_THAT(
      pio_problems(R"(["core", 16, 65, 257])"),
      ElementsAre(HasSubstr("core.core"), HasSubstr("core.blocks"), HasSubstr("core.window")));
}

// [PIO-7.8, 7.9] [PIO-050] [PIO-058]
TEST(PioLine, SoftwareSendsWhatItHasCreditsFor) {
  PioAnswers answers;
  answers.play({R"(["setup", 9, 0, 5, 4, 64, false, false])", R"(["send", 0, 9, 3, 1, false, 32])",
                R"(["launch"])", R"(["commit", 1, true])", R"(["clear", 1])",
                R"(["send", 0, 9, 3, 1, false, 8])", R"(["force", 9, 1])",
                R"(["send", 0, 9, 3, 1, true, 8])", R"(["launch"])", R"(["commit", 1, true])",
                R"(["clear", 1])", R"(["send", 0, 9, 5, 1, false, 64])", R"(["status", 9])"});
  ASSERT_EQ(answers.lines.size(), 6U);
  EXPECT_EQ(answers.lines[0], R"({"wire":[1,9,0]})");
  EXPECT_EQ(answers.lines[1],
            R"({"event":"pio_wait","ctx":9,"blocks":3,"available":2,"needs_force":true})");
  EXPECT_THAT(answers.lines[2], HasSubstr("\"qw\":[0,32771,"));
  EXPECT_EQ(answers.lines[3], R"({"wire":[1,9,3]})");  // from block 3 around the end of the ring
  EXPECT_THAT(answers.lines[4], HasSubstr("\"qw\":[0,4102,"));
  EXPECT_THAT(answers.lines[5], HasSubstr(R"("errors":"none","free":6)"));
  EXPECT_THAT(answers.lines[5], HasSubstr(R"("packet_blocks":11)"));
  answers.lines.clear();
  answers.play({R"(["restart", 9])", R"(["send", 0, 9, 5, 1, false, 64])",
                R"(["send", 0, 8, 1, 1, false, 64])", R"(["sfence", 0])",
                R"(["setup", 9, 0, 5, 4, 64, false, false])", R"(["send", 0, 9, 1, 0, false, 8])"});
  ASSERT_EQ(answers.lines.size(), 2U);
  EXPECT_THAT(answers.lines[0], HasSubstr(R"("ctx":8,"blocks":1,"available":0)"));
  EXPECT_EQ(answers.lines[1], R"({"event":"pio_stall","thread":0,"addr":"0x90000"})");
}

// Returns of a group give all its members their credits. [PIO-8.2] [PIO-7.8]
TEST(PioLine, ReturnOfANeighbourBringsCredits) {
  PioAnswers answers;
  answers.play({R"(["device", [1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]])",
                R"(["setup", 0, 0, 2, 0, 64, false, false])",
                R"(["setup", 1, 2, 2, 0, 64, false, false])", R"(["send", 0, 1, 2, 0, false, 64])",
                R"(["launch"])", R"(["commit", 0, true])", R"(["clear", 0])",
                R"(["send", 0, 1, 2, 0, false, 64])", R"(["force", 0, 1])",
                R"(["send", 0, 1, 2, 0, false, 64])", R"(["status", 1])"});
  ASSERT_EQ(answers.lines.size(), 4U);
  EXPECT_THAT(answers.lines[1], HasSubstr(R"("event":"pio_wait")"));
  EXPECT_THAT(answers.lines[3], HasSubstr(R"("errors":"none")"));
  EXPECT_THAT(answers.lines[3], HasSubstr(R"("packet_blocks":4)"));
}

}  // namespace
}  // namespace flitwise::pio_line_test
