// SPDX-License-Identifier: Apache-2.0
// Tables of the sections `faults` and `run`, and the names reserved for later.
#include <limits>

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

Keys run_keys() {
  return {
      count(KEY(run.seed), between(0, std::numeric_limits<std::uint64_t>::max()),
            "Seed of every random number; --seed wins over it."),
      count(KEY(run.warmup), between(0, 1'000'000'000'000), "Requests before counting starts."),
      time(KEY(run.deadlock_after), between(Time::from_us(1), Time::from_us(1'000'000'000)),
           "No request, message or handle order completed for so long: the run ends with exit code "
           "3; not shorter than a completion timeout."),
      choice(KEY(run.monitors),
             "Protocol monitors watch every link; a violation ends the run with exit code 3."),
  };
}

const std::vector<FutureKey>& future_keys() {
  static const std::vector<FutureKey> all = {
      {"network", "the network behind a NIC"},
      {"device.pio", "PIO send memory"},
      {"device.hca", "the host channel adapter"},
      {"device.srdma", "the SRDMA NIC"},
  };
  return all;
}

}  // namespace flitwise::config
