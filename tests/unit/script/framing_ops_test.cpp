// SPDX-License-Identifier: Apache-2.0
// Script lines that frame packets and take frames apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/script/script_line_reading.h"

namespace flitwise::framing_ops_test {
namespace {

using test::op_of;
using test::problems_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(FrameOp, ReadsATlpAsBytesWithSequenceNumberAndMark) {
  const auto op = op_of<FrameOp>(
      R"({"op":"frame","generation":2,"hex":"00000001 0100000f 00001000","seq":4095,"nullified":true})");
  EXPECT_EQ(op.framing, Framing::kGen1);
  EXPECT_FALSE(op.is_dllp);
  EXPECT_THAT(op.bytes, SizeIs(12));
  EXPECT_EQ(op.sequence, 4095);
  EXPECT_TRUE(op.is_nullified);
}

TEST(FrameOp, ReadsPacketsAsTheirFields) {
  const auto tlp = op_of<FrameOp>(
      R"({"op":"frame","generation":3,"tlp":{"type":"MWr","address":4096,"payload":"11223344"}})");
  EXPECT_EQ(tlp.framing, Framing::kGen3);
  EXPECT_THAT(tlp.bytes, SizeIs(16));
  const auto dllp =
      op_of<FrameOp>(R"({"op":"frame","generation":5,"dllp":{"type":"Ack","seq":1}})");
  EXPECT_TRUE(dllp.is_dllp);
  EXPECT_THAT(dllp.bytes, SizeIs(6));
}

TEST(FrameOp, TakesOnePacketAndNoOther) {
  for (const char* packets : {"", R"(,"hex":"000000010100000f00001000","dllp":{"type":"Ack"})",
                              R"(,"hex":"000000010100000f00001000","tlp":{"type":"MRd"})"}) {
    EXPECT_THAT(problems_of(std::string(R"({"op":"frame","generation":1)") + packets + "}"),
                ElementsAre(HasSubstr("expected one of tlp")))
        << packets;
  }
}

TEST(FrameOp, TellsRangesAndNearestKeys) {
  EXPECT_THAT(
      problems_of(
          R"({"op":"frame","generation":6,"hex":"000000010100000f00001000","seq":4096,"nulified":true})"),
      ElementsAre(HasSubstr("script:7:1: generation: 6 seen; expected 1 to 5"),
                  HasSubstr("script:7:1: seq: 4096 seen; expected 0 to 4095"),
                  HasSubstr("nearest key 'nullified'")));
  EXPECT_THAT(problems_of(R"({"op":"frame","hex":"000000010100000f00001000"})"),
              ElementsAre(HasSubstr("generation: missing")));
}

// The length of an STP token counts DWs, five at least. [LNK-5.9]
TEST(FrameOp, RefusesBytesThatAreNoWholeDwsOfATlp) {
  const auto with = [](std::size_t bytes) {
    std::string hex;
    for (std::size_t i = 0; i < bytes; ++i) {
      hex += "00";
    }
    return problems_of(R"({"op":"frame","generation":3,"hex":")" + hex + "\"}");
  };
  for (const std::size_t bytes : {0U, 8U, 13U, 15U, 8164U}) {
    EXPECT_THAT(with(bytes),
                ElementsAre(HasSubstr("hex: " + std::to_string(bytes) + " bytes seen")))
        << bytes;
  }
  EXPECT_THAT(with(12), IsEmpty());
  EXPECT_THAT(with(8160), IsEmpty());
}

TEST(FrameOp, ADllpHasNoSequenceNumberOfTlps) {
  EXPECT_THAT(
      problems_of(
          R"({"op":"frame","generation":1,"dllp":{"type":"Ack"},"seq":1,"nullified":false})"),
      ElementsAre(HasSubstr("seq: a DLLP has none"), HasSubstr("nullified: a DLLP has none")));
}

TEST(UnframeOp, TakesAnyBytesOfANamedUnit) {
  const auto op = op_of<UnframeOp>(R"({"op":"unframe","generation":4,"unit":"dllp","hex":""})");
  EXPECT_EQ(op.framing, Framing::kGen3);
  EXPECT_TRUE(op.is_dllp);
  EXPECT_THAT(op.bytes, IsEmpty());
  EXPECT_THAT(problems_of(R"({"op":"unframe","generation":1,"unit":"tpl","hex":"fb"})"),
              ElementsAre(HasSubstr("nearest value 'tlp'")));
  EXPECT_THAT(problems_of(R"({"op":"unframe","generation":1})"),
              ElementsAre(HasSubstr("unit: missing"), HasSubstr("hex: missing")));
}

}  // namespace
}  // namespace flitwise::framing_ops_test
