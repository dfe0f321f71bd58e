// SPDX-License-Identifier: Apache-2.0
// Secure ATS in the machine: whole workloads that go translated, revocations amid traffic, and a
// device that forges translated requests.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "flitwise/system.h"
#include "memory/memory_port.h"
#include "support/hostile_run.h"
#include "system/script_bench.h"
#include "tlp/splitter.h"

namespace flitwise::secure_ats_test {
namespace {

using test::play;
using test::poke;
using test::ScriptAnswer;
using test::write_register;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A workload whose requests all go translated.
struct Run {
  const char* name;
  const char* settings;
};

class TranslatedWorkload : public ::testing::TestWithParam<Run> {};

RunResult run_with(const std::string& settings) {
  LoadOptions options;
  for (std::size_t at = 0; at < settings.size();) {
    const std::size_t end = std::min(settings.find(' ', at), settings.size());
    options.sets.push_back(settings.substr(at, end - at));
    at = end + 1;
  }
  const std::string yaml = R"(
iommu: {translation: first_stage, secure_ats: true}
workload: {kind: read_write, payload: 64B, domains: 16, requests: 2000, at: translated}
)";
  return System(config_from_text(yaml, "secure.yaml", "", options)).run();
}

// [SEC-01] [DHI D18]
TEST_P(TranslatedWorkload, SEC_01_IsPermittedItsPagesInEveryForm) {
  const RunResult result = run_with(GetParam().settings);
  const IommuResult& agent = result.rows<IommuResult>().at(0);
  EXPECT_GE(agent.permission_checks, 1000U);
  EXPECT_EQ(agent.permission_denied, 0U);
  EXPECT_EQ(agent.faults, 0U);
  EXPECT_GT(agent.permission_reads, 0U);
  EXPECT_LT(agent.permission_reads, agent.permission_checks);
  EXPECT_TRUE(result.errors.empty());
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
}
INSTANTIATE_TEST_SUITE_P(
    Forms, TranslatedWorkload,
    ::testing::Values(Run{"bdf", "link.identity=bdf workload.domains=1"},
                      Run{"bdf_pasid", "link.identity=bdf_pasid"},
                      Run{"with_pasid", "link.identity=bdf_pasid workload.at=translated_pasid"},
                      Run{"functions", "device.functions.count=4"},
                      Run{"handles", "link.identity=dhi"},
                      Run{"few_handles",
                          "link.identity=dhi device.dhi.bits=2 device.dhi.on_miss=bypass"},
                      Run{"trusted",
                          "link.identity=dhi device.dhi.trusted=true host.dhi.grant=configured "
                          "host.dhi.granted.trusted=true"},
                      Run{"second_stage", "iommu.translation=second_stage"},
                      Run{"pass_through", "iommu.translation=pass_through"},
                      Run{"large_pages", "iommu.page=1GiB"}, Run{"nic", "workload.kind=nic"},
                      Run{"atc", "device.atc.enabled=true workload.at=untranslated"},
                      Run{"atc_with_pasid", "device.atc.enabled=true workload.at=translated_pasid"},
                      Run{"atc_with_handles",
                          "device.atc.enabled=true workload.at=untranslated link.identity=dhi"}),
    [](const auto& form) { return std::string(form.param.name); });

// Pages of 128 KiB apart, each in a word of its own, so that every round reads the table.
constexpr std::uint64_t kFirstPage = 0x80'0000, kPageStep = 0x2'0000;
constexpr unsigned kRounds = 60, kLooks = 40;
constexpr std::uint64_t kQueue = 0x600'0000, kStatus = 0x700'0000;

std::string line(const std::string& text) {
  return "{" + text + "}\n";
}
std::string look(const std::string& id, std::uint64_t address) {
  return line(fmt::format(R"("op":"peek","id":"{}","addr":"{:#x}","bytes":4)", id, address));
}

/// A translated write is `delay` under way when its permission is taken, invalidated and waited
/// for.
std::string round_of(unsigned round) {
  const std::uint64_t page = kFirstPage + round * kPageStep;
  const std::uint64_t status = kStatus + round * 4;
  const std::uint64_t at = kQueue + round * 64;
  const unsigned delay = 50 + round * 25;
  std::string script = line(fmt::format(
      R"("op":"tlp","tlp":{{"type":"MWr","requester_id":"01:00.0","at":"translated","pasid":5,)"
      R"("address":"{:#x}","length_dw":1,"first_be":15,"payload":"11111111"}})",
      page));
  script += line(fmt::format(R"("op":"run","for":"{}ns")", delay));
  script += line(fmt::format(R"("op":"permit","pasid":5,"address":"{:#x}","allow":"none")", page));
  script += poke(at, 0x1'0e3e) + poke(at + 8, page) + poke(at + 32, 0x1'0000'0025) +
            poke(at + 40, status) + write_register(0x88, (round + 1) * 64);
  for (unsigned i = 0; i < kLooks; ++i) {
    script += line(R"("op":"run","for":"25ns")") + look(fmt::format("s{}", round), status) +
              look(fmt::format("p{}", round), page);
  }
  return script + line(R"("op":"run","until":"idle")") + look(fmt::format("p{}", round), page);
}

// [SEC-05] Whatever the moment: once the wait has its status in memory, the page stays as it is.
TEST(SecureAts, SEC_05_BehindAWaitNothingGoesOnByAPermissionOfOld) {
  std::string script = line(R"("op":"map","pasid":5,"address":"0x40000000","to":"0x777000")") +
                       write_register(0x20, 0x400'0400) + write_register(0x18, 0x4000'0000) +
                       write_register(0x90, kQueue | 0x800) + write_register(0x18, 0x8400'0000);
  script += line(fmt::format(R"("op":"permit","pasid":5,"address":"{:#x}","bytes":"{:#x}")",
                             kFirstPage, kRounds * kPageStep));
  for (unsigned round = 0; round < kRounds; ++round) {
    script += round_of(round);
  }
  const ScriptAnswer answer = play(script, {"iommu.secure_ats=true"});
  EXPECT_EQ(answer.code, 0);
  unsigned written = 0;
  unsigned late = 0;  // the status was there while the run was looked at
  for (unsigned round = 0; round < kRounds; ++round) {
    const auto statuses = answer.of(fmt::format("s{}", round));
    const auto pages = answer.of(fmt::format("p{}", round));
    ASSERT_EQ(pages.size(), 2 * (kLooks + 1)) << "a peek is two events";
    const auto hex = [](const ScriptAnswer::Json& event) {
      return event.at("hex").get<std::string>();
    };
    const std::string last = hex(pages.back());
    written += last == "11111111" ? 1 : 0;
    for (std::size_t i = 0; i < statuses.size(); ++i) {
      if (hex(statuses[i]) != "00000000") {
        EXPECT_EQ(hex(pages[i]), last) << "round " << round << ", look " << i / 2;
        ++late;
      }
    }
  }
  EXPECT_GT(written, kRounds / 10);
  EXPECT_LT(written, kRounds - kRounds / 10);
  EXPECT_GT(late, kRounds * kLooks / 4);
}

constexpr std::uint64_t kKiB = 1024, kMiB = kKiB * 1024, kPage = 4 * kKiB;
constexpr std::uint64_t kAttacker = 48 * kMiB;                   // its 100 pages
constexpr std::uint64_t kVictim = kAttacker + 512 * kKiB;        // those of the other device
constexpr std::uint64_t kBytes = std::uint64_t{100} * 4 * kKiB;  // of either
constexpr std::uint64_t kTables = 64 * kMiB, kTablesEnd = 96 * kMiB;

/// ep0 sends anything at all, much of it translated, into the MiB that holds its own pages and
/// those of ep1. No window protects them, page tables and permissions do.
Config attacked(bool is_secure) {
  const std::string yaml = fmt::format(R"(
system:
  devices: 2
  instances:
    ep0: {{workload: {{kind: hostile, requests: 400000, buffer_base: 48MiB}}}}
host:
  memory: {{size: 128MiB}}
  dhi: {{table: shared, entries: 512, grant: configured, granted: {{last_pasid: 191}}}}
iommu: {{translation: first_stage, secure_ats: {}}}
link: {{identity: dhi, dhi_form: prefix}}
device: {{functions: {{count: 2}}, dhi: {{bits: 8}}, atc: {{enabled: true}}}}
workload:
  {{kind: read_write, domains: 100, payload: 64B, requests: 20000, buffer_base: 49664KiB, buffer_size: 4KiB}}
)",
                                       is_secure);
  return config_from_text(yaml, "attacked.yaml", "");
}

/// Translated requests that reached memory, by whether the page is their domain's.
struct TranslatedAccesses {
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::vector<std::uint64_t>> pages;
  std::uint64_t writes = 0, reads = 0, foreign_writes = 0, foreign_reads = 0;

  void operator()(const Packet& packet, std::uint64_t address) {
    const Tlp& tlp = packet.tlp;
    if (tlp.at != AddressType::kTranslated || is_zero_length_read(tlp)) {
      return;
    }
    DeviceIdentity domain(tlp.requester_id);
    if (tlp.has_pasid) {
      domain.pasid = tlp.pasid;
    }
    if (const auto& entry = packet.resolved) {
      domain = *entry;
    }
    const auto& allowed = pages[{domain.bdf.value, to_int(domain.pasid.value_or(Pasid{}))}];
    const std::uint64_t page = address & ~std::uint64_t{0xfff};
    const bool is_write = tlp.type == TlpType::kMWr;
    const bool is_foreign = std::find(allowed.begin(), allowed.end(), page) == allowed.end();
    ++(is_write ? writes : reads);
    (is_write ? foreign_writes : foreign_reads) += is_foreign ? 1 : 0;
  }
};

std::vector<std::uint64_t> words_of(Machine& machine, std::uint64_t from, std::uint64_t to) {
  std::vector<std::uint64_t> words((to - from) / 8);
  EXPECT_TRUE(
      machine.memory().peek(from, reinterpret_cast<std::uint8_t*>(words.data()), to - from));
  return words;
}

bool is_zero(Machine& machine, std::uint64_t from, std::uint64_t to) {
  const std::vector<std::uint64_t> words = words_of(machine, from, to);
  return std::all_of(words.begin(), words.end(), [](std::uint64_t word) { return word == 0; });
}

/// The victim numbers its writes from 1; the attacker writes random bytes.
void expect_only_numbers(Machine& machine, std::uint64_t from, std::uint64_t bytes) {
  constexpr std::uint64_t kMostNumbers = 100'000'000;
  for (const std::uint64_t word : words_of(machine, from, from + bytes)) {
    ASSERT_LT(word, kMostNumbers);
  }
}

struct Attack {
  TranslatedAccesses accesses;
  bool is_memory_whole = false, are_tables_whole = false;
  CheckResult isolation;  // what the machine itself has seen
  std::uint64_t denied = 0, victim_refused = 0;
};

Attack attack_with(bool is_secure) {
  Machine machine(attacked(is_secure));
  Attack attack;
  machine.fabric().devices[0].root_port->watch_memory(std::ref(attack.accesses));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  machine.start();
  const Endpoint& attacker = *machine.endpoint("ep0");
  attack.accesses.pages[{attacker.base().value, 0}].push_back(kAttacker);
  for (std::uint32_t i = 0; i < 100; ++i) {
    const DeviceIdentity& domain = attacker.identity_of(DomainId{i});
    attack.accesses.pages[{domain.bdf.value, to_int(domain.pasid.value_or(Pasid{}))}].push_back(
        kAttacker + i * 4 * kKiB);
  }
  const std::vector<std::uint64_t> before = words_of(machine, kTables, kTablesEnd);
  machine.run_until_quiet();

  // The agent writes accessed and dirty bits, and records of page requests into their queue.
  constexpr std::uint64_t kAccessedDirty = 0x60;
  const std::uint64_t queue = machine.agent().read_register(iommu_register::kPqa, 8);
  const std::vector<std::uint64_t> after = words_of(machine, kTables, kTablesEnd);
  attack.are_tables_whole = true;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool is_record = (kTables + i * 8) / kPage == queue / kPage;
    attack.are_tables_whole &= is_record || ((before[i] ^ after[i]) & ~kAccessedDirty) == 0;
  }
  attack.is_memory_whole =
      is_zero(machine, 0, kAttacker) && is_zero(machine, kAttacker + kBytes, kVictim) &&
      is_zero(machine, kVictim + kBytes, kTables) && is_zero(machine, kTablesEnd, 128 * kMiB);
  attack.denied = machine.result().rows<IommuResult>().at(0).permission_denied;
  attack.victim_refused = machine.root_port("ep1").counters().refused;
  for (const CheckResult& check : machine.result().checks) {
    if (check.name == "hostile accesses stay in their own name and memory") {
      attack.isolation = check;
    }
  }
  if (is_secure) {
    expect_only_numbers(machine, kVictim, kBytes);
  }
  return attack;
}

TEST(SecureAts, SEC_08_ADeviceThatForgesTranslatedRequestsReachesNothing) {
  const Attack attack = attack_with(true);
  EXPECT_GT(attack.accesses.writes, 0U);
  EXPECT_GT(attack.accesses.reads, 0U);
  EXPECT_EQ(attack.accesses.foreign_writes, 0U);
  EXPECT_EQ(attack.accesses.foreign_reads, 0U);
  EXPECT_TRUE(attack.isolation.ok) << attack.isolation.detail;
  EXPECT_GT(attack.denied, 500U);
  EXPECT_TRUE(attack.is_memory_whole);
  EXPECT_TRUE(attack.are_tables_whole);
  EXPECT_EQ(attack.victim_refused, 0U);
}

TEST(SecureAts, SEC_08_WithoutChecksTheSameAttackGetsThrough) {
  const Attack attack = attack_with(false);
  EXPECT_GT(attack.accesses.foreign_writes, 300U);
  EXPECT_GT(attack.accesses.foreign_reads, 300U);
  EXPECT_FALSE(attack.isolation.ok);
  EXPECT_THAT(attack.isolation.detail,
              AllOf(HasSubstr(" elsewhere"), Not(HasSubstr(" 0 elsewhere"))));
  EXPECT_FALSE(attack.is_memory_whole);
  EXPECT_EQ(attack.denied, 0U);
}

}  // namespace
}  // namespace flitwise::secure_ats_test
