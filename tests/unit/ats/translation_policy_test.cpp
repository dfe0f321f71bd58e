// SPDX-License-Identifier: Apache-2.0
// When translations are asked for. [ATR-29]
#include "ats/translation_request.h"

#include <gtest/gtest.h>

#include "flitwise/error.h"

namespace flitwise::translation_policy_test {
namespace {

unsigned miss(TranslationPolicy& policy, std::uint64_t address, OptionalId<Pasid> pasid = {},
              bool has_hint = false) {
  const MissedAccess access{address, pasid, has_hint};
  policy.note_miss(access);
  return policy.translations_for(access);
}

AtcConfig config(TranslateWhen kind) {
  AtcConfig made;
  made.when = kind;
  return made;
}

TEST(TranslationPolicy, AlwaysAsksForThePageThatMissed) {
  TranslationPolicy policy(config(TranslateWhen::kAlways), 0);
  EXPECT_EQ(miss(policy, 0x1000), 1U);
}

TEST(TranslationPolicy, PrefetchAsksForPagesAhead) {
  AtcConfig ahead = config(TranslateWhen::kPrefetch);
  ahead.pages_ahead = 3;
  TranslationPolicy policy(ahead, 0);
  EXPECT_EQ(miss(policy, 0x1000), 4U);
}

TEST(TranslationPolicy, HintLetsSoftwareChoose) {
  TranslationPolicy policy(config(TranslateWhen::kHint), 0);
  EXPECT_EQ(miss(policy, 0x1000), 0U);
  EXPECT_EQ(miss(policy, 0x1000, {}, true), 1U);
}

TEST(TranslationPolicy, ReuseWaitsForTheThreshold) {
  AtcConfig reuse = config(TranslateWhen::kReuse);
  reuse.reuse_threshold = 3;
  TranslationPolicy policy(reuse, 0);
  EXPECT_EQ(miss(policy, 0x1000), 0U);
  EXPECT_EQ(miss(policy, 0x2000), 0U);
  EXPECT_EQ(miss(policy, 0x1ff8), 0U);
  EXPECT_EQ(miss(policy, 0x1040), 1U);
  EXPECT_EQ(miss(policy, 0x1080), 1U);
}

TEST(TranslationPolicy, ReuseCountsByStuAndPasid) {
  TranslationPolicy policy(config(TranslateWhen::kReuse), 1);
  EXPECT_EQ(miss(policy, 0x2000), 0U);
  EXPECT_EQ(miss(policy, 0x2000, Pasid{0}), 0U);
  EXPECT_EQ(miss(policy, 0x3000, Pasid{0}), 1U);
}

TEST(TranslationPolicy, ReuseForgetsAPageWhosePlaceIsTaken) {
  AtcConfig reuse = config(TranslateWhen::kReuse);
  reuse.reuse_pages = 4;
  TranslationPolicy policy(reuse, 0);
  EXPECT_EQ(miss(policy, 0x1000), 0U);
  EXPECT_EQ(miss(policy, 0x5000), 0U);
  EXPECT_EQ(miss(policy, 0x1000), 0U);
  EXPECT_EQ(miss(policy, 0x1000), 1U);
}

TEST(TranslationPolicy, RangesAreChecked) {
  AtcConfig wrong;
  wrong.reuse_pages = 3;
  EXPECT_THROW(TranslationPolicy(wrong, 0), SimulationError);
  wrong = {};
  wrong.pages_ahead = 16;
  EXPECT_THROW(TranslationPolicy(wrong, 0), SimulationError);
}

}  // namespace
}  // namespace flitwise::translation_policy_test
