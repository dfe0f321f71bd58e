// SPDX-License-Identifier: Apache-2.0
#include "endpoint/outstanding_requests.h"

#include <gtest/gtest.h>

namespace flitwise::outstanding_requests_test {
namespace {

TEST(OutstandingRequests, LNK_9_8_TagsAreThoseThatAreUsedOfEachFunction) {
  EXPECT_EQ(OutstandingRequests(1, 5).tags_per_function(), 32U);
  EXPECT_EQ(OutstandingRequests(1, 8).tags_per_function(), 256U);
  EXPECT_EQ(OutstandingRequests(1, 10).tags_per_function(), 768U);
  EXPECT_EQ(OutstandingRequests(3, 14).tags_per_function(), 15'360U);
  OutstandingRequests of_ten_bits(2, 10);
  of_ten_bits.set_tag_bits(8);
  EXPECT_EQ(of_ten_bits.tags_per_function(), 256U) << "software has enabled no more";
}

TEST(OutstandingRequests, LNK_9_18_TagsThatAreHeldBackAreNeitherOutNorFree) {
  OutstandingRequests requests(2, 5);
  const std::uint16_t first = requests.open(0, {}), second = requests.open(1, {});
  requests.close_late(0, first, Time::from_us(5));
  requests.close_late(1, second, Time::from_us(6));
  EXPECT_EQ(requests.size(), 0U);
  EXPECT_EQ(requests.tags_out(), 0U);
  EXPECT_EQ(requests.in_use(0), 0U);
  EXPECT_EQ(requests.free_tags(0), 31U);
  EXPECT_EQ(requests.find(0, first), nullptr);
  EXPECT_FALSE(requests.last_came(0, static_cast<std::uint16_t>(second + 1)));
  EXPECT_TRUE(requests.last_came(1, second));
  EXPECT_FALSE(requests.last_came(1, second)) << "once";
  EXPECT_EQ(requests.free_tags(1), 32U);
  requests.release_due(Time::from_us(4));
  EXPECT_EQ(requests.next_release(), Time::from_us(5));
  requests.release_due(Time::from_us(5));
  EXPECT_EQ(requests.next_release(), Time::never());
  EXPECT_EQ(requests.free_tags(0), 32U);
  for (int i = 0; i < 31; ++i) {
    EXPECT_NE(requests.open(0, {}), first) << "it is taken last";
  }
  EXPECT_EQ(requests.open(0, {}), first);
}

}  // namespace
}  // namespace flitwise::outstanding_requests_test
