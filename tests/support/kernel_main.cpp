// SPDX-License-Identifier: Apache-2.0
// main of the test programs that need the SystemC kernel: all tests run inside sc_main. ctest
// starts one process a test, because the kernel cannot start twice.
#include <gmock/gmock.h>

#include "system/kernel.h"

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  return flitwise::run_in_kernel([] { return RUN_ALL_TESTS(); });
}
