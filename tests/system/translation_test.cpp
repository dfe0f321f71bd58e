// SPDX-License-Identifier: Apache-2.0
// The translation agent in the machine: order behind walks, hits under misses, shared walks,
// invalidations that overtake walks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "flitwise/system.h"
#include "system/script_bench.h"

namespace flitwise::translation_test {
namespace {

using test::play;
using test::poke;
using test::ScriptAnswer;
using test::write_register;

constexpr std::uint64_t kRoot = 0x10'0000, kContext = 0x10'1000, kDirectory = 0x10'2000,
                        kPasidTable = 0x10'3000, kTop = 0x11'0000;
// Two pages of input addresses that lie on one physical page.
constexpr std::uint64_t kCold = 0x4000'0000, kWarm = 0x4000'1000, kPage = 0x77'7000;

/// Tables of first stage for requests of 01:00.0 without PASID, and the agent switched on.
std::string set_up() {
  std::string script = poke(kRoot + 16, kContext | 1) + poke(kContext, kDirectory | 0xd) +
                       poke(kDirectory, kPasidTable | 1) + poke(kPasidTable, 0x49) +
                       poke(kPasidTable + 8, 7) + poke(kPasidTable + 16, kTop);
  script += poke(kTop, (kTop + 0x1000) | 7) + poke(kTop + 0x1000 + 8, (kTop + 0x2000) | 7) +
            poke(kTop + 0x2000, (kTop + 0x3000) | 7);
  script += poke(kTop + 0x3000, kPage | 7) + poke(kTop + 0x3008, kPage | 7);
  return script + write_register(0x20, kRoot | 0x400) + write_register(0x18, 0x4000'0000) +
         write_register(0x18, 0x8000'0000);
}

std::string tlp(const std::string& id, const std::string& fields) {
  return fmt::format(
      R"({{"op":"tlp","id":"{}","tlp":{{"requester_id":"01:00.0","length_dw":1,{}}}}})"
      "\n",
      id, fields);
}
std::string write(std::uint64_t address, const std::string& payload, bool is_relaxed = false) {
  return tlp("w", fmt::format(R"("type":"MWr","address":"{:#x}","first_be":15,"payload":"{}"{})",
                              address, payload, is_relaxed ? R"(,"ro":true)" : ""));
}
std::string read(const std::string& id, unsigned tag, std::uint64_t address) {
  return tlp(id,
             fmt::format(R"("type":"MRd","address":"{:#x}","first_be":15,"tag":{})", address, tag));
}
const char* const kIdle = "{\"op\":\"run\",\"until\":\"idle\"}\n";
/// The warm page, read and written so that its D bit is set.
std::string warm_up() {
  return write(kWarm, "00000000") + kIdle;
}
std::string look() {
  return fmt::format(R"({{"op":"peek","id":"m","addr":"{:#x}","bytes":4}})"
                     "\n",
                     kPage);
}
std::string figure(const std::string& name) {
  return fmt::format(R"({{"op":"result","id":"{0}","path":"iommu.0.{0}"}})"
                     "\n",
                     name);
}
std::uint64_t value_of(const ScriptAnswer& answer, const std::string& id) {
  return answer.of(id).at(0).at("value").get<std::uint64_t>();
}

// [LNK-9.1] The first write walks, the second hits: both go to one place, and the second is last.
TEST(Translation, LNK_9_1_PostedWritesKeepTheirOrderWhileOneIsWalked) {
  const ScriptAnswer answer = play(set_up() + warm_up() + write(kCold, "11111111") +
                                   write(kWarm, "22222222") + kIdle + look());
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.of("m").at(0).at("hex"), "22222222");
}

// [LNK-9.1] With RO the second may pass, and does: the first is last.
TEST(Translation, LNK_9_1_AWriteWithRelaxedOrderingPassesOneThatIsWalked) {
  const ScriptAnswer answer = play(set_up() + warm_up() + write(kCold, "11111111") +
                                   write(kWarm, "22222222", true) + kIdle + look());
  EXPECT_EQ(answer.of("m").at(0).at("hex"), "11111111");
}

// [LNK-9.4]
TEST(Translation, LNK_9_4_AReadStaysBehindAWriteThatIsWalked) {
  const ScriptAnswer answer =
      play(set_up() + warm_up() + write(kCold, "11111111") + read("r", 1, kWarm) + kIdle);
  EXPECT_EQ(answer.of("r").at(0).at("hex"), "11111111");
}

TEST(Translation, AHitPassesAReadThatIsWalked) {
  const ScriptAnswer answer =
      play(set_up() + warm_up() + read("cold", 1, kCold) + read("warm", 2, kWarm) + kIdle);
  std::string order;
  for (const ScriptAnswer::Json& line : answer.lines) {
    if (line.value("event", "") == "completion") {
      order += line.at("id").get<std::string>() + " ";
    }
  }
  EXPECT_EQ(order, "warm cold ");
}

TEST(Translation, RequestsForOnePageShareAWalk) {
  const ScriptAnswer answer = play(set_up() + read("a", 1, kCold) + read("b", 2, kCold + 64) +
                                   kIdle + figure("requests") + figure("walks"));
  EXPECT_EQ(value_of(answer, "requests"), 2U);
  EXPECT_EQ(value_of(answer, "walks"), 1U);
  EXPECT_EQ(answer.of("b").at(0).at("status"), "SC");
}

// [IOM-2.1] Structures once, four levels of page tables each time the caches know no table.
TEST(Translation, IOM_2_1_AColdWalkReadsEightTimes) {
  const ScriptAnswer answer = play(set_up() + read("a", 1, kCold) + kIdle + figure("walk_reads"));
  EXPECT_EQ(value_of(answer, "walk_reads"), 8U);
}

// [IOM-6.1]
TEST(Translation, IOM_6_1_TheNextPageStartsAtTheTableThatIsKnown) {
  const ScriptAnswer answer = play(set_up() + read("a", 1, kCold) + kIdle + read("b", 2, kWarm) +
                                   kIdle + figure("walk_reads"));
  EXPECT_EQ(value_of(answer, "walk_reads"), 9U);
}

// [IOM-6.2] The entry changes and is invalidated while a walk is on its way: what the walk read
// before serves its request and is not kept.
TEST(Translation, IOM_6_2_AWalkThatAnInvalidationOvertookLeavesNothing) {
  const std::string script = set_up() + read("a", 1, kCold) +
                             "{\"op\":\"run\",\"for\":\"900ns\"}\n" + poke(kTop + 0x3000, 0) +
                             write_register(0xf8, 0x9000'0000'0000'0000) + kIdle +
                             read("b", 2, kCold) + kIdle + figure("walks");
  const ScriptAnswer answer = play(script);
  EXPECT_EQ(value_of(answer, "walks"), 2U);
  EXPECT_EQ(answer.of("b").back().at("status"), "UR");
}

const std::vector<std::string> kNothingKept = {
    "iommu.iotlb.entries=none", "iommu.context_cache.entries=none",
    "iommu.pasid_cache.entries=none", "iommu.paging_cache.entries=none"};

// [IOM-6.10] Where no cache keeps what a walk has found, those that waited for it have it all the
// same: eight reads of tables for three requests.
TEST(Translation, IOM_6_10_AWalkIsSharedWhereNoCacheKeepsIt) {
  const ScriptAnswer answer =
      play(set_up() + read("a", 1, kCold) + read("b", 2, kCold + 64) + read("c", 3, kCold + 128) +
               kIdle + figure("walks") + figure("walk_reads"),
           kNothingKept);
  EXPECT_EQ(value_of(answer, "walks"), 1U);
  EXPECT_EQ(value_of(answer, "walk_reads"), 8U);
  EXPECT_EQ(answer.of("c").at(0).at("status"), "SC");
}

// [IOM-6.10] So have those that waited for a walker, which was at another page.
TEST(Translation, IOM_6_10_AWalkIsSharedWithThoseThatWaitedForAWalker) {
  std::vector<std::string> overrides = kNothingKept;
  overrides.push_back("iommu.walkers=1");
  const ScriptAnswer answer = play(set_up() + read("a", 1, kWarm) + read("b", 2, kCold) +
                                       read("c", 3, kCold + 64) + kIdle + figure("walks"),
                                   overrides);
  EXPECT_EQ(value_of(answer, "walks"), 2U);
  EXPECT_EQ(answer.of("c").at(0).at("status"), "SC");
}

// [IOM-6.10] A page may be read and not written: who waited to write walks, and faults.
TEST(Translation, IOM_6_10_AWalkGrantsAFollowerNoMoreThanItFound) {
  const ScriptAnswer answer =
      play(set_up() + poke(kTop + 0x3000, kPage | 5) + read("a", 1, kCold) +
               write(kCold, "11111111") + kIdle + figure("walks") + figure("faults") + look(),
           kNothingKept);
  EXPECT_EQ(value_of(answer, "walks"), 2U);
  EXPECT_EQ(value_of(answer, "faults"), 1U);
  EXPECT_EQ(answer.of("a").at(0).at("status"), "SC");
  EXPECT_EQ(answer.of("m").at(0).at("hex"), "00000000");
}

// [IOM-6.7] What a read has found leaves D to be set by the write that waited for it.
TEST(Translation, IOM_6_7_AWriteThatWaitedForAReadSetsDirty) {
  const ScriptAnswer answer =
      play(set_up() + read("a", 1, kCold) + write(kCold, "11111111") + kIdle + figure("walks") +
               fmt::format("{{\"op\":\"peek\",\"id\":\"e\",\"addr\":\"{:#x}\",\"bytes\":1}}\n",
                           kTop + 0x3000) +
               look(),
           kNothingKept);
  EXPECT_EQ(value_of(answer, "walks"), 2U);
  EXPECT_EQ(answer.of("e").at(0).at("hex"), "67");
  EXPECT_EQ(answer.of("m").at(0).at("hex"), "11111111");
}

// [IOM-6.10] An invalidation comes while the page is walked: its own request is served, and who
// waited for it walks anew and finds nothing.
TEST(Translation, IOM_6_10_AWalkThatAnInvalidationOvertookIsNotShared) {
  const ScriptAnswer answer =
      play(set_up() + read("a", 1, kCold) + read("b", 2, kCold + 64) +
               "{\"op\":\"run\",\"for\":\"1080ns\"}\n" + poke(kTop + 0x3000, 0) +
               write_register(0xf8, 0x9000'0000'0000'0000) + kIdle + figure("walks"),
           kNothingKept);
  EXPECT_EQ(value_of(answer, "walks"), 2U);
  EXPECT_EQ(answer.of("a").at(0).at("status"), "SC");
  EXPECT_EQ(answer.of("b").back().at("status"), "UR");
}

/// A run of 64-byte reads whose buffers are translated.
RunResult run_with(const std::string& translation, const std::string& page) {
  const std::string yaml = fmt::format(R"(
iommu: {{translation: {}, page: {}}}
workload: {{kind: read, payload: 64B, domains: 16, requests: 4000}}
)",
                                       translation, page);
  System system(config_from_text(yaml, "translation.yaml", ""));
  return system.run();
}

class TranslatedRun : public ::testing::TestWithParam<const char*> {};

TEST_P(TranslatedRun, EveryReadFindsItsPage) {
  const RunResult result = run_with(GetParam(), "4KiB");
  EXPECT_EQ(result.errors.count("translation_fault"), 0U);
  EXPECT_EQ(result.rows<IommuResult>().at(0).faults, 0U);
  EXPECT_GE(result.rows<IommuResult>().at(0).requests, 4000U);
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
}
INSTANTIATE_TEST_SUITE_P(Kinds, TranslatedRun,
                         ::testing::Values("first_stage", "second_stage", "nested",
                                           "pass_through"));

// [IOM-6.3] 250 reads of each of 16 domains go over four pages of 4 KiB, or over one of 2 MiB.
TEST(Translation, IOM_6_3_SmallPagesAreWalkedOneByOne) {
  EXPECT_EQ(run_with("first_stage", "4KiB").rows<IommuResult>().at(0).walks, 64U);
}
TEST(Translation, IOM_6_3_OneWalkADomainFindsItsLargePage) {
  EXPECT_EQ(run_with("first_stage", "2MiB").rows<IommuResult>().at(0).walks, 16U);
}

}  // namespace
}  // namespace flitwise::translation_test
