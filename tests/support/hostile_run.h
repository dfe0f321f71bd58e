// SPDX-License-Identifier: Apache-2.0
/// A hostile device beside a conforming one: the run, and all that must hold afterwards. What the
/// machine checks of itself is in models/watch/isolation_watch.h; here stands what makes sure that
/// the attack was one.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "config/load.h"
#include "flitwise/link_socket.h"
#include "system/machine.h"

namespace flitwise::test {

/// ep0 attacks with `packets` TLPs; ep1 reads and writes in 100 domains, each with its handle. They
/// share one handle table. ep0 may touch the MiB at 64 MiB and knows of the half MiB on either side
/// of its end.
inline Config hostile_config(std::uint64_t packets, const std::string& form, std::uint64_t seed,
                             std::vector<std::string> sets = {}) {
  const std::string yaml = fmt::format(R"(
system:
  devices: 2
  instances:
    ep0: {{workload: {{kind: hostile, requests: {}, buffer_base: 66048KiB}}}}
    rp0: {{host: {{dma_window: {{base: 64MiB, size: 1MiB}}}}}}
host:
  memory: {{size: 128MiB}}
  dhi: {{table: shared, entries: 512, grant: configured, granted: {{last_pasid: 191}}}}
link: {{identity: dhi, dhi_form: {}}}
device: {{functions: {{count: 2}}, dhi: {{bits: 8}}}}
workload:
  {{kind: read_write, domains: 100, payload: 64B, requests: {}, buffer_base: 80MiB, buffer_size: 4KiB}}
)",
                                       packets, form, packets / 2);
  LoadOptions options;
  options.seed = seed;
  options.sets = std::move(sets);
  return config_from_text(yaml, "hostile.yaml", "", options);
}

/// Writes of ep0 that got through, by how they named their domain.
struct CommittedWrites {
  std::uint64_t by_handle = 0, in_full = 0;

  void observe(const Observation& seen) {
    if (std::string(seen.place) == "rp0" && std::string(seen.what) == "committed") {
      ++(seen.packet->resolved ? by_handle : in_full);
    }
  }
};

/// Much got through, much was refused, for many reasons.
inline void expect_an_attack(const RootPort& port, std::uint64_t sent) {
  const RootPortCounters& seen = port.counters();
  EXPECT_EQ(seen.received, sent);
  EXPECT_GT(seen.writes, sent / 1000);
  EXPECT_GT(seen.reads, sent / 1000);
  EXPECT_GT(seen.handle_messages, sent / 20);
  EXPECT_GT(port.errors().size(), 16U);
  EXPECT_GT(port.errors().at("not_granted"), sent / 1000);
}

/// Every check holds, and those of isolation were made.
inline void expect_isolation(const RunResult& result) {
  std::set<std::string> names;
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
    names.insert(check.name);
  }
  for (const char* const name :
       {"memory of others is as they left it", "hostile accesses stay in their own name and memory",
        "rp0: every refusal is counted by kind", "ep1: unharmed by its neighbours",
        "ep0: the host's entries of its handles name nobody else"}) {
    EXPECT_EQ(names.count(name), 1U) << name;
  }
}

inline void attack(std::uint64_t packets, const std::string& form, std::uint64_t seed) {
  SCOPED_TRACE(fmt::format("form {}, seed {}", form, seed));
  const Config config = hostile_config(packets, form, seed);
  Machine machine(config);
  CommittedWrites committed;
  machine.observe([&](const Observation& seen) { committed.observe(seen); });
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  machine.start();
  machine.run_until_quiet();

  expect_an_attack(machine.root_port("ep0"), packets);
  EXPECT_GT(committed.by_handle, packets / 10000);
  EXPECT_GT(committed.in_full, packets / 1000);
  const RunResult result = machine.result();
  expect_isolation(result);
  for (const DhiResult& dhi : result.rows<DhiResult>()) {
    EXPECT_EQ(dhi.wrong_domain, 0U) << dhi.device;
  }
  EXPECT_GT(result.rows<DhiResult>()[0].rejected, packets / 100);
  EXPECT_EQ(result.rows<DhiResult>()[1].rejected, 0U) << "they share a table, not its books";
  EXPECT_LT(machine.pool.allocated(), 100'000U);  // memory does not grow with the attack
}

}  // namespace flitwise::test
