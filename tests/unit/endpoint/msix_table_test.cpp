// SPDX-License-Identifier: Apache-2.0
#include "endpoint/msix_table.h"

#include <gtest/gtest.h>

#include <array>

namespace flitwise::msix_table_test {
namespace {

using Entry = std::array<std::uint8_t, MsixTable::kEntryBytes>;

void write_entry(MsixTable& table, unsigned vector, const Entry& entry) {
  table.write(vector * MsixTable::kEntryBytes, entry.data(), entry.size());
}

constexpr Entry kOpen = {0x00, 0x00, 0x0a, 0, 0, 0, 0, 0, 0x21, 0x43, 0, 0, 0, 0, 0, 0};

TEST(MsixTable, AllVectorsAreMaskedUntilSoftwareSaysOtherwise) {
  MsixTable table(4);
  EXPECT_EQ(table.bytes(), 64U);
  table.raise(2);
  EXPECT_EQ(table.pending(), 4U);
  EXPECT_FALSE(table.next());
  write_entry(table, 2, kOpen);
  ASSERT_TRUE(table.next()) << "it has waited";
  EXPECT_EQ(table.next()->vector, 2U);
  EXPECT_EQ(table.next()->address, 0xa0000U);
  EXPECT_EQ(table.next()->data, 0x4321U);
  table.sent(*table.next());
  EXPECT_EQ(table.pending(), 0U);
  EXPECT_FALSE(table.next());
}

TEST(MsixTable, TheLowestVectorGoesFirstAndAMaskHoldsBackItsOwnAlone) {
  MsixTable table(4);
  for (const unsigned vector : {1U, 3U}) {
    write_entry(table, vector, kOpen);
  }
  table.raise(3);
  table.raise(1);
  table.raise(1);
  EXPECT_EQ(table.next()->vector, 1U);
  const std::uint8_t mask = 1;
  table.write(1 * MsixTable::kEntryBytes + 12, &mask, 1);
  EXPECT_EQ(table.next()->vector, 3U);
  table.sent(*table.next());
  EXPECT_EQ(table.pending(), 2U) << "raised twice, pending once";
}

TEST(MsixTable, ReservedBitsStayZeroAndVectorsThatAreNotThereSayNothing) {
  MsixTable table(2);
  Entry ones{};
  ones.fill(0xff);
  write_entry(table, 0, ones);
  EXPECT_EQ(*table.at(0), 0xfcU);
  EXPECT_EQ(*table.at(11), 0xffU);
  EXPECT_EQ(*table.at(12), 0x01U);
  EXPECT_EQ(*table.at(15), 0U);
  table.raise(2);
  table.raise(4'000'000'000U);
  EXPECT_EQ(table.pending(), 0U);
  table.raise(0);
  table.reset();
  EXPECT_EQ(table.pending(), 0U);
  EXPECT_EQ(*table.at(0), 0U);
  EXPECT_EQ(*table.at(12), 1U);
}

}  // namespace
}  // namespace flitwise::msix_table_test
