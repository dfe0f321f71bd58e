// SPDX-License-Identifier: Apache-2.0
// Tables for people: aligned, and no wider than what they are printed on.
#include "results/text_table.h"

#include <gtest/gtest.h>

namespace flitwise::text_table_test {
namespace {

TextTable sample() {
  TextTable table({"Link", "TLPs", "payload", "goodput"});
  table.add_row({"up", "5", "320 B", "1.00 Gb/s"});
  table.add_row({"down", "12345", "", "-"});
  return table;
}

constexpr const char* kWhole =
    "Link   TLPs  payload    goodput\n"
    "up        5    320 B  1.00 Gb/s\n"
    "down  12345                   -\n";

TEST(TextTable, IsAsWideAsItsCells) {
  EXPECT_EQ(sample().text(), kWhole);
  EXPECT_EQ(sample().text(31), kWhole) << "just room enough";
}

TEST(TextTable, AsMarkdownHasItsNamesAsCodeAndNoBarsOfItsOwn) {
  TextTable table({"key", "meaning", "count"}, 2);
  table.add_row({"a.b", "one | other", "12"});
  table.add_note("A note.\n");
  EXPECT_EQ(
      table.markdown(),
      "| key | meaning | count |\n|---|---|---:|\n| `a.b` | one \\| other | 12 |\n\nA note.\n");
}

TEST(TextTable, ColumnsWithoutRoomFollowBelowBehindTheNamesOfTheRows) {
  EXPECT_EQ(sample().text(30),
            "Link   TLPs  payload\n"
            "up        5    320 B\n"
            "down  12345\n"
            "Link    goodput\n"
            "up    1.00 Gb/s\n"
            "down          -\n");
}

TEST(TextTable, AColumnThatIsWiderThanAllStandsAlone) {
  EXPECT_EQ(sample().text(5),
            "Link   TLPs\nup        5\ndown  12345\n"
            "Link  payload\nup      320 B\ndown\n"
            "Link    goodput\nup    1.00 Gb/s\ndown          -\n");
}

TEST(TextTable, SeveralColumnsMayNameTheRows) {
  TextTable table = sample();
  table.name_rows_by(2);
  EXPECT_EQ(table.text(30),
            "Link   TLPs  payload\n"
            "up        5    320 B\n"
            "down  12345\n"
            "Link   TLPs    goodput\n"
            "up        5  1.00 Gb/s\n"
            "down  12345          -\n");
  EXPECT_EQ(table.text(22),
            "Link   TLPs  payload\n"
            "up        5    320 B\n"
            "down  12345\n"
            "Link   TLPs    goodput\n"
            "up        5  1.00 Gb/s\n"
            "down  12345          -\n")
      << "just room enough for each figure";
}

TEST(TextTable, WhereAFigureHasNoRoomBesideAllNamesTheLastOnesStay) {
  TextTable table = sample();
  table.name_rows_by(2);
  EXPECT_EQ(table.text(21),
            "Link   TLPs  payload\n"
            "up        5    320 B\n"
            "down  12345\n"
            " TLPs    goodput\n"
            "    5  1.00 Gb/s\n"
            "12345          -\n");
}

TEST(TextTable, ANameGoesFirstThatTheRowsAreToldApartWithout) {
  TextTable table({"block", "point", "seed", "goodput"});
  table.left_align(1);
  table.name_rows_by(3);
  table.add_row({"a", "64 B", "1", "1.00 Gb/s"});
  table.add_row({"b", "64 B", "1", "1.00 Gb/s"});
  EXPECT_EQ(table.text(20),
            "block  point  seed\n"
            "a      64 B      1\n"
            "b      64 B      1\n"
            "block    goodput\n"
            "a      1.00 Gb/s\n"
            "b      1.00 Gb/s\n")
      << "point and seed are the same in all rows";
}

}  // namespace
}  // namespace flitwise::text_table_test
