// SPDX-License-Identifier: Apache-2.0
// A million hostile messages of CXL.cache and of handles. [DHI S1] [DHI S2] [DHI S3]
#include "support/hostile_lines.h"

namespace flitwise::test::cxl_hostile_lines_long_test {
namespace {

TEST(CxlHostileLines, S1_AMillionMessagesHarmNobody) {
  attack_lines(1'000'000, 11);
}

TEST(CxlHostileLines, CXL_7_10_AMillionMessagesPassNoPermission) {
  attack_lines(1'000'000, 12, LineGuard::kPermissions);
}

TEST(CxlHostileLines, S3_AMillionMessagesWithContextsOfAProcess) {
  attack_lines(1'000'000, 13, LineGuard::kPermissions, with_hostile_contexts());
}

}  // namespace
}  // namespace flitwise::test::cxl_hostile_lines_long_test
