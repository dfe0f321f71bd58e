// SPDX-License-Identifier: Apache-2.0
// Whose flit goes next on a CXL link.
#include "link/cxl_cachemem.h"

#include <gtest/gtest.h>

#include <string>

namespace flitwise::cxl_arbiter_test {
namespace {

std::string turns(CxlArbiter& arbiter, int count, bool has_io = true) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += arbiter.io_goes(has_io) ? 'i' : 'c';
  }
  return text;
}

TEST(CxlArbiter, CXL_5_5_TurnsAreWeighted) {
  CxlArbiter even(1, 1);
  EXPECT_EQ(turns(even, 6), "icicic");
  CxlArbiter uneven(2, 3);
  EXPECT_EQ(turns(uneven, 10), "iiccciiccc");
}

TEST(CxlArbiter, CXL_5_5_CxlIoWithoutWorkLosesNoTurn) {
  CxlArbiter arbiter(1, 2);
  EXPECT_EQ(turns(arbiter, 3, false), "ccc");
  EXPECT_EQ(turns(arbiter, 6), "iccicc");
}

}  // namespace
}  // namespace flitwise::cxl_arbiter_test
