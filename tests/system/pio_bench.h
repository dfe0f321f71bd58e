// SPDX-License-Identifier: Apache-2.0
/// Whole runs of cores that send by PIO.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "config/load.h"
#include "flitwise/error.h"
#include "pio/pio_result.h"
#include "pio/pio_sender.h"
#include "system/machine.h"

namespace flitwise::pio_bench {

struct Ended {
  RunResult result;
  PioResult pio;
  double seconds = 0;  // of the measured window
};

/// Fields of host.cores, device.pio and workload, further lines, and fields of link.
inline std::string config_of(const std::string& host, const std::string& pio,
                             const std::string& workload, const std::string& more = "",
                             const std::string& link = "identity: bdf_pasid") {
  return fmt::format(
      "link: {{preset: gen3x16, {}}}\nhost: {{cores: {{{}}}}}\n"
      "device: {{functions: {{bar_size: 64MiB}}, pio: {{{}}}}}\nworkload: {{via: pio, {}}}\n{}",
      link, host, pio, workload, more);
}

/// What a machine has to show at its end; its checks hold.
inline Ended ended(const Machine& machine) {
  Ended done;
  done.result = machine.result();
  done.pio = done.result.rows<PioResult>().at(0);
  done.seconds = done.result.simulated.ns() * 1e-9;
  EXPECT_GT(done.result.checks.size(), 12U);
  for (const CheckResult& check : done.result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  return done;
}

/// Send memory of ep0.
inline const SendEngine& rules_of(Machine& machine) {
  return dynamic_cast<PioSender&>(*machine.fabric().find("ep0")->sender).engine().rules();
}

inline Ended run(const std::string& yaml) {
  Machine machine(config_from_text(yaml, "run.yaml", ""));
  machine.bring_up();
  machine.start();
  machine.run_until_quiet();
  return ended(machine);
}

inline const WaitResult& wait_of(const RunResult& result, const std::string& at,
                                 const std::string& name) {
  for (const WaitResult& one : result.rows<WaitResult>()) {
    if (one.resource.at == at && one.resource.name == name) {
      return one;
    }
  }
  throw SimulationError("no wait " + name + " at " + at);
}

}  // namespace flitwise::pio_bench
