// SPDX-License-Identifier: Apache-2.0
// Closed forms that tests of networks go by, beside published values.
#include "support/network_forms.h"

#include <gtest/gtest.h>

namespace flitwise::network_forms_test {
namespace {

TEST(NetworkForms, AreThePublishedValues) {
  EXPECT_NEAR(forms::md1_wait(.5), .5, 1e-12);
  EXPECT_NEAR(forms::md1_wait(.8), 2, 1e-12);
  EXPECT_NEAR(forms::md1_wait(.9), 4.5, 1e-12);
  EXPECT_NEAR(forms::go_back_n(1e-3, 64), .9398, 5e-5);
  EXPECT_NEAR(forms::go_back_n(1e-2, 64), .607, 5e-4);
  EXPECT_NEAR(forms::selective(1e-2), .990, 1e-12);
  EXPECT_NEAR(forms::distinct_ways(8, 32), 7.888, 5e-4);
  EXPECT_NEAR(forms::distinct_ways(16, 16), 10.303, 5e-4);
  EXPECT_NEAR(forms::four_sigma(2.0 / 3, 2e5), .0042, 5e-5);
}

TEST(NetworkForms, EvenCountsAreLikelyAndUnevenOnesAreNot) {
  EXPECT_NEAR(forms::chi_square_p({100, 100, 100}), 1, 1e-12);
  EXPECT_NEAR(forms::chi_square_p({110, 90}), .1573, 5e-5);  // 2 over 1 degree of freedom
  EXPECT_LT(forms::chi_square_p({200, 100, 100}), 1e-4);
}

}  // namespace
}  // namespace flitwise::network_forms_test
