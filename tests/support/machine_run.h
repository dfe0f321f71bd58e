// SPDX-License-Identifier: Apache-2.0
/// A machine from its boot to its rest.
#pragma once

#include <gtest/gtest.h>

#include "system/machine.h"

namespace flitwise::test {

/// Its result, once it is quiet; each check of the run holds.
inline RunResult run_to_end(Machine& machine) {
  machine.bring_up();
  machine.start();
  machine.run_until_quiet();
  RunResult result = machine.result();
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  return result;
}

}  // namespace flitwise::test
