// SPDX-License-Identifier: Apache-2.0
// Reasons for which cases fail.
#include "scenario/campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace flitwise::scenario::failure_kind_test {
namespace {

using ::testing::HasSubstr;

TEST(FailureKind, ACrashIsAKindOfItsOwnThatCanBeTriedAgain) {
  const std::string crash = kind_of(text_of_silence(128 + SIGSEGV, 60));
  EXPECT_THAT(crash, HasSubstr("exit code 139"));
  EXPECT_TRUE(is_quick(crash));
  EXPECT_EQ(crash, kind_of(text_of_silence(128 + SIGSEGV, 3))) << "whatever time it had";
  EXPECT_NE(crash, kind_of(text_of_silence(128 + SIGABRT, 60)));
}

TEST(FailureKind, ACaseThatTakesAllItsTimeNamesTheLimit) {
  const std::string text = text_of_silence(128 + SIGALRM, 60);
  EXPECT_THAT(text, HasSubstr("limit of 60 s"));
  EXPECT_FALSE(is_quick(kind_of(text)));
  EXPECT_EQ(kind_of(text), kind_of(text_of_silence(128 + SIGALRM, 7)));
}

TEST(FailureKind, ABrokenRuleIsToldFromAnother) {
  const auto broken = [](const char* rule, const char* time) {
    return kind_of(std::string("      a.yaml:1:1: expected never violation\n      seen: ") + time +
                   " ns  violation rule=" + rule + " type=MWr\n");
  };
  EXPECT_EQ(broken("LNK-8.3", "5.0"), broken("LNK-8.3", "7.0"));
  EXPECT_NE(broken("LNK-8.3", "5.0"), broken("LNK-8.8", "5.0"));
  EXPECT_TRUE(is_quick(broken("LNK-8.3", "5.0")));
}

TEST(FailureKind, NoFailureIsNoKind) {
  EXPECT_EQ(kind_of(""), "");
}

}  // namespace
}  // namespace flitwise::scenario::failure_kind_test
