// SPDX-License-Identifier: Apache-2.0
// Case files whose parameters lead nowhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flitwise/error.h"
#include "scenario/scenario.h"

namespace flitwise::scenario {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> problems_of(const std::string& parameters, const std::string& value) {
  std::vector<std::string> texts;
  try {
    cases_from_text("id: A-1\ntitle: t\ncites: [A-1]\n" + parameters +
                        "stimulus: [{poke: {addr: 0, u64: \"" + value +
                        "\"}}]\nnever: [{event: wire}]\n",
                    "c.yaml");
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems()) {
      texts.push_back(problem.text());
    }
  }
  return texts;
}

TEST(BadCaseFile, FormulaBeyondTheWholeNumbersIsRefused) {
  EXPECT_THAT(problems_of("", "${9000000000 * 1000000000}"), IsEmpty());
  for (const char* formula :
       {"${1e300 * 1}", "${1e308 * 10}", "${0 - 1e308 * 10}", "${1e308 * 10 - 1e308 * 10}"}) {
    EXPECT_THAT(problems_of("", formula), Contains(HasSubstr("expected a number up to")))
        << formula;
  }
}

TEST(BadCaseFile, MatrixOfMoreCasesThanAnybodyReadsIsRefused) {
  std::string matrix = "matrix:\n";
  for (char axis = 'a'; axis <= 'l'; ++axis) {
    matrix += std::string("  ") + axis + ": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n";
  }
  EXPECT_THAT(problems_of(matrix, "1"),
              Contains(HasSubstr("c.yaml:8:3: matrix.d: makes 1000 x 10 cases; expected at most")));
}

TEST(BadCaseFile, TextThatIsNoUtf8IsRefused) {
  EXPECT_THAT(problems_of("", "\xfa"),
              ElementsAre(HasSubstr("c.yaml:4:34: bytes that are no UTF-8")));
}

}  // namespace
}  // namespace flitwise::scenario
