// SPDX-License-Identifier: Apache-2.0
// Script lines that only hostile input holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/script/script_line_reading.h"

namespace flitwise::bad_script_line_test {
namespace {

using test::problems_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// The width divides the offset, so that 0 must never get there.
TEST(BadScriptLine, WidthOfAConfigurationRegisterOutOfRange) {
  for (const char* bytes : {"0", "9", "\"x\"", "null"}) {
    EXPECT_THAT(problems_of(std::string(R"({"op":"cfg_read","bdf":"01:00.0","offset":0,"bytes":)") +
                            bytes + "}"),
                ElementsAre(HasSubstr("script:7:1: bytes: ")))
        << bytes;
  }
}

TEST(BadScriptLine, ValueOutOfRangeIsNotTakenForAnother) {
  EXPECT_THAT(problems_of(R"({"op":"cfg_write","bdf":"01:00.0","offset":0,"bytes":1,"value":256})"),
              ElementsAre(HasSubstr("value: 256 seen; expected 0 to 255")));
}

// [LNK-1.4]
TEST(BadScriptLine, TranslationRequestLongerThanLengthCanSay) {
  const std::string front =
      R"({"op":"dma","kind":"read","addr":0,"at":"translation_request","bytes":)";
  EXPECT_THAT(problems_of(front + "4096}"), ElementsAre());
  EXPECT_THAT(problems_of(front + "4097}"),
              ElementsAre(HasSubstr("bytes: 4097 seen; expected up to 4096")));
}

// Messages go out as JSON, which has no halves of a character.
TEST(BadScriptLine, CharacterOfManyBytesAmongHexDigitsIsNotTorn) {
  const auto problems = problems_of("{\"op\":\"tlp\",\"hex\":\"00\xd1\x99\"}");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_THAT(problems[0], HasSubstr("hex: 0xd1 at byte 1; expected hex digits"));
  EXPECT_NO_THROW(nlohmann::ordered_json(problems[0]).dump());
}

std::string nested(std::size_t levels) {
  return std::string(levels, '[') + std::string(levels, ']');
}

TEST(JsonDepth, TextNestedTooDeepIsNoJson) {
  EXPECT_FALSE(json_value::parse(nested(json_value::kDeepestJson)).is_discarded());
  EXPECT_TRUE(json_value::parse(nested(json_value::kDeepestJson + 1)).is_discarded());
  EXPECT_TRUE(json_value::parse(nested(1'000'000)).is_discarded());
}

TEST(JsonDepth, BracketsInStringsAndSideBySideDoNotCount) {
  EXPECT_FALSE(json_value::is_too_deep("[\"" + std::string(1000, '[') + "\\\"" +
                                       std::string(1000, '{') + "\"]"));
  std::string side_by_side = "[";
  for (int i = 0; i < 1000; ++i) {
    side_by_side += "{},";
  }
  EXPECT_FALSE(json_value::is_too_deep(side_by_side + "0]"));
}

TEST(BadScriptLine, RunIsUntilIdleOrAnEventAndAloneHasALimit) {
  EXPECT_THAT(problems_of(R"({"op":"run","until":{"event":"wire"},"limit":"1us"})"), IsEmpty());
  for (const char* line :
       {R"({"op":"run","until":"idel"})", R"({"op":"run","until":["event"]})",
        R"({"op":"run","until":"idle","limit":"1us"})", R"({"op":"run","for":"1us","limit":"1us"})",
        R"({"op":"run","for":"1us","until":{"event":"wire"}})",
        R"({"op":"run","until":{"event":"wire"},"limit":"0us"})"}) {
    EXPECT_THAT(problems_of(line), SizeIs(1)) << line;
  }
}

}  // namespace
}  // namespace flitwise::bad_script_line_test
