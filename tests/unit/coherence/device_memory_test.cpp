// SPDX-License-Identifier: Apache-2.0
// Device memory with states, message by message. [COH-5.3] to [COH-5.5] [COH-6.1] to [COH-6.4]
#include "coherence/device_memory.h"

#include <gtest/gtest.h>

#include "unit/coherence/coherence_support.h"

namespace flitwise::test::device_memory_test {
namespace {

using cxl::M2sBiRsp;
using cxl::M2sReq;
using cxl::M2sRwd;
using cxl::MetaField;
using cxl::MetaValue;
using cxl::S2mBiSnp;
using cxl::S2mDrs;
using cxl::S2mNdr;
using cxl::SnpType;

struct DeviceBench {
  template <class Opcode>
  static CxlMessage host(CxlChannel channel, Opcode opcode, SnpType snoop, MetaValue value,
                         std::uint16_t tag = 7, std::uint64_t address = 0x40) {
    CxlMessage message = message_of(channel, opcode, tag, address);
    message.snp_type = static_cast<std::uint8_t>(snoop);
    message.meta_field = static_cast<std::uint8_t>(MetaField::kMeta0State);
    message.meta_value = static_cast<std::uint8_t>(value);
    return message;
  }
  void request(M2sReq opcode, SnpType snoop, MetaValue value, std::uint16_t tag = 7) {
    receive(host(CxlChannel::kM2sReq, opcode, snoop, value, tag));
  }
  void write(M2sRwd opcode, SnpType snoop, MetaValue value, std::uint64_t data,
             std::uint64_t byte_enables = kAllBytes) {
    CxlMessage message = host(CxlChannel::kM2sRwd, opcode, snoop, value, 8);
    message.byte_enables = byte_enables;
    device.receive(message, line_of_value(data), out, done);
  }
  void receive(const CxlMessage& message) { device.receive(message, {}, out, done); }
  void run_memory() {
    while (!memory.empty()) {
      const SlowMemory::Request one = memory.complete(0);
      one.is_read ? device.memory_read(one.token, one.data, out, done)
                  : device.memory_written(one.token, out, done);
    }
  }
  void core(CoreOp op, std::uint64_t value = 0, std::uint64_t byte_enables = kAllBytes,
            std::uint64_t address = 0x40) {
    const CoreRequest request{op, 1, address, byte_enables, line_of_value(value)};
    ASSERT_EQ(device.obstacle(request), CoreObstacle::kNone);
    device.request(request, out, done);
  }
  void hold(LineState state, std::uint64_t value) {
    memory.lines[0x40] = line_of_value(value);
    core(state == LineState::kModified ? CoreOp::kWrite : CoreOp::kRead, value);
    run_memory();
    done.clear();
    EXPECT_EQ(device.state(0x40), state);
  }
  void host_holds(MetaValue value) {
    request(M2sReq::kMemRd, value == MetaValue::kAny ? SnpType::kSnpInv : SnpType::kSnpData, value);
    run_memory();
    out.clear();
    EXPECT_EQ(device.host_state(0x40), value);
  }
  /// By writes of lines that the host has.
  void hold_all_bitags() {
    for (std::uint64_t address = 0x400; device.bitags_out() < kBiTags; address += 0x40) {
      receive(
          host(CxlChannel::kM2sReq, M2sReq::kMemRd, SnpType::kSnpInv, MetaValue::kAny, 9, address));
      run_memory();
      core(CoreOp::kWrite, 1, kAllBytes, address);
    }
  }
  bool sent(S2mNdr opcode) { return takes(out, CxlChannel::kS2mNdr, opcode); }
  std::uint64_t sent_data() {
    CxlOut data;
    EXPECT_TRUE(takes(out, CxlChannel::kS2mDrs, S2mDrs::kMemData, &data));
    return words_of(data.line)[0];
  }
  std::uint16_t snooped(S2mBiSnp opcode) {
    CxlOut snoop;
    EXPECT_TRUE(takes(out, CxlChannel::kS2mBiSnp, opcode, &snoop));
    return snoop.message.id;
  }
  void answer(M2sBiRsp opcode, std::uint16_t bitag) {
    receive(message_of(CxlChannel::kM2sBiRsp, opcode, bitag));
  }

  SlowMemory memory;
  static constexpr std::uint32_t kBiTags = 4;
  DeviceMemory device{{4, 2, kBiTags, 4096}, memory};
  CxlOutput out;
  CoreResults done;
};

TEST(DeviceMemory, COH_5_3_AReadGrantsTheStateThatTheHostAsksFor) {
  struct Expected {
    M2sReq opcode;
    SnpType snoop;
    MetaValue value;
    LineState own;
    S2mNdr response;
    MetaValue host;
    LineState keeps;
  };
  constexpr LineState kI = LineState::kInvalid, kS = LineState::kShared, kE = LineState::kExclusive,
                      kM = LineState::kModified;
  for (const Expected& one :
       {Expected{M2sReq::kMemRd, SnpType::kSnpInv, MetaValue::kAny, kI, S2mNdr::kCmpE,
                 MetaValue::kAny, kI},
        {M2sReq::kMemRd, SnpType::kSnpInv, MetaValue::kAny, kE, S2mNdr::kCmpE, MetaValue::kAny, kI},
        {M2sReq::kMemRd, SnpType::kSnpInv, MetaValue::kAny, kM, S2mNdr::kCmpE, MetaValue::kAny, kI},
        {M2sReq::kMemRd, SnpType::kSnpData, MetaValue::kShared, kI, S2mNdr::kCmpS,
         MetaValue::kShared, kI},
        {M2sReq::kMemRd, SnpType::kSnpData, MetaValue::kShared, kM, S2mNdr::kCmpS,
         MetaValue::kShared, kS},
        {M2sReq::kMemRdData, SnpType::kSnpData, MetaValue::kShared, kI, S2mNdr::kCmpE,
         MetaValue::kAny, kI},
        {M2sReq::kMemRdData, SnpType::kSnpData, MetaValue::kShared, kE, S2mNdr::kCmpS,
         MetaValue::kShared, kS},
        {M2sReq::kMemRd, SnpType::kSnpCur, MetaValue::kInvalid, kM, S2mNdr::kCmp,
         MetaValue::kInvalid, kM},
        {M2sReq::kMemRd, SnpType::kSnpInv, MetaValue::kInvalid, kM, S2mNdr::kCmp,
         MetaValue::kInvalid, kI}}) {
    DeviceBench bench;
    if (one.own == kI) {
      bench.memory.lines[0x40] = line_of_value(5);
    } else {
      bench.hold(one.own, 5);
    }
    bench.request(one.opcode, one.snoop, one.value);
    bench.run_memory();
    EXPECT_TRUE(bench.sent(one.response));
    EXPECT_EQ(bench.sent_data(), 5U);
    EXPECT_TRUE(bench.out.empty());
    EXPECT_EQ(bench.device.host_state(0x40), one.host);
    EXPECT_EQ(bench.device.state(0x40), one.keeps);
  }
}

TEST(DeviceMemory, COH_5_3_WithoutAStateThereIsNoNdr) {
  DeviceBench bench;
  bench.memory.lines[0x40] = line_of_value(5);
  CxlMessage message = message_of(CxlChannel::kM2sReq, M2sReq::kMemRd, 7, 0x40);
  message.meta_field = static_cast<std::uint8_t>(MetaField::kNoOp);
  bench.receive(message);
  bench.run_memory();
  EXPECT_EQ(bench.sent_data(), 5U);
  EXPECT_TRUE(bench.out.empty());
}

TEST(DeviceMemory, COH_5_3_MemInvAndMemClnEvctHaveNoData) {
  DeviceBench bench;
  bench.hold(LineState::kModified, 5);
  bench.request(M2sReq::kMemInv, SnpType::kSnpInv, MetaValue::kAny);
  EXPECT_TRUE(bench.out.empty()) << "the dirty line goes to memory first";
  bench.run_memory();
  EXPECT_TRUE(bench.sent(S2mNdr::kCmpE));
  EXPECT_EQ(words_of(bench.memory.lines[0x40])[0], 5U);
  bench.request(M2sReq::kMemClnEvct, SnpType::kNoOp, MetaValue::kInvalid);
  EXPECT_TRUE(bench.sent(S2mNdr::kCmp));
  EXPECT_EQ(bench.device.host_state(0x40), MetaValue::kInvalid);
  bench.request(M2sReq::kMemInv, SnpType::kSnpData, MetaValue::kShared);
  EXPECT_TRUE(bench.sent(S2mNdr::kCmpS));
  EXPECT_TRUE(bench.out.empty());
}

TEST(DeviceMemory, COH_5_4_AnOwnerNeverLeavesACopyHereWhateverSnpTypeSays) {
  DeviceBench bench;
  bench.hold(LineState::kModified, 5);
  bench.request(M2sReq::kMemRd, SnpType::kNoOp, MetaValue::kAny);
  bench.run_memory();
  EXPECT_TRUE(bench.sent(S2mNdr::kCmpE));
  EXPECT_EQ(bench.sent_data(), 5U);
  EXPECT_EQ(bench.device.state(0x40), LineState::kInvalid);
}

TEST(DeviceMemory, COH_5_5_AWriteLeavesTheStateThatItNames) {
  for (const MetaValue value : {MetaValue::kInvalid, MetaValue::kShared, MetaValue::kAny}) {
    DeviceBench bench;
    bench.host_holds(MetaValue::kAny);
    bench.write(M2sRwd::kMemWr, SnpType::kNoOp, value, 9);
    EXPECT_TRUE(bench.out.empty());
    bench.run_memory();
    EXPECT_TRUE(bench.sent(S2mNdr::kCmp));
    EXPECT_EQ(bench.device.host_state(0x40), value);
    EXPECT_EQ(words_of(bench.memory.lines[0x40])[0], 9U);
  }
}

TEST(DeviceMemory, COH_5_5_APartialWriteIsMergedWithTheDevicesDirtyLine) {
  DeviceBench bench;
  bench.hold(LineState::kModified, 5);
  bench.write(M2sRwd::kMemWrPtl, SnpType::kSnpInv, MetaValue::kInvalid, 9, enables_of(1));
  bench.run_memory();
  EXPECT_EQ(words_of(bench.memory.lines[0x40])[0], 9U);
  EXPECT_EQ(words_of(bench.memory.lines[0x40])[1], 5U);
  EXPECT_EQ(bench.device.state(0x40), LineState::kInvalid);
}

TEST(DeviceMemory, COH_6_1_TheCoreTakesBackWhatTheHostHolds) {
  struct Expected {
    CoreOp op;
    MetaValue host;
    bool is_snooped;
    S2mBiSnp snoop;
    M2sBiRsp answer;
    LineState state;
  };
  for (const Expected& one :
       {Expected{CoreOp::kRead, MetaValue::kShared, false, {}, {}, LineState::kShared},
        {CoreOp::kRead, MetaValue::kAny, true, S2mBiSnp::kBiSnpData, M2sBiRsp::kBiRspS,
         LineState::kShared},
        {CoreOp::kRead, MetaValue::kAny, true, S2mBiSnp::kBiSnpData, M2sBiRsp::kBiRspI,
         LineState::kExclusive},
        {CoreOp::kWrite, MetaValue::kShared, true, S2mBiSnp::kBiSnpInv, M2sBiRsp::kBiRspI,
         LineState::kModified},
        {CoreOp::kWrite, MetaValue::kAny, true, S2mBiSnp::kBiSnpInv, M2sBiRsp::kBiRspI,
         LineState::kModified}}) {
    DeviceBench bench;
    bench.host_holds(one.host);
    bench.core(one.op, 3, enables_of(1));
    if (one.is_snooped) {
      const std::uint16_t bitag = bench.snooped(one.snoop);
      EXPECT_TRUE(bench.memory.empty()) << "the host may have to write first";
      bench.answer(one.answer, bitag);
    }
    EXPECT_TRUE(bench.out.empty());
    bench.run_memory();
    EXPECT_EQ(bench.done.size(), 1U);
    EXPECT_EQ(bench.device.state(0x40), one.state);
    EXPECT_EQ(bench.device.bitags_out(), 0U);
  }
}

TEST(DeviceMemory, COH_6_3_ARequestWaitsForTheBackInvalidationAndAWriteDoesNot) {
  DeviceBench bench;
  bench.host_holds(MetaValue::kAny);
  bench.core(CoreOp::kWrite, 3, enables_of(1));
  const std::uint16_t bitag = bench.snooped(S2mBiSnp::kBiSnpInv);
  bench.request(M2sReq::kMemRd, SnpType::kSnpInv, MetaValue::kAny, 9);
  EXPECT_TRUE(bench.memory.empty());
  bench.write(M2sRwd::kMemWr, SnpType::kNoOp, MetaValue::kInvalid, 6);
  bench.run_memory();
  EXPECT_TRUE(bench.sent(S2mNdr::kCmp));
  EXPECT_TRUE(bench.out.empty());
  bench.answer(M2sBiRsp::kBiRspI, bitag);
  bench.run_memory();
  ASSERT_EQ(bench.done.size(), 1U);
  EXPECT_EQ(words_of(bench.done[0].line)[0], 3U);
  EXPECT_EQ(words_of(bench.done[0].line)[1], 6U) << "what the host wrote before";
  EXPECT_TRUE(bench.sent(S2mNdr::kCmpE)) << "then the request has its turn";
  EXPECT_EQ(bench.sent_data(), 3U);
}

TEST(DeviceMemory, COH_6_4_ABiConflictIsAcknowledgedAtOnce) {
  DeviceBench bench;
  bench.host_holds(MetaValue::kShared);
  bench.core(CoreOp::kWrite, 3);
  const std::uint16_t bitag = bench.snooped(S2mBiSnp::kBiSnpInv);
  bench.receive(message_of(CxlChannel::kM2sRwd, M2sRwd::kBiConflict, bitag, 0x40));
  EXPECT_TRUE(bench.sent(S2mNdr::kBiConflictAck));
}

TEST(DeviceMemory, COH_2_2_ADirtyVictimGoesToMemory) {
  DeviceBench bench;
  for (const std::uint64_t address : {0x040, 0x140, 0x240}) {  // one set of two ways
    bench.core(CoreOp::kWrite, address, kAllBytes, address);
  }
  bench.run_memory();
  EXPECT_EQ(words_of(bench.memory.lines[0x040])[0], 0x40U);
  EXPECT_EQ(bench.device.state(0x040), LineState::kInvalid);
  EXPECT_EQ(bench.device.state(0x240), LineState::kModified);
  EXPECT_EQ(bench.device.outstanding(), 0U);
}

TEST(DeviceMemory, COH_7_1_EachKindIsCountedAndDropped) {
  DeviceBench bench;
  const BadMessageCounts& bad = bench.device.bad_messages();
  bench.receive(message_of(CxlChannel::kS2mNdr, 0, 0));
  EXPECT_EQ(bad[BadMessage::kWrongChannel], 1U);
  bench.request(M2sReq::kMemRdFwd, SnpType::kNoOp, MetaValue::kAny);
  bench.request(M2sReq::kMemRd, SnpType::kNoOp, static_cast<MetaValue>(1));
  bench.request(M2sReq::kMemRd, static_cast<SnpType>(5), MetaValue::kAny);
  bench.answer(static_cast<M2sBiRsp>(9), 0);
  EXPECT_EQ(bad[BadMessage::kUnknownOpcode], 4U);
  bench.receive(DeviceBench::host(CxlChannel::kM2sReq, M2sReq::kMemRd, SnpType::kNoOp,
                                  MetaValue::kAny, 7, 4096));
  EXPECT_EQ(bad[BadMessage::kBadAddress], 1U);
  bench.out.clear();  // the refusal: COH_7_3
  bench.answer(M2sBiRsp::kBiRspI, 3);
  bench.receive(message_of(CxlChannel::kM2sRwd, M2sRwd::kBiConflict, 3));
  EXPECT_EQ(bad[BadMessage::kUnknownId], 2U);
  bench.request(M2sReq::kMemRd, SnpType::kSnpData, MetaValue::kShared);
  bench.request(M2sReq::kMemRd, SnpType::kSnpData, MetaValue::kShared);
  EXPECT_EQ(bad[BadMessage::kIdInUse], 1U);
  EXPECT_TRUE(bench.out.empty());
  EXPECT_EQ(bench.device.outstanding(), 1U);
}

TEST(DeviceMemory, COH_7_2_AHostThatKeepsWhatItHadToGiveUpIsTakenOut) {
  DeviceBench bench;
  bench.host_holds(MetaValue::kAny);
  bench.core(CoreOp::kWrite, 3);
  bench.answer(M2sBiRsp::kBiRspE, bench.snooped(S2mBiSnp::kBiSnpInv));
  EXPECT_EQ(bench.device.bad_messages()[BadMessage::kWrongAnswer], 1U);
  EXPECT_EQ(bench.device.host_state(0x40), MetaValue::kInvalid);
  EXPECT_EQ(bench.device.state(0x40), LineState::kModified);
}

TEST(DeviceMemory, COH_7_3_MemoryThatIsNotThereIsAnsweredAndGrantsNothing) {
  DeviceBench bench;
  bench.receive(DeviceBench::host(CxlChannel::kM2sReq, M2sReq::kMemRd, SnpType::kSnpInv,
                                  MetaValue::kAny, 7, 4096));
  EXPECT_TRUE(bench.sent(S2mNdr::kCmp));
  EXPECT_TRUE(takes(bench.out, CxlChannel::kS2mDrs, S2mDrs::kMemDataNxm));
  bench.receive(DeviceBench::host(CxlChannel::kM2sRwd, M2sRwd::kMemWr, SnpType::kNoOp,
                                  MetaValue::kAny, 8, 4096));
  EXPECT_TRUE(bench.sent(S2mNdr::kCmp));
  EXPECT_TRUE(bench.out.empty());
  EXPECT_TRUE(bench.memory.empty());
  EXPECT_EQ(bench.device.host_state(4096), MetaValue::kInvalid);
  EXPECT_EQ(bench.device.bad_messages()[BadMessage::kBadAddress], 2U);
  EXPECT_EQ(bench.device.outstanding(), 0U);
}

TEST(DeviceMemory, COH_6_1_ABiTagIsForWhatTheHostHas) {
  DeviceBench bench;
  bench.host_holds(MetaValue::kAny);
  bench.hold_all_bitags();
  const auto obstacle = [&bench](CoreOp op, std::uint64_t address) {
    return bench.device.obstacle({op, 1, address, kAllBytes, {}});
  };
  EXPECT_EQ(obstacle(CoreOp::kRead, 0x40), CoreObstacle::kId);
  EXPECT_EQ(obstacle(CoreOp::kWrite, 0x40), CoreObstacle::kId);
  EXPECT_EQ(obstacle(CoreOp::kRead, 0x80), CoreObstacle::kNone);
  EXPECT_EQ(obstacle(CoreOp::kWrite, 0x80), CoreObstacle::kNone);
  EXPECT_EQ(obstacle(CoreOp::kWrite, 0x400), CoreObstacle::kLine) << "a BISnp is out for it";
  EXPECT_EQ(obstacle(CoreOp::kReadOnce, 0x80), CoreObstacle::kNotKnown);
  EXPECT_EQ(obstacle(CoreOp::kRead, 4096), CoreObstacle::kNotKnown) << "behind the memory";
}

TEST(DeviceMemory, COH_6_6_TheCoreGetsItsLineFromAHostThatIsGone) {
  DeviceBench bench;
  bench.host_holds(MetaValue::kAny);
  bench.core(CoreOp::kWrite, 3);
  const std::uint16_t bitag = bench.snooped(S2mBiSnp::kBiSnpInv);
  bench.request(M2sReq::kMemRd, SnpType::kSnpInv, MetaValue::kAny);  // waits, and is forgotten
  bench.device.host_lost(bench.done);
  ASSERT_EQ(bench.done.size(), 1U);
  EXPECT_FALSE(bench.done[0].is_error);
  EXPECT_EQ(bench.device.state(0x40), LineState::kModified);
  EXPECT_EQ(bench.device.host_state(0x40), MetaValue::kInvalid);
  EXPECT_EQ(bench.device.outstanding(), 0U);
  bench.answer(M2sBiRsp::kBiRspI, bitag);  // of before
  EXPECT_EQ(bench.device.bad_messages()[BadMessage::kUnknownId], 1U);
  bench.host_holds(MetaValue::kAny);  // the host of now asks with the same tag
}

TEST(DeviceMemory, COH_6_6_WhatMemoryIsAskedForIsDoneAndNotAnswered) {
  DeviceBench bench;
  bench.request(M2sReq::kMemRd, SnpType::kSnpInv, MetaValue::kAny);
  bench.device.host_lost(bench.done);
  bench.run_memory();
  EXPECT_TRUE(bench.out.empty());
  EXPECT_EQ(bench.device.outstanding(), 0U);
  EXPECT_EQ(bench.device.host_state(0x40), MetaValue::kInvalid);
  bench.host_holds(MetaValue::kAny);
}

// Whoever sends the longest queue for one line takes no stack for it.
TEST(DeviceMemory, COH_1_6_AnyNumberOfRequestsMayWaitForALine) {
  DeviceBench bench;
  bench.host_holds(MetaValue::kAny);
  bench.core(CoreOp::kWrite, 3);
  const std::uint16_t bitag = bench.snooped(S2mBiSnp::kBiSnpInv);
  for (std::uint32_t tag = 0; tag < 0x10000; ++tag) {
    bench.request(M2sReq::kMemClnEvct, SnpType::kNoOp, MetaValue::kInvalid,
                  static_cast<std::uint16_t>(tag));
  }
  bench.answer(M2sBiRsp::kBiRspI, bitag);
  EXPECT_EQ(bench.out.size(), 0x10000U);
  EXPECT_EQ(bench.device.outstanding(), 0U);
}

}  // namespace
}  // namespace flitwise::test::device_memory_test
