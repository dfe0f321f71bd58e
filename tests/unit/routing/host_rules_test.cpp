// SPDX-License-Identifier: Apache-2.0
// What a host lets into its memory.
#include "routing/request_rules.h"

#include <gtest/gtest.h>

#include <string>

#include "dhi/handle_types.h"

namespace flitwise::host_rules_test {
namespace {

class HostRulesTest : public ::testing::Test {
 protected:
  HostRulesTest() {
    config.memory.size = 1 << 20;
    request.type = TlpType::kMWr;
    request.length_dw = 4;
    request.first_be = request.last_be = 0xf;
  }
  std::string refusal(bool is_translating = false, const DomainStanding& standing = {}) {
    const char* const text = HostRules(config).refusal_of(request, standing, is_translating);
    return text == nullptr ? "" : text;
  }
  std::string at(std::uint64_t address, const DomainStanding& standing = {}) {
    const char* const text = HostRules(config).address_refusal_of(request, address, standing);
    return text == nullptr ? "" : text;
  }
  HostConfig config;
  Tlp request;
};

TEST_F(HostRulesTest, OnlyMemoryRequestsGoUp) {
  EXPECT_EQ(refusal(), "");
  request.type = TlpType::kIORd;
  EXPECT_EQ(refusal(), "unsupported_request");
}

TEST_F(HostRulesTest, LNK_9_29_AtomicsAreServedUnlessTheyAreSwitchedOff) {
  for (const TlpType type : {TlpType::kFetchAdd, TlpType::kSwap, TlpType::kCas}) {
    request.type = type;
    config.atomics = true;
    EXPECT_EQ(refusal(), "");
    config.atomics = false;
    EXPECT_EQ(refusal(), "unsupported_request");
  }
  request.type = TlpType::kDMWr;
  EXPECT_EQ(refusal(), "");
  config.deferrable_writes = false;
  EXPECT_EQ(refusal(), "unsupported_request");
  request.type = TlpType::kMWr;
  EXPECT_EQ(refusal(), "");
}

TEST_F(HostRulesTest, LNK_9_30_DeferrableWritesAreServedUpToWhatIsAnnounced) {
  request.type = TlpType::kDMWr;
  request.length_dw = 32;
  EXPECT_EQ(refusal(), "");
  request.length_dw = 33;
  EXPECT_EQ(refusal(), "unsupported_request");
  request.type = TlpType::kMWr;
  EXPECT_EQ(refusal(), "");
}

TEST_F(HostRulesTest, LNK_9_29_OneOperandOfACasHasToLieInMemory) {
  request.type = TlpType::kCas;  // of two DWs each
  EXPECT_EQ(at((1 << 20) - 8), "");
  EXPECT_EQ(at((1 << 20) - 4), "unmapped_address");
}

TEST_F(HostRulesTest, BusMasterEnableComesFirst) {
  HostRules rules(config);
  rules.set_bus_master(false);
  EXPECT_STREQ(rules.refusal_of(request, {}, false), "bus_master_disabled");
}

TEST_F(HostRulesTest, ATR_05_TranslationRequestNeedsAnAgentThatTranslates) {
  request.type = TlpType::kMRd;
  request.at = AddressType::kTranslationRequest;
  request.length_dw = 2;
  EXPECT_EQ(refusal(false), "translation_request_without_ats");
  EXPECT_EQ(refusal(true), "");
}

// [DHI D20]
TEST_F(HostRulesTest, D20_TranslatedRequestNeedsItsCapability) {
  request.at = AddressType::kTranslated;
  EXPECT_EQ(refusal(), "");
  config.dhi.check_capabilities = true;
  EXPECT_EQ(refusal(), "capability_missing");
  EXPECT_EQ(refusal(false, {false, kCapabilityTranslated}), "");
}

TEST_F(HostRulesTest, RequestHasToLieInMemoryAsAWhole) {
  EXPECT_EQ(at((1 << 20) - 16), "");
  EXPECT_EQ(at((1 << 20) - 12), "unmapped_address");
  EXPECT_EQ(at(~std::uint64_t{0} - 15), "unmapped_address");
}

// [DHI D19]
TEST_F(HostRulesTest, D19_TrustedWindowIsForTrustedRequests) {
  config.trusted_window.base = 0x8000;
  config.trusted_window.size = 0x1000;
  EXPECT_EQ(at(0x7ff0), "");
  EXPECT_EQ(at(0x7ff4), "untrusted_request");
  EXPECT_EQ(at(0x8000, {true, 0}), "");
  EXPECT_EQ(at(0x9000), "");
}

// [DHI S3]
TEST_F(HostRulesTest, S3_FlushMayGoOutsideOfTheWindow) {
  config.dma_window.base = 0x4000;
  config.dma_window.size = 0x1000;
  EXPECT_EQ(at(0x4000), "");
  EXPECT_EQ(at(0x5000), "outside_dma_window");
  request.type = TlpType::kMRd;
  request.length_dw = 1;
  request.first_be = request.last_be = 0;
  EXPECT_EQ(at(0x5000), "");
}

}  // namespace
}  // namespace flitwise::host_rules_test
