// SPDX-License-Identifier: Apache-2.0
// What a terminal gets to see of texts of users.
#include "common/printable.h"

#include <gtest/gtest.h>

#include "flitwise/error.h"

namespace flitwise::printable_test {
namespace {

TEST(Printable, ControlCharactersAreEscapes) {
  EXPECT_EQ(printable("plain text, \xc3\xa4 too"), "plain text, \xc3\xa4 too");
  EXPECT_EQ(printable("a\x1b[31mb"), "a\\x1b[31mb");
  EXPECT_EQ(printable("\n\r\t\b"), "\\n\\r\\t\\x08");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m")
      << "C1 controls";
  EXPECT_EQ(printable("a\xff\xc3"), "a\\xff\\xc3") << "no UTF-8";
  EXPECT_EQ(printable("a\nb\x1b", true), "a\nb\\x1b");
}

TEST(Shortened, LongTextsKeepTheirEndsAndTheirCharacters) {
  EXPECT_EQ(shortened("short", 8), "short");
  EXPECT_EQ(shortened(std::string(1000, 'a') + "z", 4), "aa...(997 bytes)...az");
  std::string umlauts;
  for (int i = 0; i < 100; ++i) {
    umlauts += "\xc3\xa4";
  }
  EXPECT_EQ(printable(shortened(umlauts, 7)), shortened(umlauts, 7)) << "no character is cut";
}

TEST(ProblemText, AValueOfAMegabyteIsShortenedAndControlCharactersAreEscapes) {
  const std::string large(1 << 20, 'x');
  const Problem problem{"--set a=" + large, 0, 0, large, "'" + large + "'; expected a number"};
  EXPECT_LT(problem.text().size(), 4000U);
  EXPECT_NE(problem.text().find("'; expected a number"), std::string::npos);
  const Problem evil{"a\nb.yaml", 1, 2, "k\x1b", "'\x1b]0;x\x07'; expected a number"};
  EXPECT_EQ(evil.text(), "a\\nb.yaml:1:2: k\\x1b: '\\x1b]0;x\\x07'; expected a number");
}

}  // namespace
}  // namespace flitwise::printable_test
