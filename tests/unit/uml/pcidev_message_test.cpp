// SPDX-License-Identifier: Apache-2.0
#include "uml/pcidev_message.h"

#include <gtest/gtest.h>

namespace flitwise::pcidev_message_test {

std::vector<std::uint8_t> message(std::uint8_t op, std::uint8_t bar, std::uint8_t size,
                                  std::vector<std::uint8_t> data = {}) {
  std::vector<std::uint8_t> bytes = {op, bar, 0, 0, size, 0, 0, 0, 0x10, 0x20, 0x80, 0, 0, 0, 0, 0};
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

TEST(PcidevMessage, AReadSaysWhereAndHowMuch) {
  const auto command = decode_pci_command(message(3, 2, 4), 8);
  ASSERT_TRUE(command);
  EXPECT_EQ(command->op, PciOp::kMmioRead);
  EXPECT_EQ(command->bar, 2);
  EXPECT_EQ(command->size, 4U);
  EXPECT_EQ(command->address, 0x802010U);
  EXPECT_TRUE(command->is_read());
}

TEST(PcidevMessage, AReadNeedsRoomForItsAnswer) {
  EXPECT_FALSE(decode_pci_command(message(1, 0, 4), 3));
}

TEST(PcidevMessage, AWriteHasAsMuchDataAsItSaysAndNoMore) {
  const auto command = decode_pci_command(message(4, 0, 2, {1, 2, 3, 4}), 0);
  ASSERT_TRUE(command);
  EXPECT_EQ(command->data, (std::vector<std::uint8_t>{1, 2}));
  EXPECT_FALSE(decode_pci_command(message(4, 0, 5, {1, 2, 3, 4}), 0));
}

TEST(PcidevMessage, AMemsetIsAWriteOfOneByteManyTimes) {
  const auto command = decode_pci_command(message(5, 0, 3, {7}), 0);
  ASSERT_TRUE(command);
  EXPECT_EQ(command->op, PciOp::kMmioWrite);
  EXPECT_EQ(command->data, (std::vector<std::uint8_t>{7, 7, 7}));
}

TEST(PcidevMessage, WhatIsCutShortEmptyOrUnknownIsNoCommand) {
  EXPECT_FALSE(decode_pci_command({3, 0, 0, 0, 4}, 8));
  EXPECT_FALSE(decode_pci_command(message(3, 0, 0), 8));
  EXPECT_FALSE(decode_pci_command(message(0, 0, 4), 8));
  EXPECT_FALSE(decode_pci_command(message(7, 0, 4, {1, 2, 3, 4}), 8));
}

TEST(PcidevMessage, AnInterruptHasItsDataBehindTheHeader) {
  const std::vector<std::uint8_t> expected = {7,    0, 0, 0, 4, 0, 0, 0, 0, 0,
                                              0x0a, 0, 0, 0, 0, 0, 9, 1, 0, 0};
  EXPECT_EQ(encode_msi(0xa0000, 0x109), expected);
}

}  // namespace flitwise::pcidev_message_test
