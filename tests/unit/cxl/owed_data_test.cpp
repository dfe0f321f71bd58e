// SPDX-License-Identifier: Apache-2.0
// What is owed, beside a list of chunks.
#include "cxl/owed_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>

namespace flitwise::owed_data_test {
namespace {

TEST(CxlOwedData, CXL_2_5_ChunksGoLineByLineInTheOrderOfTheirHeaders) {
  std::mt19937 random(7);
  CxlOwedData owed;
  std::deque<char> chunks;  // b: byte enables, d: data, D: the last of a line
  std::uint32_t fullest = 0;
  for (int i = 0; i < 20000; ++i) {
    if ((random() % 5 == 0 || i < 500) && owed.lines() < CxlOwedData::kMostLines) {
      const bool is_partial = random() % 2 == 0;
      owed.add(is_partial);
      for (const char chunk : is_partial ? std::string("bdddD") : std::string("dddD")) {
        chunks.push_back(chunk);
      }
    } else if (!chunks.empty()) {
      EXPECT_EQ(owed.next_is_byte_enables(), chunks.front() == 'b');
      EXPECT_EQ(owed.next_ends_line(), chunks.front() == 'D');
      owed.take();
      chunks.pop_front();
    }
    ASSERT_EQ(owed.chunks(), chunks.size());
    ASSERT_EQ(owed.is_empty(), chunks.empty());
    fullest = std::max(fullest, owed.lines());
  }
  EXPECT_EQ(fullest, CxlOwedData::kMostLines);
  owed.add(true);
  owed.clear();
  EXPECT_TRUE(owed.is_empty());
  EXPECT_EQ(owed.lines(), 0U);
}

}  // namespace
}  // namespace flitwise::owed_data_test
