// SPDX-License-Identifier: Apache-2.0
// Channels and opcodes.
#include "cxl/channels.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace flitwise::channels_test {
namespace {

TEST(CxlChannels, CXL_1_1_NamesSayTheDirection) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < kCxlChannels; ++i) {
    const auto channel = static_cast<CxlChannel>(i);
    const std::string name = info_of(channel).name;
    const bool is_up = name[0] == 'D' || name[0] == 'S';  // device or subordinate to the host
    EXPECT_EQ(info_of(channel).direction == CxlDirection::kUpstream, is_up) << name;
    const bool is_mem = name.find('M') < 3;
    EXPECT_EQ(info_of(channel).protocol == CxlProtocol::kMem, is_mem) << name;
    EXPECT_EQ(find_cxl_channel(name), channel);
    names.insert(name);
  }
  EXPECT_EQ(names.size(), kCxlChannels);
  EXPECT_FALSE(find_cxl_channel("D2H").has_value());
}

TEST(CxlChannels, CXL_1_1_DataFollowsFourChannels) {
  for (std::size_t i = 0; i < kCxlChannels; ++i) {
    CxlMessage message;
    message.channel = static_cast<CxlChannel>(i);
    EXPECT_EQ(info_of(message.channel).has_data, message.has_data());
    EXPECT_LE(info_of(message.channel).may_have_byte_enables, message.has_data());
  }
}

TEST(CxlChannels, CXL_1_2_OpcodesHaveNamesBothWays) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < kCxlChannels; ++i) {
    const auto channel = static_cast<CxlChannel>(i);
    for (const CxlOpcodeName& opcode : info_of(channel).opcodes) {
      EXPECT_STREQ(cxl_opcode_name(channel, opcode.code), opcode.name);
      EXPECT_EQ(find_cxl_opcode(channel, opcode.name), opcode.code);
      ++count;
    }
  }
  EXPECT_EQ(count, 56U);
  EXPECT_EQ(find_cxl_opcode(CxlChannel::kD2hReq, "CacheFlushed"), 0x10);
  EXPECT_EQ(find_cxl_opcode(CxlChannel::kM2sReq, "MemClnEvct"), 0xA);
  EXPECT_EQ(find_cxl_opcode(CxlChannel::kM2sReq, "MemWr"), std::nullopt);
  EXPECT_EQ(cxl_opcode_name(CxlChannel::kH2dReq, 0), nullptr);
  EXPECT_EQ(cxl_opcode_name(CxlChannel::kH2dData, 0), nullptr);
}

TEST(CxlChannels, CXL_1_6_EachMessageTakesACreditOfItsClass) {
  const auto credits = [](CxlChannel channel) { return info_of(channel).credits; };
  EXPECT_EQ(credits(CxlChannel::kD2hReq), (std::array<std::uint8_t, 3>{1, 0, 0}));
  EXPECT_EQ(credits(CxlChannel::kS2mNdr), (std::array<std::uint8_t, 3>{0, 1, 0}));
  EXPECT_EQ(credits(CxlChannel::kS2mDrs), (std::array<std::uint8_t, 3>{0, 0, 1}));
  EXPECT_EQ(credits(CxlChannel::kM2sRwd), (std::array<std::uint8_t, 3>{0, 0, 1}));
  for (std::size_t i = 0; i < kCxlChannels; ++i) {
    const auto channel = static_cast<CxlChannel>(i);
    EXPECT_EQ(credits(channel)[static_cast<std::size_t>(CxlCredit::kData)] == 1,
              info_of(channel).has_data);
  }
}

}  // namespace
}  // namespace flitwise::channels_test
