// SPDX-License-Identifier: Apache-2.0
// What becomes of a message at its end, by code. [LNK-12.3] to [LNK-12.5]
#include "tlp/message_use.h"

#include <gtest/gtest.h>

namespace flitwise::message_use_test {
namespace {

Tlp message(std::uint8_t code, TlpType type = TlpType::kMsg, std::uint16_t length_dw = 0) {
  Tlp tlp;
  tlp.type = type;
  tlp.length_dw = length_dw;
  tlp.message_code = code;
  return tlp;
}

TEST(MessageUse, LNK_12_3_WhatNoReceiverKnowsIsUnsupported) {
  for (const std::uint8_t code : {std::uint8_t{0x28}, std::uint8_t{0x32}, std::uint8_t{0x42},
                                  std::uint8_t{0xff}, msg::kVendorType0}) {
    EXPECT_EQ(use_at_root_port(code, true), MessageUse::kUnsupported) << int{code};
    EXPECT_EQ(use_at_device(message(code)), MessageUse::kUnsupported) << int{code};
  }
}

TEST(MessageUse, LNK_12_3_VendorMessagesOfType1AndWithdrawnOnesAreDiscarded) {
  for (const std::uint8_t code : {msg::kVendorType1, std::uint8_t{0x40}, std::uint8_t{0x48}}) {
    EXPECT_EQ(use_at_root_port(code, false), MessageUse::kDiscarded) << int{code};
    EXPECT_EQ(use_at_device(message(code)), MessageUse::kDiscarded) << int{code};
  }
}

TEST(MessageUse, LNK_12_3_ARootPortTakesWhatComesUp) {
  for (const std::uint8_t code : {msg::kErrCor, msg::kErrFatal, msg::kPmPme, msg::kPmeToAck,
                                  msg::kAssertIntA, std::uint8_t{0x27}}) {
    EXPECT_EQ(use_at_root_port(code, false), MessageUse::kTaken) << int{code};
    EXPECT_EQ(use_at_device(message(code)), MessageUse::kUnsupported) << int{code};
  }
  for (const std::uint8_t code : {msg::kPageRequest, msg::kInvalidateCompletion}) {
    EXPECT_EQ(use_at_root_port(code, true), MessageUse::kTaken);
    EXPECT_EQ(use_at_root_port(code, false), MessageUse::kUnsupported) << "without an agent";
  }
}

TEST(MessageUse, LNK_12_4_ADeviceTakesWhatGoesDown) {
  EXPECT_EQ(use_at_device(message(msg::kPmeTurnOff)), MessageUse::kTaken);
  EXPECT_EQ(use_at_device(message(msg::kUnlock)), MessageUse::kDiscarded);
  EXPECT_EQ(use_at_device(message(msg::kPmActiveStateNak)), MessageUse::kDiscarded);
  EXPECT_EQ(use_at_device(message(msg::kSetSlotPowerLimit, TlpType::kMsgD, 1)), MessageUse::kTaken);
  EXPECT_EQ(use_at_device(message(msg::kSetSlotPowerLimit)), MessageUse::kUnsupported);
  for (const std::uint8_t code : {msg::kPmeTurnOff, msg::kSetSlotPowerLimit, msg::kUnlock}) {
    EXPECT_EQ(use_at_root_port(code, true), MessageUse::kUnsupported) << int{code};
  }
}

}  // namespace
}  // namespace flitwise::message_use_test
