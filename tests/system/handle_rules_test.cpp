// SPDX-License-Identifier: Apache-2.0
// Rules of handles on the assembled machine: uses without an entry, whose the traffic is, replay.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "dhi/dhi_message.h"
#include "machine_bench.h"
#include "script_bench.h"

namespace flitwise::handle_rules_test {
namespace {

using test::hex_of;
using test::play;
using test::ScriptAnswer;

const Bdf kDevice = Bdf::of(1, 0, 0);
constexpr Dhi kHandle{3};

std::string line(const std::string& id, const Tlp& tlp,
                 const std::vector<std::uint8_t>& payload = {}) {
  return R"({"op":"tlp","hex":")" + hex_of(tlp, payload) + R"(","id":")" + id + "\"}\n" +
         R"({"op":"run","until":"idle"})" + "\n";
}

/// A request for the DW at 1000h under the handle, which stands in the Requester ID.
Tlp use(TlpType type, AddressType at) {
  Tlp tlp;
  tlp.type = type;
  tlp.requester_id = Bdf{static_cast<std::uint16_t>(kHandle)};
  tlp.id_is_handle = true;
  tlp.address = 0x1000;
  tlp.length_dw = 1;
  tlp.first_be = 0xf;
  tlp.at = at;
  return tlp;
}

std::string use(const std::string& id, TlpType type) {
  return line(id, use(type, AddressType::kUntranslated),
              type == TlpType::kMWr ? std::vector<std::uint8_t>{0xab, 0xab, 0xab, 0xab}
                                    : std::vector<std::uint8_t>());
}

std::string poke(std::uint32_t value) {
  return R"({"op":"poke","addr":"0x1000","u32":)" + std::to_string(value) + "}\n";
}

std::string peek(const std::string& id) {
  return R"({"op":"peek","addr":"0x1000","bytes":4,"id":")" + id + "\"}\n";
}

std::string alloc() {
  AllocMessage message;
  message.dhi = kHandle;
  message.identity.bdf = kDevice;
  message.identity.pasid = Pasid{5};
  Tlp tlp;
  std::vector<std::uint8_t> payload;
  write_dhi_message(tlp, payload, kDevice, message);
  return line("alloc", tlp, payload);
}

std::string dealloc() {
  DeallocMessage message;
  message.scope = DeallocScope::kOne;
  message.dhi = kHandle;
  Tlp tlp;
  std::vector<std::uint8_t> payload;
  write_dhi_message(tlp, payload, kDevice, message);
  return line("dealloc", tlp, payload);
}

void expect_refused(const ScriptAnswer& answer, const std::string& id, const std::string& kind) {
  ASSERT_FALSE(answer.of(id).empty()) << id;
  EXPECT_EQ(answer.of(id)[0].at("kind"), kind) << id;
  EXPECT_EQ(answer.of(id)[0].at("detail"), "invalid_handle") << id;
}

// [DHI-02]
TEST(HandleRules, D16_UseOfAHandleThatNobodyAllocatedChangesNothingAndIsReported) {
  Tlp translation = use(TlpType::kMRd, AddressType::kTranslationRequest);
  translation.length_dw = 2;
  translation.last_be = 0xf;
  const ScriptAnswer answer =
      play(poke(7) + use("write", TlpType::kMWr) + use("read", TlpType::kMRd) +
               line("translation", translation) + peek("memory"),
           {"link.identity=dhi"});
  EXPECT_EQ(answer.code, 0);
  expect_refused(answer, "write", "unsupported_request");
  ASSERT_EQ(answer.of("write").size(), 3U);  // and the device did not ask for this handle
  EXPECT_EQ(answer.of("write")[1].at("name"), "dhi_error");
  EXPECT_EQ(answer.of("write")[2].at("kind"), "stale_handle_error");
  expect_refused(answer, "read", "unsupported_request");
  EXPECT_EQ(answer.of("read").back().at("status"), "UR");
  expect_refused(answer, "translation", "completer_abort");
  EXPECT_EQ(answer.of("translation").back().at("status"), "CA");
  EXPECT_EQ(answer.of("memory").at(0).at("hex"), "07000000");
}

// [DHI-01] [DHI-03]
TEST(HandleRules, D16_AHandleServesFromItsAllocToItsDealloc) {
  const ScriptAnswer answer =
      play(poke(7) + alloc() + use("first", TlpType::kMWr) + peek("served") + poke(8) + dealloc() +
               use("late", TlpType::kMWr) + peek("aborted") + use("read", TlpType::kMRd),
           {"link.identity=dhi"});
  EXPECT_EQ(answer.of("alloc").at(0).at("name"), "dhi_alloc");
  EXPECT_TRUE(answer.of("first").empty());
  EXPECT_EQ(answer.of("served").at(0).at("hex"), "abababab");
  expect_refused(answer, "late", "unsupported_request");
  EXPECT_EQ(answer.of("aborted").at(0).at("hex"), "08000000");
  EXPECT_EQ(answer.of("read").back().at("status"), "UR");
}

Config with_sixteen_handles() {
  Config config;
  config.link.identity = Identity::kDhi;
  config.device.dhi.bits = 4;
  config.workload.domains = 40;
  config.workload.requests = 3'000;
  return config;
}

// [DHI-01] [DHI D17]
TEST(HandleRules, D17_MemoryIsWrittenUnderTheIdentityOfTheEntryAlone) {
  MachineBench bench(with_sixteen_handles());
  std::set<std::pair<std::uint16_t, std::uint32_t>> seen;
  std::uint64_t unresolved = 0;
  bench.machine.observe([&](const Observation& observation) {
    if (std::string(observation.what) == "committed" && bench.machine.is_serving()) {
      const auto& resolved = observation.packet->resolved;
      unresolved += resolved ? 0 : 1;
      if (resolved) {
        seen.emplace(resolved->bdf.value, to_int(*resolved->pasid));
      }
    }
  });
  ASSERT_TRUE(bench.bring_up());
  ASSERT_TRUE(bench.run_workload());
  std::set<std::pair<std::uint16_t, std::uint32_t>> meant;
  for (std::uint32_t domain = 0; domain < 40; ++domain) {
    const DeviceIdentity& identity = bench.machine.endpoint("ep0")->identity_of(DomainId{domain});
    meant.emplace(identity.bdf.value, to_int(*identity.pasid));
  }
  EXPECT_EQ(seen, meant);
  EXPECT_EQ(meant.size(), 40U);
  EXPECT_EQ(unresolved, 0U);
}

// The first TLP after the boot is an ALLOC. [DHI-30]
TEST(HandleRules, D8_AnAllocThatIsDamagedOnTheWireArrivesOnceByReplay) {
  Config config = with_sixteen_handles();
  config.workload.domains = 16;
  config.faults.up.corrupt_tlps = {1, 2};
  MachineBench bench(config);
  ASSERT_TRUE(bench.bring_up());
  ASSERT_TRUE(bench.run_workload());
  const RunResult result = bench.machine.result();
  EXPECT_EQ(result.rows<LinkResult>()[0].up.corrupted, 2U);
  EXPECT_GT(result.rows<LinkResult>()[0].up.replays, 0U);
  const HostHandleStatistics& host =
      bench.machine.fabric().devices[0].handles->table().statistics();
  EXPECT_EQ(host.allocs, 16U);
  EXPECT_EQ(host.rejected(), 0U);
  EXPECT_EQ(bench.machine.fabric().devices[0].handles->table().statistics().wrong_domain, 0U);
  EXPECT_TRUE(result.errors.empty());
}

}  // namespace
}  // namespace flitwise::handle_rules_test
