// SPDX-License-Identifier: Apache-2.0
// Messages of CXL.cache and CXL.mem as lines of a script.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/script/script_line_reading.h"

namespace flitwise::cxl_message_op_test {
namespace {

using test::op_of;
using test::problems_of;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(CxlOp, KeepsTheMessageAsItStands) {
  const auto op = op_of<CxlOp>(
      R"({"op":"cxl","port":"rp1","message":{"channel":"M2S Req","opcode":"MemRd","tag":5}})");
  EXPECT_EQ(op.port, "rp1");
  EXPECT_EQ(op.message, json_value::parse(R"({"channel":"M2S Req","opcode":"MemRd","tag":5})"));
}

TEST(CxlOp, ComesFromTheFirstDevice) {
  const auto op = op_of<CxlOp>(R"({"op":"cxl","message":"D2H Req"})");
  EXPECT_EQ(op.port, "ep0");
  EXPECT_EQ(op.message, Json("D2H Req"));
}

TEST(CxlOp, TellsWhatIsMissingAndUnknown) {
  EXPECT_THAT(problems_of(R"({"op":"cxl"})"), ElementsAre(HasSubstr("message: missing")));
  EXPECT_THAT(problems_of(R"({"op":"cxl","message":5})"),
              ElementsAre(HasSubstr("expected a message")));
  EXPECT_THAT(problems_of(R"({"op":"cxl","message":"D2H Req","direction":"up"})"),
              ElementsAre(HasSubstr("direction: unknown key")));
}

}  // namespace
}  // namespace flitwise::cxl_message_op_test
