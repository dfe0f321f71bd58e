// SPDX-License-Identifier: Apache-2.0
// A type 3 device and its master. [COH-5.1] [COH-5.2]
#include "coherence/memory_expander.h"

#include <gtest/gtest.h>

#include "unit/coherence/coherence_support.h"
#include "unit/coherence/memory_master.h"

namespace flitwise::test::memory_expander_test {
namespace {

using cxl::M2sReq;
using cxl::M2sRwd;
using cxl::S2mDrs;
using cxl::S2mNdr;

struct ExpanderBench {
  bool request(M2sReq opcode, std::uint16_t tag, std::uint64_t address) {
    return expander.receive(message_of(CxlChannel::kM2sReq, opcode, tag, address), {}, out);
  }
  bool write(M2sRwd opcode, std::uint16_t tag, std::uint64_t address, std::uint64_t value,
             std::uint64_t byte_enables = kAllBytes) {
    CxlMessage message = message_of(CxlChannel::kM2sRwd, opcode, tag, address);
    message.byte_enables = byte_enables;
    return expander.receive(message, line_of_value(value), out);
  }
  MemoryExpander expander{4096};
  CxlOutput out;
};

TEST(MemoryExpander, COH_5_1_AReadIsAnsweredWithDataAlone) {
  ExpanderBench bench;
  EXPECT_TRUE(bench.write(M2sRwd::kMemWr, 6, 0x80, 5));
  bench.out.clear();
  for (const M2sReq opcode : {M2sReq::kMemRd, M2sReq::kMemRdData}) {
    EXPECT_FALSE(bench.request(opcode, 7, 0x80));
    CxlOut data;
    EXPECT_TRUE(takes(bench.out, CxlChannel::kS2mDrs, S2mDrs::kMemData, &data));
    EXPECT_EQ(data.message.id, 7U);
    EXPECT_EQ(words_of(data.line)[0], 5U);
    EXPECT_TRUE(bench.out.empty()) << "no NDR";
  }
}

TEST(MemoryExpander, COH_5_1_AWriteIsAnsweredWithCmp) {
  ExpanderBench bench;
  EXPECT_TRUE(bench.write(M2sRwd::kMemWr, 7, 0x80, 5));
  EXPECT_TRUE(takes(bench.out, CxlChannel::kS2mNdr, S2mNdr::kCmp));
  EXPECT_TRUE(bench.write(M2sRwd::kMemWrPtl, 8, 0x80, 6, enables_of(2)));
  EXPECT_TRUE(takes(bench.out, CxlChannel::kS2mNdr, S2mNdr::kCmp));
  EXPECT_TRUE(bench.out.empty());
  bench.request(M2sReq::kMemRd, 9, 0x80);
  EXPECT_EQ(words_of(bench.out.front().line)[0], 5U);
  EXPECT_EQ(words_of(bench.out.front().line)[1], 6U);
}

TEST(MemoryExpander, COH_5_2_WhatChangesNothingHereIsAnsweredAtOnce) {
  ExpanderBench bench;
  for (const M2sReq opcode : {M2sReq::kMemInv, M2sReq::kMemInvNt, M2sReq::kMemClnEvct}) {
    bench.request(opcode, 7, 0x80);
    EXPECT_TRUE(takes(bench.out, CxlChannel::kS2mNdr, S2mNdr::kCmp));
  }
  bench.request(M2sReq::kMemSpecRd, 7, 0x80);
  EXPECT_TRUE(bench.out.empty()) << "a hint has no answer";
  EXPECT_EQ(bench.expander.bad_messages().total(), 0U);
}

TEST(MemoryExpander, COH_7_3_WhatIsNotThereIsAnsweredAndCounted) {
  ExpanderBench bench;
  bench.request(M2sReq::kMemRd, 7, 4096);
  EXPECT_TRUE(takes(bench.out, CxlChannel::kS2mDrs, S2mDrs::kMemDataNxm));
  EXPECT_FALSE(bench.write(M2sRwd::kMemWr, 7, 4096, 1));
  EXPECT_TRUE(takes(bench.out, CxlChannel::kS2mNdr, S2mNdr::kCmp));
  EXPECT_EQ(bench.expander.bad_messages()[BadMessage::kBadAddress], 2U);
}

TEST(MemoryExpander, COH_7_1_EachKindIsCountedAndDropped) {
  ExpanderBench bench;
  bench.request(M2sReq::kMemRd, 8, 0x81);
  EXPECT_EQ(bench.expander.bad_messages()[BadMessage::kBadAddress], 1U);
  bench.request(M2sReq::kMemRdFwd, 8, 0x80);
  bench.write(M2sRwd::kBiConflict, 8, 0x80, 0);
  EXPECT_EQ(bench.expander.bad_messages()[BadMessage::kUnknownOpcode], 2U);
  bench.expander.receive(message_of(CxlChannel::kD2hReq, 0, 0), {}, bench.out);
  EXPECT_EQ(bench.expander.bad_messages()[BadMessage::kWrongChannel], 1U);
  EXPECT_TRUE(bench.out.empty());
}

TEST(MemoryMaster, COH_5_1_ReadsAndWritesHaveTheirRequests) {
  CxlOutput out;
  MemoryMaster master(4, out);
  master.read(11, 0x40);
  master.write(12, 0x80, line_of_value(1), kAllBytes);
  master.write(13, 0xc0, line_of_value(2), enables_of(1));
  CxlOut read, write, part;
  EXPECT_TRUE(takes(out, CxlChannel::kM2sReq, M2sReq::kMemRd, &read));
  EXPECT_TRUE(takes(out, CxlChannel::kM2sRwd, M2sRwd::kMemWr, &write));
  EXPECT_TRUE(takes(out, CxlChannel::kM2sRwd, M2sRwd::kMemWrPtl, &part));
  EXPECT_EQ(part.message.byte_enables, enables_of(1));
  const auto read_done =
      master.receive(message_of(CxlChannel::kS2mDrs, S2mDrs::kMemData, read.message.id));
  ASSERT_TRUE(read_done);
  EXPECT_EQ(read_done->token, 11U);
  EXPECT_TRUE(read_done->is_read);
  const auto write_done =
      master.receive(message_of(CxlChannel::kS2mNdr, S2mNdr::kCmp, write.message.id));
  ASSERT_TRUE(write_done);
  EXPECT_EQ(write_done->token, 12U);
  EXPECT_EQ(master.outstanding(), 1U);
}

TEST(MemoryMaster, COH_7_1_EachKindIsCountedAndDropped) {
  CxlOutput out;
  MemoryMaster master(4, out);
  master.read(11, 0x40);
  const std::uint16_t tag = out[0].message.id;
  EXPECT_FALSE(master.receive(message_of(CxlChannel::kS2mNdr, S2mNdr::kCmp, tag)));
  EXPECT_EQ(master.bad_messages()[BadMessage::kWrongAnswer], 1U);
  EXPECT_FALSE(master.receive(message_of(CxlChannel::kS2mDrs, 2, tag)));
  EXPECT_EQ(master.bad_messages()[BadMessage::kUnknownOpcode], 1U);
  EXPECT_FALSE(master.receive(message_of(CxlChannel::kS2mDrs, 0, 9999)));
  EXPECT_EQ(master.bad_messages()[BadMessage::kUnknownId], 1U);
  EXPECT_FALSE(master.receive(message_of(CxlChannel::kS2mBiSnp, 0, tag)));
  EXPECT_EQ(master.bad_messages()[BadMessage::kWrongChannel], 1U);
  EXPECT_EQ(master.outstanding(), 1U);
  EXPECT_TRUE(master.receive(message_of(CxlChannel::kS2mDrs, S2mDrs::kMemDataNxm, tag)));
  EXPECT_FALSE(master.receive(message_of(CxlChannel::kS2mDrs, 0, tag))) << "twice";
}

}  // namespace
}  // namespace flitwise::test::memory_expander_test
