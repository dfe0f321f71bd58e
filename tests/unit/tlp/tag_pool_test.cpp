// SPDX-License-Identifier: Apache-2.0
// Tags and their width. [LNK-9.8]
#include "tlp/tag_pool.h"

#include <gtest/gtest.h>

#include <set>

namespace flitwise::tag_pool_test {
namespace {

std::set<unsigned> take_all(TagPool& pool) {
  std::set<unsigned> taken;
  while (pool.has_free()) {
    EXPECT_TRUE(taken.insert(pool.take()).second);
  }
  return taken;
}

std::set<unsigned> range(unsigned first, unsigned last) {
  std::set<unsigned> tags;
  for (unsigned tag = first; tag <= last; ++tag) {
    tags.insert(tag);
  }
  return tags;
}

TEST(TagPool, LNK_9_8_TagsAreAsWideAsEnabled) {
  TagPool pool(10);
  EXPECT_EQ(pool.free(), 768U);
  pool.set_bits(8);
  EXPECT_EQ(take_all(pool), range(0, 255));
  pool.set_bits(10);
  EXPECT_EQ(pool.in_use(), 256U);
  EXPECT_EQ(take_all(pool), range(256, 1023));
  pool.set_bits(5);
  EXPECT_FALSE(pool.has_free());
}

TEST(TagPool, LNK_9_8_TagsOf14BitsLeaveOutThoseThatHave10BitsAtMost) {
  TagPool pool(14);
  EXPECT_EQ(pool.free(), 15360U);
  EXPECT_EQ(take_all(pool), range(1024, 16383));
  pool.give(16383);
  pool.set_bits(10);
  EXPECT_EQ(pool.free(), 768U) << "none of these was out";
  EXPECT_TRUE(pool.is_out(16382));
}

TEST(TagPool, LNK_9_8_TagsThatAreOutStayValidWhenTheWidthShrinks) {
  TagPool pool(10);
  const std::uint16_t wide = pool.take();
  pool.set_bits(8);
  EXPECT_TRUE(pool.is_out(wide));
  EXPECT_EQ(pool.in_use(), 1U);
  pool.give(wide);
  EXPECT_FALSE(pool.is_out(wide));
  EXPECT_EQ(pool.in_use(), 0U);
  EXPECT_EQ(take_all(pool), range(0, 255));
}

TEST(TagPool, LNK_9_8_NoTagIsGivenOutTwiceWhenTheWidthChangesUnderWay) {
  TagPool pool(8);
  for (unsigned i = 0; i < 40; ++i) {
    pool.take();  // 0 to 39
  }
  pool.set_bits(5);
  EXPECT_FALSE(pool.has_free());
  EXPECT_EQ(pool.in_use(), 40U);
  pool.give(3);
  pool.give(35);
  EXPECT_EQ(pool.free(), 1U);
  EXPECT_EQ(pool.in_use(), 38U);
  EXPECT_EQ(pool.take(), 3U);
  pool.set_bits(8);
  EXPECT_EQ(pool.in_use(), 39U);
  std::set<unsigned> rest = range(40, 255);
  rest.insert(35);
  EXPECT_EQ(take_all(pool), rest);
}

TEST(TagPool, LNK_9_18_ATagThatIsHeldStaysSoWhateverTheWidth) {
  TagPool pool(8);
  EXPECT_FALSE(pool.is_held(0));
  for (unsigned i = 0; i < 40; ++i) {
    pool.take();  // 0 to 39
  }
  pool.hold(3);
  pool.hold(35);
  EXPECT_EQ(pool.in_use(), 38U);
  EXPECT_EQ(pool.held(), 2U);
  pool.set_bits(5);
  EXPECT_EQ(pool.in_use(), 38U);
  EXPECT_FALSE(pool.has_free());
  pool.set_bits(8);
  EXPECT_EQ(take_all(pool), range(40, 255));
  pool.set_bits(5);
  pool.release(35);
  EXPECT_FALSE(pool.has_free());
  pool.release(3);
  EXPECT_EQ(pool.take(), 3U);
  EXPECT_EQ(pool.held(), 0U);
}

}  // namespace
}  // namespace flitwise::tag_pool_test
