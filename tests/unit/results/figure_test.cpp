// SPDX-License-Identifier: Apache-2.0
// Figures by their paths.
#include "results/result_json.h"

#include <gtest/gtest.h>

namespace flitwise::figure_test {
namespace {

using Json = nlohmann::ordered_json;

const Json kResult = Json::parse(R"({"links":[{"up":{"replays":3}},{"up":{"replays":4}}],"n":5})");

TEST(Figure, IsFoundByKeysAndIndices) {
  EXPECT_EQ(figure_of(kResult, "links.1.up.replays"), Json(4));
  EXPECT_EQ(figure_of(kResult, "n"), Json(5));
  EXPECT_EQ(figure_of(kResult, "links.0.up"), Json::parse(R"({"replays":3})"));
}

TEST(Figure, IsNothingWhereThePathLeadsNowhere) {
  for (const char* path : {"", ".", "m", "links.2", "links.x", "links.-1", "links.1x", "n.0",
                           "links.99999999999999999999", "links.0.up.replays."}) {
    EXPECT_FALSE(figure_of(kResult, path)) << path;
  }
}

}  // namespace
}  // namespace flitwise::figure_test
