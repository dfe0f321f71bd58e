// SPDX-License-Identifier: Apache-2.0
// Operations on TLPs and flits as lines of a script.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/script/script_line_reading.h"

namespace flitwise::codec_ops_test {
namespace {

using test::op_of;
using test::problems_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string zeros(std::size_t bytes) {
  return std::string(2 * bytes, '0');
}

TEST(EncodeTlpOp, HasTheBytesOfItsMode) {
  const auto non_flit = op_of<EncodeTlpOp>(R"({"op":"encode_tlp","type":"MRd","address":4096})");
  EXPECT_EQ(non_flit.form, TlpForm::kNonFlit);
  EXPECT_EQ(non_flit.bytes, (std::vector<std::uint8_t>{0, 0, 0, 1, 0, 0, 0, 15, 0, 0, 16, 0}));
  const auto flit =
      op_of<EncodeTlpOp>(R"({"op":"encode_tlp","flit_mode":true,"type":"MRd","address":4096})");
  EXPECT_EQ(flit.form, TlpForm::kFlit);
  EXPECT_EQ(flit.bytes, (std::vector<std::uint8_t>{3, 0, 0, 1, 0, 0, 0, 0, 0, 0, 16, 0}));
}

TEST(EncodeTlpOp, RefusesWhatBreaksARuleUnlessAskedNotTo) {
  const std::string crosses = R"("type":"MRd","address":4092,"length_dw":2})";
  EXPECT_THAT(problems_of(R"({"op":"encode_tlp",)" + crosses),
              ElementsAre(HasSubstr("crosses_4kib")));
  EXPECT_THAT(problems_of(R"({"op":"encode_tlp","check":false,)" + crosses), IsEmpty());
  EXPECT_THAT(problems_of(R"({"op":"encode_tlp","address":4096})"),
              ElementsAre(HasSubstr("type: missing")));
}

TEST(DecodeTlpOp, TakesAnyBytesUpToTheLongestTlp) {
  const auto op =
      op_of<DecodeTlpOp>(R"({"op":"decode_tlp","flit_mode":true,"check":false,"hex":"5a"})");
  EXPECT_EQ(op.form, TlpForm::kFlit);
  EXPECT_FALSE(op.checks);
  EXPECT_EQ(op.bytes, std::vector<std::uint8_t>{0x5a});
  EXPECT_THAT(problems_of(R"({"op":"decode_tlp","hex":")" + zeros(8161) + "\"}"),
              ElementsAre(HasSubstr("8160 bytes")));
  EXPECT_THAT(problems_of(R"({"op":"decode_tlp"})"), ElementsAre(HasSubstr("hex: missing")));
}

TEST(EncodeFlitOp, ReadsTheFlitBeforeItsTurnComes) {
  const auto op = op_of<EncodeFlitOp>(
      R"({"op":"encode_flit","command":"ack","seq":7,"tlps":[{"type":"MRd","address":4096}]})");
  EXPECT_EQ(op.plan.dlp.command, ReplayCommand::kAck);
  EXPECT_EQ(op.plan.sequence, 7U);
  ASSERT_EQ(op.plan.tlps.size(), 1U);
  EXPECT_EQ(op.plan.tlps[0].bytes.size(), 12U);
  EXPECT_THAT(problems_of(R"({"op":"encode_flit","command":"nak"})"),
              ElementsAre(HasSubstr("seq: missing")));
  EXPECT_THAT(problems_of(R"({"op":"encode_flit","tlps":[{"type":"MWx"}]})"),
              ElementsAre(HasSubstr("tlps[0].type")));
}

TEST(DecodeFlitOp, TakesWholeFlits) {
  const auto op =
      op_of<DecodeFlitOp>(R"({"op":"decode_flit","rest_dw":3,"hex":")" + zeros(512) + "\"}");
  EXPECT_EQ(op.flits.size(), 2U);
  EXPECT_EQ(op.options.rest_dw, 3U);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{255}, std::size_t{257}}) {
    EXPECT_THAT(problems_of(R"({"op":"decode_flit","hex":")" + zeros(bytes) + "\"}"),
                ElementsAre(HasSubstr("expected flits of 256 bytes")));
  }
  EXPECT_THAT(problems_of(R"({"op":"decode_flit"})"), ElementsAre(HasSubstr("hex: missing")));
}

TEST(DecodeRoceOp, TakesAnyBytesUpToAJumboFrame) {
  const auto op = op_of<DecodeRoceOp>(R"({"op":"decode_roce","hex":"0102","check":false})");
  EXPECT_EQ(op.bytes, (std::vector<std::uint8_t>{1, 2}));
  EXPECT_FALSE(op.checks);
  EXPECT_THAT(problems_of(R"({"op":"decode_roce","hex":")" + zeros(9216) + "\"}"), IsEmpty());
  EXPECT_THAT(problems_of(R"({"op":"decode_roce","hex":")" + zeros(9217) + "\"}"),
              ElementsAre(HasSubstr("hex: too long; expected up to 9216 bytes")));
  EXPECT_THAT(problems_of(R"({"op":"decode_roce"})"), ElementsAre(HasSubstr("hex")));
}

}  // namespace
}  // namespace flitwise::codec_ops_test
