// SPDX-License-Identifier: Apache-2.0
// A hostile device on CXL.cache reaches what it was granted and nothing else; a million messages:
// tests/long. [DHI S1] [DHI S2] [DHI S3] [DHI-37] [CXL-7.7] [CXL-7.10]
#include "support/hostile_lines.h"

namespace flitwise::test::cxl_hostile_lines_test {
namespace {

TEST(CxlHostileLines, S1_ForgedAndStaleHandlesHarmNobody) {
  attack_lines(20'000, 1);
}

TEST(CxlHostileLines, CXL_7_10_PermissionsHoldItBackAndAreTakenAmidTheAttack) {
  attack_lines(20'000, 2, LineGuard::kPermissions);
}

TEST(CxlHostileLines, S3_ForgedContextsOfAProcessHarmNobody) {
  attack_lines(20'000, 3, LineGuard::kWindow, with_hostile_contexts());
}

TEST(CxlHostileLines, S3_PermissionsOfTheProcessBindItsContexts) {
  attack_lines(20'000, 4, LineGuard::kPermissions, with_hostile_contexts());
}

}  // namespace
}  // namespace flitwise::test::cxl_hostile_lines_test
