// SPDX-License-Identifier: Apache-2.0
// Invalidate Requests whose handle goes to somebody else.
#include "dhi/named_invalidations.h"

#include <gtest/gtest.h>

namespace flitwise::named_invalidations_test {
namespace {

constexpr Bdf kFirst = Bdf::of(1, 0, 0), kSecond = Bdf::of(1, 0, 1);
constexpr Dhi kHandle{3}, kOther{4};

// [DHI D21]
TEST(NamedInvalidations, D21_AllThatWentByTheHandleStray) {
  NamedInvalidations all;
  all.sent({kFirst, 0}, kHandle);
  all.sent({kFirst, 1}, kOther);
  all.sent({kSecond, 2}, kHandle);
  all.sent({kSecond, 3}, std::nullopt);
  const auto strayed = all.strayed(kHandle);
  ASSERT_EQ(strayed.size(), 2U);
  EXPECT_EQ(strayed[0].function, kFirst);
  EXPECT_EQ(strayed[0].itag, 0U);
  EXPECT_EQ(strayed[1].function, kSecond);
  EXPECT_EQ(strayed[1].itag, 2U);
  EXPECT_TRUE(all.strayed(kHandle).empty());
  EXPECT_EQ(all.strayed(kOther).size(), 1U);
  EXPECT_TRUE(all.empty());
}

// The ITag was free again: what it stood for before is over. [DHI D21] [INV-16]
TEST(NamedInvalidations, D21_ItagThatIsUsedAgainStandsForTheNewRequest) {
  NamedInvalidations all;
  all.sent({kFirst, 0}, kHandle);
  all.sent({kFirst, 0}, kOther);
  EXPECT_TRUE(all.strayed(kHandle).empty());
  all.sent({kFirst, 0}, std::nullopt);
  EXPECT_TRUE(all.strayed(kOther).empty());
}

// [DHI D21]
TEST(NamedInvalidations, D21_OnlyTheNextOneOfThatFunctionAndItagHasToGoInFull) {
  NamedInvalidations all;
  all.name_in_full({kFirst, 5});
  EXPECT_TRUE(all.has_to_go_in_full({kFirst, 5}));
  EXPECT_FALSE(all.has_to_go_in_full({kFirst, 4}));
  EXPECT_FALSE(all.has_to_go_in_full({kSecond, 5}));
  all.sent({kFirst, 5}, std::nullopt);
  EXPECT_FALSE(all.has_to_go_in_full({kFirst, 5}));
}

}  // namespace
}  // namespace flitwise::named_invalidations_test
