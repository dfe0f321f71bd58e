// SPDX-License-Identifier: Apache-2.0
// Table of the section `faults`.
#include "config/sections/sections.h"

namespace flitwise::config {

Keys faults_keys() {
  return {
      ordinals(
          "faults.up.corrupt_tlps", [](auto& c) { return &c.faults.up.corrupt_tlps; },
          "Upstream transmissions of a TLP that arrive damaged, counted from 1 with replays."),
      ordinals(
          "faults.up.corrupt_dllps", [](auto& c) { return &c.faults.up.corrupt_dllps; },
          "Upstream DLLPs that arrive damaged, counted from 1."),
      ordinals(
          "faults.down.corrupt_tlps", [](auto& c) { return &c.faults.down.corrupt_tlps; },
          "Downstream transmissions of a TLP that arrive damaged, counted from 1 with replays."),
      ordinals(
          "faults.down.corrupt_dllps", [](auto& c) { return &c.faults.down.corrupt_dllps; },
          "Downstream DLLPs that arrive damaged, counted from 1."),
      count(
          "faults.drop_completions", [](auto& c) { return &c.faults.drop_completions; },
          between(0, 1'000'000'000'000), "Read completions that the host drops, from the first."),
      choices<BrokenRule>(
          "faults.break", [](auto& c) { return &c.faults.broken_rules; },
          "Rules that the model breaks once on purpose: each makes its monitor report."),
  };
}

}  // namespace flitwise::config
