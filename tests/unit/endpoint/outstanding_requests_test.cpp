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

}  // namespace
}  // namespace flitwise::outstanding_requests_test
