// SPDX-License-Identifier: Apache-2.0
// Operations on flits of CXL.cache and CXL.mem as lines of a script.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/script/script_line_reading.h"

namespace flitwise::cxl_ops_test {
namespace {

using test::op_of;
using test::problems_of;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(EncodeCxlOp, KeepsTheKeysOfTheFlitAlone) {
  const auto op = op_of<EncodeCxlOp>(
      R"({"op":"encode_cxl","id":7,"flit":"68","direction":"up","messages":["S2M NDR"]})");
  EXPECT_EQ(op.flit, json_value::parse(R"({"flit":"68","direction":"up","messages":["S2M NDR"]})"));
}

TEST(EncodeCxlOp, SaysWhichFlitItIs) {
  EXPECT_THAT(problems_of(R"({"op":"encode_cxl","direction":"up"})"),
              ElementsAre(HasSubstr("flit: missing")));
  EXPECT_THAT(problems_of(R"({"op":"encode_cxl","flit":"68"})"),
              ElementsAre(HasSubstr("direction: missing")));
  EXPECT_THAT(problems_of(R"({"op":"encode_cxl","flit":"64","direction":"up"})"),
              ElementsAre(HasSubstr("68, 256 or 256_lopt")));
}

TEST(EncodeCxlOp, AControlFlitNeedsNoDirection) {
  EXPECT_TRUE(op_of<EncodeCxlOp>(R"({"op":"encode_cxl","flit":"68","control":"RETRY.Frame"})")
                  .flit.contains("control"));
}

TEST(DecodeCxlOp, TakesAnyBytesUpToAFlit) {
  const auto op = op_of<DecodeCxlOp>(
      R"({"op":"decode_cxl","flit":"256_lopt","direction":"down","identity_bits":9,"hex":"5a"})");
  EXPECT_EQ(op.kind.form, CxlFlitForm::k256LatencyOptimised);
  EXPECT_EQ(op.kind.direction, CxlDirection::kDownstream);
  EXPECT_EQ(op.kind.identity_bits, 9U);
  EXPECT_EQ(op.bytes, std::vector<std::uint8_t>{0x5a});
  const std::string bytes(2 * 257, '0');
  EXPECT_THAT(
      problems_of(R"({"op":"decode_cxl","flit":"68","direction":"up","hex":")" + bytes + "\"}"),
      ElementsAre(HasSubstr("68 or 256 bytes")));
}

TEST(DecodeCxlOp, TellsWhatIsMissingAndUnknown) {
  EXPECT_THAT(problems_of(R"({"op":"decode_cxl","flit":"68","direction":"up"})"),
              ElementsAre(HasSubstr("hex: missing")));
  EXPECT_THAT(problems_of(R"({"op":"decode_cxl","flit":"68","hex":"00"})"),
              ElementsAre(HasSubstr("direction: missing")));
  EXPECT_THAT(problems_of(R"({"op":"decode_cxl","flit":"68","direction":"up","hex":"","bits":1})"),
              ElementsAre(HasSubstr("bits: unknown key")));
}

}  // namespace
}  // namespace flitwise::cxl_ops_test
