// SPDX-License-Identifier: Apache-2.0
// Table of the section `faults`.
#include "config/sections/sections.h"

namespace flitwise::config {

Keys faults_keys() {
  return {
      ordinals(KEY(faults.up.corrupt_tlps),
               "Upstream transmissions of a TLP that arrive damaged, counted from 1 with replays."),
      ordinals(KEY(faults.up.corrupt_dllps), "Upstream DLLPs that arrive damaged, counted from 1."),
      ordinals(
          KEY(faults.down.corrupt_tlps),
          "Downstream transmissions of a TLP that arrive damaged, counted from 1 with replays."),
      ordinals(KEY(faults.down.corrupt_dllps),
               "Downstream DLLPs that arrive damaged, counted from 1."),
      count(KEY(faults.drop_completions), between(0, 1'000'000'000'000),
            "Read completions that the host drops, from the first."),
      set_of("faults.break", AT(faults.broken_rules), words_of<BrokenRule>(),
             "Rules that the model breaks once on purpose: each makes its monitor report."),
  };
}

}  // namespace flitwise::config
