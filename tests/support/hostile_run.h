// SPDX-License-Identifier: Apache-2.0
/// A hostile device beside a conforming one: the run, and all that must hold afterwards.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "config/load.h"
#include "flitwise/link_socket.h"
#include "system/machine.h"

namespace flitwise::testing {

/// ep0 attacks with `packets` TLPs; ep1 reads and writes in 100 domains, each with its handle. They
/// share one handle table. ep0 may touch the MiB at 64 MiB and knows of the half MiB on either side
/// of its end.
inline Config hostile_config(std::uint64_t packets, const std::string& form, std::uint64_t seed) {
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
  return config_from_text(yaml, "hostile.yaml", "", options);
}

/// Memory that nobody was granted is as it was: zero.
inline void expect_untouched(Machine& machine, std::uint64_t from, std::uint64_t to) {
  constexpr std::uint64_t kStep = std::uint64_t{1} << 20;
  const std::vector<std::uint8_t> zero(kStep, 0);
  std::vector<std::uint8_t> seen(kStep);
  for (std::uint64_t at = from; at < to; at += kStep) {
    ASSERT_TRUE(machine.memory().peek(at, seen.data(), kStep));
    ASSERT_EQ(std::memcmp(seen.data(), zero.data(), kStep), 0)
        << "written somewhere from " << at << " on";
  }
}

/// ep1 numbers its writes from 1; the other device writes random bytes.
inline void expect_only_numbers(Machine& machine, std::uint64_t from, std::uint64_t bytes) {
  constexpr std::uint64_t kMostNumbers = 100'000'000;
  std::vector<std::uint8_t> seen(bytes);
  ASSERT_TRUE(machine.memory().peek(from, seen.data(), bytes));
  std::uint64_t written = 0;
  for (std::size_t at = 0; at < bytes; at += 8) {
    std::uint64_t number = 0;
    std::memcpy(&number, seen.data() + at, 8);
    ASSERT_LT(number, kMostNumbers) << "at " << from + at;
    written += number != 0 ? 1 : 0;
  }
  EXPECT_GT(written, 1000U);
}

/// Watches whom the writes of ep0 that got through were taken for: the entry of their handle, or
/// what they say themselves.
struct CommittedWrites {
  std::uint64_t by_handle = 0;  ///< a function of ep0 with a granted PASID
  std::uint64_t in_full = 0;    ///< likewise, named in full
  std::uint64_t foreign = 0;    ///< anybody else
  std::uint64_t poisoned = 0;

  static bool is_granted(Bdf bdf, bool has_pasid, std::uint32_t pasid) {
    constexpr unsigned kOwnBus = 1;
    constexpr unsigned kFunctions = 2;
    constexpr std::uint32_t kLastPasid = 191;
    return bdf.bus() == kOwnBus && bdf.value % 256 < kFunctions &&
           (!has_pasid || pasid <= kLastPasid);
  }
  void observe(const Observation& seen) {
    if (std::string(seen.place) != "rp0" || std::string(seen.what) != "committed") {
      return;
    }
    const Tlp& tlp = seen.packet->tlp;
    poisoned += tlp.is_poisoned ? 1 : 0;
    if (const auto& entry = seen.packet->resolved) {
      const bool has_pasid = entry->pasid.has_value();
      ++(is_granted(entry->bdf, has_pasid, has_pasid ? to_int(*entry->pasid) : 0) ? by_handle
                                                                                  : foreign);
    } else {
      ++(is_granted(tlp.requester_id, tlp.has_pasid, to_int(tlp.pasid)) ? in_full : foreign);
    }
  }
};

inline void expect_every_packet_accounted_for(const RootPort& port, std::uint64_t sent) {
  const RootPortCounters& seen = port.counters();
  EXPECT_EQ(seen.received, sent);
  EXPECT_EQ(seen.writes + seen.reads + seen.interrupts + seen.messages + seen.handle_messages +
                seen.completions + seen.refused,
            sent);
  EXPECT_EQ(seen.nonposted, seen.answered);
  std::uint64_t by_kind = 0;
  std::uint64_t by_violation = 0;
  for (const auto& [kind, count] : port.errors()) {
    (kind.find('.') == std::string::npos ? by_kind : by_violation) += count;
  }
  EXPECT_EQ(by_kind, seen.refused);
  EXPECT_EQ(by_violation, port.errors().at("malformed_tlp"));
  // The attack was one: much got through, much was refused, for many reasons.
  EXPECT_GT(seen.writes, sent / 1000);
  EXPECT_GT(seen.reads, sent / 1000);
  EXPECT_GT(seen.handle_messages, sent / 20);
  EXPECT_GT(port.errors().size(), 16U);
}

inline void expect_conforming_device_served(const Machine& machine, const Endpoint& device) {
  EXPECT_EQ(machine.root_port("ep1").counters().refused, 0U);
  EXPECT_TRUE(device.errors().empty());
  EXPECT_EQ(device.counters().asked_bytes, device.counters().delivered_bytes);
  EXPECT_EQ(device.counters().failed_bytes, 0U);
  EXPECT_EQ(device.outstanding(), 0U);
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

  expect_every_packet_accounted_for(machine.root_port("ep0"), packets);
  EXPECT_GT(committed.by_handle, packets / 10000);
  EXPECT_GT(committed.in_full, packets / 1000);
  EXPECT_EQ(committed.foreign, 0U);
  EXPECT_EQ(committed.poisoned, 0U);
  EXPECT_GT(machine.root_port("ep0").errors().at("not_granted"), packets / 1000);
  expect_conforming_device_served(machine, *machine.endpoint("ep1"));
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  expect_untouched(machine, 0, 64 * kMiB);
  expect_untouched(machine, 65 * kMiB, 80 * kMiB);
  expect_only_numbers(machine, 80 * kMiB, std::uint64_t{100} * 4096);
  expect_untouched(machine, 82 * kMiB, 128 * kMiB);

  const RunResult result = machine.result();
  for (const DhiResult& dhi : result.dhi) {
    EXPECT_EQ(dhi.wrong_domain, 0U) << dhi.device;
  }
  EXPECT_GT(result.dhi[0].rejected, packets / 100);
  EXPECT_EQ(result.dhi[1].rejected, 0U) << "they share a table, not its books";
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  EXPECT_LT(machine.pool.allocated(), 100'000U);  // memory does not grow with the attack
}

}  // namespace flitwise::testing
