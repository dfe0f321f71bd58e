// SPDX-License-Identifier: Apache-2.0
// Ten million writes over a link with bit errors.
#include <gtest/gtest.h>

#include "support/error_run.h"

namespace flitwise::bit_errors_test {
namespace {

TEST(BitErrorsLong, TenMillionWritesArriveOnceAndInOrder) {
  test::expect_every_byte_once_and_in_order(10'000'000);
}

}  // namespace
}  // namespace flitwise::bit_errors_test
