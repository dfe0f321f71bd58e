// SPDX-License-Identifier: Apache-2.0
// Software of an SDMA ring: what it may write, what is done, and where everything lies.
#include <gtest/gtest.h>

#include "pio/sdma_area.h"
#include "pio/sdma_sender.h"

namespace flitwise::sdma_sender_test {
namespace {

// [PIO-6.10] Head equal to tail is an empty ring, so one entry is never used.
TEST(SdmaSender, OneEntryOfTheRingStaysEmpty) {
  SdmaSender sender(8, 100);
  for (unsigned i = 0; i < 3; ++i) {
    ASSERT_TRUE(sender.may_write(2));
    sender.write(2);
  }
  EXPECT_FALSE(sender.may_write(2));
  EXPECT_TRUE(sender.may_write(1));
  sender.write(1);
  EXPECT_FALSE(sender.may_write(1));
  EXPECT_EQ(sender.tail(), 7U);
}

TEST(SdmaSender, PacketsNeedAPlaceInMemory) {
  SdmaSender sender(64, 3);
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(sender.place(), i);
    sender.write(2);
  }
  EXPECT_FALSE(sender.may_write(2));
  sender.take(3);  // half of the second packet
  EXPECT_TRUE(sender.may_write(2));
  EXPECT_EQ(sender.place(), 0U);
  sender.write(2);
  EXPECT_FALSE(sender.may_write(2));
}

// For so many descriptors, and no more.
void expect_room(const SdmaSender& sender, unsigned descriptors) {
  EXPECT_TRUE(sender.may_write(descriptors));
  EXPECT_FALSE(sender.may_write(descriptors + 1));
}

// The head is an index; a head that stands still says nothing.
TEST(SdmaSender, HeadGoesRoundTheRing) {
  SdmaSender sender(8, 100);
  for (unsigned round = 0; round < 40; ++round) {
    EXPECT_EQ(sender.generation(0), round * 3 / 8 % 4);
    EXPECT_EQ(sender.index(1), (round * 3 + 1) % 8);
    sender.write(3);
    expect_room(sender, 4);
    sender.take((round * 3) % 8);
    expect_room(sender, 4);
    sender.take((round * 3 + 3) % 8);
    expect_room(sender, 7);
  }
}

// Whatever the ring and the memory hold, somebody asks before both are full.
TEST(SdmaSender, AsksForTheHeadBeforeItHasToWait) {
  for (const unsigned entries : {8U, 16U, 256U, 2048U}) {
    for (const unsigned places : {1U, 2U, 5U, 1000U}) {
      SdmaSender sender(entries, places);
      unsigned asked = 0;
      while (sender.may_write(2)) {
        asked += sender.asks_for_head() ? 1 : 0;
        sender.write(2);
      }
      EXPECT_GE(asked, 1U) << entries << " " << places;
      EXPECT_LE(asked, 8U) << entries << " " << places;
    }
  }
}

TEST(SdmaArea, PartsLieOneBehindTheOther) {
  const SdmaArea area{0x10000, 4096, 16, 100};
  EXPECT_EQ(area.head(), 0x10040U);
  EXPECT_EQ(area.ring(), 0x10080U);
  EXPECT_EQ(area.descriptor(15), 0x10170U);
  EXPECT_EQ(area.packet(0), 0x10180U);
  EXPECT_EQ(area.packet(1), 0x10200U);
  EXPECT_EQ(area.places(), 16U);  // as many as descriptors
  EXPECT_EQ((SdmaArea{0, 4096, 16, 1000}).places(), 3U);
  EXPECT_EQ((SdmaArea{0, 4096, 16, 4000}).places(), 0U);
  EXPECT_EQ((SdmaArea{0, 64, 16, 8}).places(), 0U);
}

// [PIO-6.11]
TEST(SdmaDescriptor, ComesBackAsItWasWritten) {
  for (unsigned flags = 0; flags < 16; ++flags) {
    SdmaDescriptor one;
    one.address = 0xfedcba987654;
    one.bytes = 0x2aaa;
    one.is_first = (flags & 1) != 0;
    one.is_last = (flags & 2) != 0;
    one.asks_for_head = (flags & 4) != 0;
    one.interrupts = (flags & 8) != 0;
    one.generation = static_cast<std::uint8_t>(flags % 4);
    const SdmaDescriptor back = decode_sdma_descriptor(encode(one).data());
    EXPECT_EQ(back.address, one.address);
    EXPECT_EQ(back.bytes, one.bytes);
    EXPECT_EQ(back.is_first, one.is_first);
    EXPECT_EQ(back.is_last, one.is_last);
    EXPECT_EQ(back.asks_for_head, one.asks_for_head);
    EXPECT_EQ(back.interrupts, one.interrupts);
    EXPECT_EQ(back.generation, one.generation);
  }
}

}  // namespace
}  // namespace flitwise::sdma_sender_test
