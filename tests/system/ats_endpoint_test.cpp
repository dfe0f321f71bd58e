// SPDX-License-Identifier: Apache-2.0
// A device that asks for translations and uses them: requests, completions, order, configuration.
// docs/rules/ats.md
#include <gtest/gtest.h>

#include "common/byte_vector.h"
#include "system/ats_bench.h"

namespace flitwise::ats_endpoint_test {
namespace {

using test::AtsBench;

using test::kAsk;
using test::kPlain;
using test::kTranslated;

ByteVector bytes_of(std::uint8_t value, std::size_t count = 64) {
  return ByteVector(count, value);
}

/// Read only.
MappingRights no_writes() {
  MappingRights rights;
  rights.write = false;
  return rights;
}

// [ATR-01] One MRd of two DWs asks; the data comes from the page behind the translation.
TEST(AtsEndpoint, ATR_01_AFirstAccessAsksAndGoesTranslated) {
  AtsBench bench;
  bench.map(0, 7);
  bench.translate();
  bench.fill(7, 0x5a);
  const std::uint32_t token = bench.read(0);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.data(token), bytes_of(0x5a));
  ASSERT_EQ(bench.reads(kAsk), 1U);
  EXPECT_EQ(bench.wire.up.front().length_dw, 2U);
  EXPECT_EQ(bench.wire.up.front().address, AtsBench::address(0));
  EXPECT_EQ(bench.reads(kTranslated), 1U);
  EXPECT_EQ(bench.wire.up.back().address, AtsBench::physical(7));
  EXPECT_EQ(bench.reads(kPlain), 0U);
  bench.expect_all_checks_hold();
}

// [TCP-16]
TEST(AtsEndpoint, TCP_16_LaterAccessesToThePageHit) {
  AtsBench bench;
  bench.map(0, 7);
  bench.translate();
  for (int i = 0; i < 5; ++i) {
    bench.read(0);
    ASSERT_TRUE(bench.finish());
  }
  EXPECT_EQ(bench.reads(kAsk), 1U);
  EXPECT_EQ(bench.reads(kTranslated), 5U);
  const AtsResult result = bench.result();
  EXPECT_EQ(result.requests, 1U);
  EXPECT_EQ(result.hits, 4U);
  EXPECT_EQ(result.misses, 1U);
}

// [ATR-15] [TCP-11] What was asked for with NW is asked for again before a write.
TEST(AtsEndpoint, ATR_15_AWriteIsTranslatedToo) {
  AtsBench bench;
  bench.map(0, 7);
  bench.translate();
  bench.write(0, 0x33);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.peek(7), bytes_of(0x33, 4));
  EXPECT_EQ(bench.writes(kTranslated), 1U);
  EXPECT_EQ(bench.writes(kPlain), 0U);
  bench.expect_all_checks_hold();
}

// [ATR-09] Each TLP of a long transfer goes to its own page.
TEST(AtsEndpoint, ALongTransferIsTranslatedPageByPage) {
  AtsBench bench;
  bench.map(0, 9);
  bench.map(1, 4);
  bench.translate();
  bench.fill(9, 0x11);
  bench.fill(4, 0x22);
  const std::uint32_t token = bench.read(0, 8192);
  ASSERT_TRUE(bench.finish());
  ByteVector expected = bytes_of(0x11, 4096);
  expected.resize(8192, 0x22);
  EXPECT_EQ(bench.data(token), expected);
  EXPECT_EQ(bench.reads(kAsk), 2U);
  EXPECT_EQ(bench.reads(kPlain), 0U);
}

// [ATR-26] Who misses the same page waits for the request that is out.
TEST(AtsEndpoint, ATR_26_AccessesToOnePageShareARequest) {
  AtsBench bench;
  bench.map(0, 7);
  bench.translate();
  for (int i = 0; i < 6; ++i) {
    bench.read(0);
  }
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kAsk), 1U);
  EXPECT_EQ(bench.reads(kTranslated), 6U);
}

TEST(AtsEndpoint, ATR_26_SeveralRequestsAreOutAtATime) {
  AtsBench bench;
  for (unsigned page = 0; page < 8; ++page) {
    bench.map(page, page);
  }
  bench.translate();
  for (unsigned page = 0; page < 8; ++page) {
    bench.read(page);
  }
  ASSERT_TRUE(bench.finish());
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(bench.wire.up[i].at, kAsk) << i;
  }
  EXPECT_EQ(bench.reads(kTranslated), 8U);
}

TEST(AtsEndpoint, NoMoreRequestsAreOutThanTheKeySays) {
  AtsBench bench({"device.atc.requests=2"});
  for (unsigned page = 0; page < 8; ++page) {
    bench.map(page, page);
  }
  bench.translate();
  for (unsigned page = 0; page < 8; ++page) {
    bench.read(page);
  }
  ASSERT_TRUE(bench.finish());
  unsigned out = 0;
  unsigned most = 0;
  for (const auto& [is_up, tlp] : bench.wire.all) {
    out += is_up && tlp.at == kAsk ? 1U : 0U;
    most = std::max(most, out);
    out -= !is_up && tlp.type == TlpType::kCplD && tlp.length_dw == 2 ? 1U : 0U;
  }
  EXPECT_EQ(most, 2U);
  EXPECT_EQ(bench.reads(kTranslated), 8U);
  bench.expect_all_checks_hold();
}

class AtsHandles : public ::testing::TestWithParam<std::string> {};

// [DHI D17] Handles are there before the agent translates; requests for translations have them, and
// so have translated requests.
TEST_P(AtsHandles, D17_RequestsAndTranslatedRequestsGoByHandle) {
  AtsBench bench(
      {"link.identity=dhi", "device.dhi.alloc_order=none", "link.dhi_form=" + GetParam()}, false);
  for (unsigned domain = 0; domain < 4; ++domain) {
    bench.map(0, 10 + domain, {}, domain);
    bench.fill(10 + domain, static_cast<std::uint8_t>(0xa0 + domain));
    Transfer first;
    first.op = Op::kRead;
    first.domain = DomainId{domain};
    first.address = AtsBench::physical(0);
    first.bytes = 64;
    bench.engine.order(first);
  }
  bench.endpoint().wake();
  ASSERT_TRUE(bench.finish());
  bench.translate();
  bench.enable(0);
  bench.wire.clear();
  std::vector<std::uint32_t> tokens;
  for (unsigned domain = 0; domain < 4; ++domain) {
    tokens.push_back(bench.read(0, 64, domain));
  }
  ASSERT_TRUE(bench.finish());
  for (unsigned domain = 0; domain < 4; ++domain) {
    EXPECT_EQ(bench.data(tokens[domain]), bytes_of(static_cast<std::uint8_t>(0xa0 + domain)));
  }
  EXPECT_EQ(bench.reads(kAsk), 4U);
  EXPECT_EQ(bench.reads(kTranslated), 4U);
  EXPECT_EQ(bench.wire.up.size(), 8U);
  for (const Tlp& tlp : bench.wire.up) {
    EXPECT_TRUE(tlp.id_is_handle);
    EXPECT_FALSE(tlp.has_pasid);
  }
  bench.expect_all_checks_hold();
}
INSTANTIATE_TEST_SUITE_P(Forms, AtsHandles,
                         ::testing::Values("rid_direct", "rid_fabric", "prefix"));

// ---- order of those that wait

// [LNK-9.3] [ATR-14]
TEST(AtsEndpoint, LNK_9_3_AReadThatHitsPassesOneThatWaits) {
  AtsBench bench;
  bench.map(0, 0);
  bench.map(1, 1);
  bench.translate();
  bench.read(1);
  ASSERT_TRUE(bench.finish());
  const std::uint32_t cold = bench.read(0);
  const std::uint32_t warm = bench.read(1);
  ASSERT_TRUE(bench.finish());
  EXPECT_LT(bench.place(warm), bench.place(cold));
}

// [LNK-9.2] A write passes a read that waits for its translation.
TEST(AtsEndpoint, LNK_9_2_AWritePassesAReadThatWaits) {
  AtsBench bench;
  bench.map(0, 0);
  bench.map(1, 1);
  bench.translate();
  bench.write(1, 1);
  ASSERT_TRUE(bench.finish());
  const std::uint32_t cold = bench.read(0);
  const std::uint32_t warm = bench.write(1, 2);
  ASSERT_TRUE(bench.finish());
  EXPECT_LT(bench.place(warm), bench.place(cold));
}

// [LNK-9.1] Two addresses of one page: the second write hits, and is last all the same.
TEST(AtsEndpoint, LNK_9_1_NoWritePassesAWriteThatWaits) {
  AtsBench bench;
  bench.map(0, 7);
  bench.map(1, 7);
  bench.translate();
  bench.write(1, 0xee);
  ASSERT_TRUE(bench.finish());
  bench.write(0, 0x11);
  bench.write(1, 0x22);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.peek(7), bytes_of(0x22, 4));
  EXPECT_EQ(bench.writes(kPlain), 0U);
}

// [LNK-9.1] With RO the second may pass, and does.
TEST(AtsEndpoint, LNK_9_1_AWriteWithRelaxedOrderingPassesOneThatWaits) {
  AtsBench bench({"device.dma.relaxed_ordering=true"});
  bench.map(0, 7);
  bench.map(1, 7);
  bench.translate();
  bench.write(1, 0xee);
  ASSERT_TRUE(bench.finish());
  bench.write(0, 0x11);
  bench.write(1, 0x22);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.peek(7), bytes_of(0x11, 4));
}

// [LNK-9.4]
TEST(AtsEndpoint, LNK_9_4_AReadSeesTheWriteThatWaitsBeforeIt) {
  AtsBench bench;
  bench.map(0, 7);
  bench.map(1, 7);
  bench.translate();
  bench.fill(7, 0xee);
  bench.read(1);
  ASSERT_TRUE(bench.finish());
  bench.write(0, 0x11);
  const std::uint32_t token = bench.read(1);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.data(token), bytes_of(0x11));
}

// An interrupt is never translated and tells of a write that waits: it comes after it.
TEST(AtsEndpoint, ATR_27_AnInterruptGoesUntranslatedBehindAWriteThatWaits) {
  AtsBench bench;
  bench.map(0, 7);
  bench.translate();
  bench.write(0, 0x11);
  Transfer interrupt;
  interrupt.op = Op::kMsi;
  interrupt.address = 0xfee0'0000;
  interrupt.bytes = 4;
  bench.engine.order(interrupt, {1, 0, 0, 0});
  ASSERT_TRUE(bench.finish());
  ASSERT_EQ(bench.writes(kPlain), 1U);
  EXPECT_EQ(bench.wire.up.back().address, 0xfee0'0000U);
  EXPECT_EQ(bench.writes(kTranslated), 1U);
}

// ---- what the agent does not allow

// [TCP-09] A hole is not kept: untranslated the agent says what is wrong, and the next one asks.
TEST(AtsEndpoint, TCP_09_AHoleIsAskedForEachTimeAndGoesUntranslated) {
  AtsBench bench;
  bench.map(1, 1);
  bench.translate();
  for (int i = 1; i <= 2; ++i) {
    const std::uint32_t token = bench.read(0);
    ASSERT_TRUE(bench.finish());
    EXPECT_EQ(bench.status(token), TransferStatus::kUnsupportedRequest);
    EXPECT_EQ(bench.reads(kAsk), static_cast<unsigned>(i));
    EXPECT_EQ(bench.reads(kPlain), static_cast<unsigned>(i));
  }
  EXPECT_EQ(bench.reads(kTranslated), 0U);
  bench.expect_all_checks_hold();
}

// [TCP-11]
TEST(AtsEndpoint, TCP_11_WithoutWNothingIsWrittenTranslated) {
  AtsBench bench;
  bench.map(0, 7, no_writes());
  bench.translate();
  bench.fill(7, 0x44);
  bench.read(0);
  ASSERT_TRUE(bench.finish());
  bench.write(0, 0x55);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.writes(kTranslated), 0U);
  EXPECT_EQ(bench.writes(kPlain), 1U);
  EXPECT_EQ(bench.peek(7), bytes_of(0x44, 4));
  EXPECT_EQ(bench.reads(kTranslated), 1U);
}

// [TCP-04] The context does not let the device ask: UR, and the ATC is off.
TEST(AtsEndpoint, TCP_04_AfterUrAllGoesUntranslatedUntilItIsEnabledAnew) {
  constexpr std::uint64_t kDeviceTlb = 1U << 2;
  AtsBench bench;
  const MappedEntries entries = bench.map(0, 7);
  std::array<std::uint8_t, 8> bytes{};
  bench.bench.machine.memory().peek(entries.context, bytes.data(), bytes.size());
  std::uint64_t context = 0;
  for (unsigned i = 0; i < bytes.size(); ++i) {
    context |= std::uint64_t{bytes[i]} << 8 * i;
  }
  ASSERT_NE(context & kDeviceTlb, 0U);
  bench.poke(entries.context, context & ~kDeviceTlb);
  bench.translate();
  bench.fill(7, 0x66);
  const std::uint32_t first = bench.read(0);
  ASSERT_TRUE(bench.finish());
  const std::uint32_t second = bench.read(0);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.data(first), bytes_of(0x66));
  EXPECT_EQ(bench.data(second), bytes_of(0x66));
  EXPECT_EQ(bench.reads(kAsk), 1U);
  EXPECT_EQ(bench.reads(kPlain), 2U);
  EXPECT_EQ(bench.errors("translation_unsupported"), 1U);
  bench.enable(0, false);
  bench.enable(0);
  bench.read(0);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kAsk), 2U);
}

// [ATR-25] The walk takes longer than the device waits.
TEST(AtsEndpoint, ATR_25_ARequestThatNobodyAnswersTimesOut) {
  AtsBench bench({"device.timing.completion_timeout=5us", "iommu.timing.paging_cache=20us"});
  bench.map(0, 0);
  bench.translate();
  const std::uint32_t token = bench.read(0);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.status(token), TransferStatus::kTimeout);
  EXPECT_EQ(bench.errors("completion_timeout"), 1U);
  bench.run(Time::from_us(40));
  EXPECT_EQ(bench.errors("unexpected_completion"), 1U);
  bench.expect_all_checks_hold();
}

// ---- what software sets

// [ATR-23] [CFG-02]
TEST(AtsEndpoint, ATR_23_WithoutEnableNobodyAsks) {
  AtsBench bench({}, false);
  bench.map(0, 7);
  bench.translate();
  bench.read(0);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kAsk), 0U);
  EXPECT_EQ(bench.reads(kPlain), 1U);
  bench.enable(0);
  bench.read(0);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kTranslated), 1U);
  bench.enable(0, false);
  bench.read(0);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kTranslated), 1U);
  EXPECT_EQ(bench.reads(kPlain), 2U);
}

// [CFG-01]
TEST(AtsEndpoint, CFG_01_SettingEnableEmptiesTheAtc) {
  AtsBench bench;
  bench.map(0, 7);
  bench.translate();
  bench.read(0);
  ASSERT_TRUE(bench.finish());
  bench.enable(0, false);
  bench.enable(0);
  bench.read(0);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kAsk), 2U);
}

// [TCP-17] Enable goes while a request is out: its reply is not used.
TEST(AtsEndpoint, TCP_17_WhatComesAfterEnableWasClearedIsNotUsed) {
  AtsBench bench({"iommu.timing.paging_cache=20us"});
  bench.map(0, 0);
  bench.map(1, 1);
  bench.translate();
  bench.read(0);
  ASSERT_TRUE(bench.finish());
  bench.read(1);
  bench.run(Time::from_us(2));
  bench.enable(0, false);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kAsk), 2U);
  EXPECT_EQ(bench.reads(kTranslated), 1U);
  EXPECT_EQ(bench.reads(kPlain), 1U);
}

// [CFG-11] The agent finds requests without PASID where PASID 0 has its tables.
TEST(AtsEndpoint, CFG_11_WithoutPasidEnableNoPasidIsSent) {
  AtsBench bench;
  bench.map(0, 7);
  bench.translate();
  bench.configure(pasid_accesses(bench.bdf(0), bench.start_of(0, cfg::kExtPasid), PasidControl{}));
  bench.wire.clear();
  bench.read(0);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kTranslated), 1U);
  for (const Tlp& tlp : bench.wire.up) {
    EXPECT_FALSE(tlp.has_pasid);
  }
}

/// Whether a request that was translated names its PASID, with this workload.at.
bool names_pasid(const std::string& at) {
  AtsBench bench({"workload.at=" + at});
  bench.map(0, 7);
  bench.translate();
  bench.read(0);
  EXPECT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kTranslated), 1U);
  EXPECT_TRUE(bench.wire.up.front().has_pasid);  // the Translation Request
  return bench.wire.up.back().has_pasid;
}

// [LNK-3.8]
TEST(AtsEndpoint, LNK_3_8_ATranslatedRequestNamesNoPasid) {
  EXPECT_FALSE(names_pasid("untranslated"));
}
TEST(AtsEndpoint, LNK_3_8_ATranslatedRequestNamesItsPasidWhereTheWorkloadSaysSo) {
  EXPECT_TRUE(names_pasid("translated_pasid"));
}

// [CFG-07] [CFG-12] Domain 1 is the VF: its own Enable counts, with the STU of its PF.
TEST(AtsEndpoint, CFG_07_EachFunctionHasItsOwnEnableAndCache) {
  AtsBench bench({"device.functions.count=2"});
  bench.map(0, 7, {}, 0);
  bench.map(0, 8, {}, 1);
  bench.translate();
  bench.fill(7, 0x70);
  bench.fill(8, 0x80);
  bench.read(0, 64, 1);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kAsk), 0U);
  bench.enable(1);
  const std::uint32_t own = bench.read(0, 64, 0);
  const std::uint32_t other = bench.read(0, 64, 1);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.data(own), bytes_of(0x70));
  EXPECT_EQ(bench.data(other), bytes_of(0x80));
  EXPECT_EQ(bench.result(0).requests, 1U);
  EXPECT_EQ(bench.result(1).requests, 1U);
}

// [CFG-03]
TEST(AtsEndpoint, CFG_03_AfterFlrTheFunctionKnowsNothing) {
  AtsBench bench({"device.functions.count=2"});
  bench.map(0, 8, {}, 1);
  bench.translate();
  bench.enable(1);
  bench.read(0, 64, 1);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kAsk), 1U);
  ConfigSpace& space = bench.endpoint().target().space(1);
  const std::uint16_t pcie = space.find(cfg::kCapPcie).value_or(0);
  bench.configure(
      {{true, bench.bdf(1), static_cast<std::uint16_t>(pcie + cfg::pcie::kDeviceControl),
        cfg::pcie::kInitiateFlr, 0x3}});
  bench.run(Time::from_us(20));
  EXPECT_FALSE(ats_control(space, &bench.endpoint().target().space(0)).is_enabled);
  bench.configure({{true, bench.bdf(1), cfg::kCommand, cfg::kCommandBusMaster, 0x3}});
  bench.read(0, 64, 1);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kPlain), 1U);
  bench.enable(1);
  bench.read(0, 64, 1);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kAsk), 2U);
}

// [CFG-04] [CFG-09] All functions, PASID and page requests too.
TEST(AtsEndpoint, CFG_04_AfterAHotResetNothingIsLeft) {
  AtsBench bench({"device.pri.enabled=true"});
  bench.map(0, 7);
  bench.translate();
  bench.enable_pages();
  bench.read(0);
  ASSERT_TRUE(bench.finish());
  bench.endpoint().hot_reset();
  bench.run(Time::from_us(20));
  EXPECT_FALSE(ats_control(bench.endpoint().target().space(0)).is_enabled);
  EXPECT_FALSE(pasid_control(bench.endpoint().target().space(0)).is_enabled);
  EXPECT_TRUE(bench.endpoint().target().page_requests()->is_stopped());
  bench.configure({{true, bench.bdf(0), cfg::kCommand, cfg::kCommandBusMaster, 0x3}});
  bench.read(0);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kPlain), 1U);
  bench.enable(0);
  bench.read(0);
  ASSERT_TRUE(bench.finish());
  EXPECT_EQ(bench.reads(kAsk), 2U);
  bench.expect_all_checks_hold();
}

}  // namespace
}  // namespace flitwise::ats_endpoint_test
