// SPDX-License-Identifier: Apache-2.0
// What is owed, beside a list of chunks.
#include "cxl/flit_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>

namespace flitwise::owed_data_test {
namespace {

TEST(CxlOwedData, CXL_2_6_ChunksGoLineByLineAndByteEnablesEndTheirLine) {
  std::mt19937 random(7);
  CxlOwedData owed;
  std::deque<char> chunks;  // d: data, B: byte enables, D: data that ends a line
  std::uint32_t fullest = 0;
  for (int i = 0; i < 20000; ++i) {
    if ((random() % 5 == 0 || i < 500) && owed.lines() < CxlOwedData::kMostLines) {
      const bool is_partial = random() % 2 == 0;
      owed.add(is_partial);
      for (const char chunk : is_partial ? std::string("ddddB") : std::string("dddD")) {
        chunks.push_back(chunk);
      }
    } else if (!chunks.empty()) {
      EXPECT_EQ(owed.next_is_byte_enables(), chunks.front() == 'B');
      EXPECT_EQ(owed.next_ends_line(), chunks.front() != 'd');
      owed.take();
      chunks.pop_front();
    }
    ASSERT_EQ(owed.chunks(), chunks.size());
    ASSERT_EQ(owed.is_empty(), chunks.empty());
    fullest = std::max(fullest, owed.lines());
  }
  EXPECT_EQ(fullest, CxlOwedData::kMostLines);
}

}  // namespace
}  // namespace flitwise::owed_data_test
