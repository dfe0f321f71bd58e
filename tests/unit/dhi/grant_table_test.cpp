// SPDX-License-Identifier: Apache-2.0
// What a function may ask for. [DHI S3]
#include "dhi/grant_table.h"

#include <gtest/gtest.h>

namespace flitwise::grant_table_test {
namespace {

constexpr Bdf kFunction = Bdf::of(3, 0, 1);

AllocMessage asking(std::optional<std::uint32_t> pasid, bool is_trusted = false,
                    std::uint16_t capabilities = 0) {
  AllocMessage message;
  message.identity.bdf = kFunction;
  if (pasid) {
    message.identity.pasid = Pasid{*pasid};
  }
  message.is_trusted = is_trusted;
  message.capabilities = capabilities;
  return message;
}

TEST(GrantTable, S3_NothingIsGrantedByDefault) {
  const GrantTable grants;
  EXPECT_EQ(grants.check(asking(1)), HandleStatus::kFunctionNotGranted);
  EXPECT_EQ(grants.check(asking(std::nullopt)), HandleStatus::kFunctionNotGranted);
  EXPECT_FALSE(grants.is_trusted(kFunction));
  EXPECT_EQ(grants.capabilities(kFunction), 0);
}

TEST(GrantTable, S3_OpenMachineGrantsAnyPasidAndKnownCapabilityButNoTrust) {
  const GrantTable grants(Grant::any());
  EXPECT_EQ(grants.check(asking(0)), HandleStatus::kOk);
  EXPECT_EQ(grants.check(asking(0xf'ffff, false, kKnownCapabilities)), HandleStatus::kOk);
  EXPECT_EQ(grants.check(asking(0xf'ffff, false, 0x4)), HandleStatus::kCapabilityNotGranted);
  EXPECT_EQ(grants.check(asking(std::nullopt)), HandleStatus::kOk);
  EXPECT_EQ(grants.check(asking(1, true)), HandleStatus::kTrustNotGranted);
}

TEST(GrantTable, D20_ACapabilityThatStandsForNothingIsNobodys) {
  const GrantTable grants(Grant::any());
  for (unsigned bit = 0; bit < 16; ++bit) {
    const auto asked = static_cast<std::uint16_t>(1U << bit);
    EXPECT_EQ(grants.check(asking(1, false, asked)),
              bit < 2 ? HandleStatus::kOk : HandleStatus::kCapabilityNotGranted);
  }
}

TEST(GrantTable, S3_PasidRangesIncludeBothBounds) {
  GrantTable grants;
  grants.set(kFunction, {{{Pasid{10}, Pasid{12}}, {Pasid{20}, Pasid{20}}}, false, false, 0});
  for (const std::uint32_t pasid : {10U, 11U, 12U, 20U}) {
    EXPECT_EQ(grants.check(asking(pasid)), HandleStatus::kOk) << pasid;
  }
  for (const std::uint32_t pasid : {0U, 9U, 13U, 19U, 21U}) {
    EXPECT_EQ(grants.check(asking(pasid)), HandleStatus::kPasidNotGranted) << pasid;
  }
  EXPECT_EQ(grants.check(asking(std::nullopt)), HandleStatus::kPasidNotGranted);
}

// A domain that a message names itself is granted or not as in an ALLOC. [DHI S3]
TEST(GrantTable, S3_DomainsInFullAreGrantedAsInAnAlloc) {
  GrantTable grants;
  grants.set(kFunction, {{{Pasid{10}, Pasid{12}}}, false, false, 0});
  DeviceIdentity identity{kFunction, Pasid{10}, true, true};
  EXPECT_EQ(grants.check(identity), HandleStatus::kOk);
  identity.pasid = Pasid{13};
  EXPECT_EQ(grants.check(identity), HandleStatus::kPasidNotGranted);
  identity.pasid.reset();
  EXPECT_EQ(grants.check(identity), HandleStatus::kPasidNotGranted);
  identity.bdf.value += 1;
  EXPECT_EQ(grants.check(identity), HandleStatus::kFunctionNotGranted);
}

// [DHI-22]
TEST(GrantTable, S3_TrustAndCapabilitiesAreCheckedBitByBit) {
  GrantTable grants(Grant::any());
  grants.set(kFunction, {{{Pasid{1}, Pasid{1}}}, true, true, 0b0101});
  EXPECT_EQ(grants.check(asking(1, true, 0b0101)), HandleStatus::kOk);
  EXPECT_EQ(grants.check(asking(1, true, 0b0001)), HandleStatus::kOk);
  EXPECT_EQ(grants.check(asking(1, true, 0b0010)), HandleStatus::kCapabilityNotGranted);
  EXPECT_EQ(grants.check(asking(2, true, 0b0101)), HandleStatus::kPasidNotGranted);
}

// [DHI-37]
TEST(GrantTable, S3_ContextsAreThoseOfTheirProcess) {
  GrantTable grants;
  grants.set(kFunction, {{{Pasid{0}, Pasid{9}}}, true, false, 0, 4});
  const auto check = [&](std::optional<std::uint32_t> pasid, ContextId context) {
    AllocMessage message = asking(pasid);
    message.context = context;
    return grants.check(message);
  };
  for (const ContextKind kind : {ContextKind::kQueuePair, ContextKind::kDedicatedWorkQueue,
                                 ContextKind::kSharedWorkQueue, ContextKind::kWorkCommand}) {
    EXPECT_EQ(check(2, {kind, 7}), HandleStatus::kContextNotGranted) << "one of PASID 1";
    EXPECT_EQ(check(2, {kind, 8}), HandleStatus::kOk);
    EXPECT_EQ(check(2, {kind, 11}), HandleStatus::kOk);
    EXPECT_EQ(check(2, {kind, 12}), HandleStatus::kContextNotGranted) << "one of PASID 3";
    EXPECT_EQ(check(std::nullopt, {kind, 3}), HandleStatus::kOk);
    EXPECT_EQ(check(std::nullopt, {kind, 4}), HandleStatus::kContextNotGranted);
  }
  EXPECT_EQ(check(10, {ContextKind::kQueuePair, 40}), HandleStatus::kPasidNotGranted);
  EXPECT_EQ(check(2, {}), HandleStatus::kOk) << "the process itself";
  grants.set(kFunction, {{{Pasid{0}, Pasid{9}}}, true, false, 0, kMostContexts});
  EXPECT_EQ(check(9, {ContextKind::kQueuePair, kMostContexts - 1}), HandleStatus::kOk);
  grants.set(kFunction, {{{Pasid{0}, Pasid{9}}}, true, false, 0, 0});
  EXPECT_EQ(check(0, {ContextKind::kQueuePair, 0}), HandleStatus::kContextNotGranted);
}

}  // namespace
}  // namespace flitwise::grant_table_test
