// SPDX-License-Identifier: Apache-2.0
// Translated requests against the permission table of their domain.
#include <gtest/gtest.h>

#include "iommu/table_builder.h"
#include "unit/iommu/table_memory.h"

namespace flitwise::test::walk_permission_test {
namespace {

using F = FaultReason;

constexpr std::uint64_t kPage = 0x77'7000;
constexpr std::uint64_t kTop = 0x40'0000;  // of the permission table of PASID 5
constexpr std::uint32_t kPasid = 5;

/// PASIDs 0 and 5 have tables of the first stage; what they may do with pages is set by a test.
class Permissions : public ::testing::Test {
 protected:
  Permissions() {
    t.offers.secure_ats = true;
    t.set_pasid(0, 1);
    t.set_pasid(kPasid, 1);
    point(kPasid, kTop | 1);
  }
  void point(std::uint32_t pasid, std::uint64_t pointer) {
    t.memory.write(t.entry_at(pasid) + 24, pointer);
  }
  /// Four levels, as for 48 bits of address: one word each. bits: those of kPage.
  void permit(std::uint64_t top, std::uint64_t bits) {
    t.memory.write(top, (top + 0x1000) | 1);
    t.memory.write(top + 0x1000, (top + 0x2000) | 1);
    t.memory.write(top + 0x2000, (top + 0x3000) | 1);
    t.memory.write(top + 0x3000 + 8 * (kPage >> 17), bits << 2 * (kPage >> 12 & 31));
  }
  WalkRequest translated(std::uint64_t address, bool write, OptionalId<Pasid> pasid = Pasid{5}) {
    WalkRequest request = t.request(address, write);
    request.pasid = pasid;
    request.kind = WalkKind::kTranslated;
    return request;
  }
  F fault(bool write, std::uint64_t address = kPage) { return t.fault(translated(address, write)); }

  Tables t;
};

TEST_F(Permissions, SEC_01_AWriteToAPageThatIsPermittedPasses) {
  permit(kTop, 3);
  const WalkResult result = t.walk(translated(kPage + 0x123, true));
  EXPECT_EQ(result.outcome, WalkOutcome::kTranslated);
  EXPECT_EQ(result.address, kPage + 0x123);
  EXPECT_TRUE(result.read && result.write);
}

TEST_F(Permissions, SEC_02_ReadsAndWritesArePermittedApart) {
  permit(kTop, 1);
  EXPECT_EQ(fault(false), F::kNone);
  EXPECT_EQ(fault(true), F::kPermissionDenied);
  permit(kTop, 2);
  EXPECT_EQ(fault(false), F::kPermissionDenied);
  EXPECT_EQ(fault(true), F::kNone);
  permit(kTop, 0);
  EXPECT_EQ(fault(false), F::kPermissionDenied);
  EXPECT_EQ(fault(true), F::kPermissionDenied);
}

TEST_F(Permissions, SEC_02_ADeniedRequestIsRecordedUnlessFpdKeepsItBack) {
  EXPECT_TRUE(t.walk(translated(kPage, true)).is_recorded);
  t.set_pasid(kPasid, 1, 2, 0, 2);
  point(kPasid, kTop | 1);
  const WalkResult result = t.walk(translated(kPage, true));
  EXPECT_EQ(result.fault, F::kPermissionDenied);
  EXPECT_FALSE(result.is_recorded);
}

TEST_F(Permissions, SEC_08_PagesNextToAPermittedOneAreNot) {
  permit(kTop, 3);
  EXPECT_EQ(fault(false, kPage - 1), F::kPermissionDenied);
  EXPECT_EQ(fault(false, kPage + 0xfff), F::kNone);
  EXPECT_EQ(fault(false, kPage + 0x1000), F::kPermissionDenied);
  for (unsigned bit = 12; bit < 64; ++bit) {
    EXPECT_EQ(fault(false, kPage ^ 1ULL << bit), F::kPermissionDenied) << bit;
  }
}

TEST_F(Permissions, SEC_08_ADomainWithoutATableHasNoPermissions) {
  permit(kTop, 3);
  point(kPasid, kTop);  // not enabled
  EXPECT_EQ(fault(false), F::kPermissionDenied);
  EXPECT_EQ(t.walk(translated(kPage, false)).reads[6], 0U);
}

TEST_F(Permissions, DHI_19_WithoutPasidThatOfTheContextCounts) {
  permit(kTop, 3);
  EXPECT_EQ(t.fault(translated(kPage, false, {})), F::kPermissionDenied) << "PASID 0 has no table";
  t.context_high = kPasid;
  t.write_structures();
  EXPECT_EQ(t.fault(translated(kPage, false, {})), F::kNone);
  t.offers.rid_pasid = false;
  EXPECT_EQ(t.fault(translated(kPage, false, {})), F::kPermissionDenied);
}

TEST_F(Permissions, SEC_06_TrustOfRequestAndTableMustAgree) {
  permit(kTop, 3);
  WalkRequest request = translated(kPage, false);
  request.is_trusted = true;
  EXPECT_EQ(t.fault(request), F::kPermissionTrust);
  point(kPasid, kTop | 3);
  EXPECT_EQ(t.fault(request), F::kNone);
  request.is_trusted = false;
  EXPECT_EQ(t.fault(request), F::kPermissionTrust);
}

TEST_F(Permissions, SEC_07_TheContextComesFirst) {
  permit(kTop, 3);
  t.context_low &= ~4ULL;  // DTE
  t.write_structures();
  const WalkResult result = t.walk(translated(kPage, false));
  EXPECT_EQ(result.fault, F::kDeviceTlbDisabled);
  EXPECT_EQ(result.total_reads(), 2U);
}

TEST_F(Permissions, IOM_2_1_AWalkReadsAWordALevel) {
  permit(kTop, 3);
  const WalkResult result = t.walk(translated(kPage, false));
  EXPECT_EQ(result.reads[static_cast<unsigned>(TableKind::kPermission)], 4U);
  EXPECT_EQ(result.total_reads(), 8U);
  EXPECT_EQ(result.updates, 0U);
}

// [IOM-2.16]
TEST_F(Permissions, IOM_2_16_LevelsFollowTheAddressesOfTheHost) {
  EXPECT_EQ(permission_levels(36), 3U);
  EXPECT_EQ(permission_levels(44), 3U);
  EXPECT_EQ(permission_levels(45), 4U);
  EXPECT_EQ(permission_levels(52), 4U);
}

TEST_F(Permissions, IOM_2_16_ALargeWordPermitsItsWholeRange) {
  permit(kTop, 0);
  t.memory.write(kTop + 0x2000 + 8, PermissionWord::kPresent | PermissionWord::kLarge |
                                        PermissionWord::kRead);  // the second 64 MiB
  EXPECT_EQ(fault(false, 0x400'0000), F::kNone);
  EXPECT_EQ(fault(false, 0x7ff'ffff), F::kNone);
  EXPECT_EQ(fault(true, 0x400'0000), F::kPermissionDenied);
  EXPECT_EQ(fault(false, 0x3ff'ffff), F::kPermissionDenied);
  EXPECT_EQ(fault(false, 0x800'0000), F::kPermissionDenied);
  EXPECT_EQ(t.walk(translated(0x400'0000, false)).reads[6], 3U);
}

TEST_F(Permissions, IOM_2_16_ReservedBitsOfAWordFault) {
  permit(kTop, 3);
  const std::uint64_t word = kTop + 0x2000;
  const std::uint64_t good = (kTop + 0x3000) | PermissionWord::kPresent;
  for (unsigned bit = 1; bit < 64; ++bit) {
    t.memory.write(word, good | 1ULL << bit);
    const bool is_address = bit >= 12 && bit < 48;
    const bool is_reserved = fault(false) == F::kPermissionReserved;
    EXPECT_EQ(is_reserved, !is_address || (bit == 7)) << bit;
  }
  const std::uint64_t large = PermissionWord::kPresent | PermissionWord::kLarge;
  for (unsigned bit = 1; bit < 64; ++bit) {
    t.memory.write(word, large | PermissionWord::kRead | 1ULL << bit);
    const bool is_defined = bit == 1 || bit == 2 || bit == 7;
    EXPECT_EQ(fault(false), is_defined ? F::kNone : F::kPermissionReserved) << bit;
  }
  t.memory.write(word, 0xfff'ffff'fffeULL);  // not present: nothing else counts
  EXPECT_EQ(fault(false), F::kPermissionDenied);
}

TEST_F(Permissions, IOM_2_15_ReservedBitsOfThePointerFault) {
  permit(kTop, 3);
  for (unsigned bit = 2; bit < 64; ++bit) {
    point(kPasid, kTop | 1 | 1ULL << bit);
    const bool is_reserved = bit < 12 || bit >= 48;
    EXPECT_EQ(fault(false) == F::kPasidEntryReserved, is_reserved) << bit;
  }
  point(kPasid, ~1ULL);  // not enabled: nothing else counts
  EXPECT_EQ(fault(false), F::kPermissionDenied);
  t.map_first(0x1000, kPage | 7);
  WalkRequest plain = t.request_with_pasid(kPasid, 0x1000, false);
  EXPECT_EQ(t.fault(plain), F::kNone);
  point(kPasid, kTop | 0x11);
  EXPECT_EQ(t.fault(plain), F::kPasidEntryReserved);
  t.offers.secure_ats = false;  // then the quadword means nothing
  EXPECT_EQ(t.fault(plain), F::kNone);
}

TEST_F(Permissions, IOM_4_3_ATableThatCannotBeReadRefuses) {
  permit(kTop, 3);
  t.memory.break_at(kTop + 0x1000);
  EXPECT_EQ(fault(false), F::kPermissionAccess);
}

TEST_F(Permissions, SEC_01_AReadOfNoBytesMayGoWhereWritesMay) {
  permit(kTop, 2);
  WalkRequest flush = translated(kPage, false);
  flush.wish.zero_length = true;
  EXPECT_EQ(t.fault(flush), F::kNone);
  permit(kTop, 0);
  EXPECT_EQ(t.fault(flush), F::kPermissionDenied);
}

TEST_F(Permissions, SEC_08_WithoutSecureAtsAnyAddressPasses) {
  t.offers.secure_ats = false;
  const WalkResult result = t.walk(translated(0x1234'5678, true));
  EXPECT_EQ(result.fault, F::kNone);
  EXPECT_EQ(result.total_reads(), 2U);
}

TEST_F(Permissions, SEC_02_OtherKindsOfRequestsAreNotChecked) {
  t.map_first(0x1000, kPage | 7);
  EXPECT_EQ(t.fault(t.request_with_pasid(kPasid, 0x1000, true)), F::kNone);
  WalkRequest ask = t.translation_request(0x1000);
  ask.pasid = Pasid{kPasid};
  const WalkResult answer = t.walk(ask);
  EXPECT_TRUE(answer.write);
  EXPECT_EQ(answer.reads[6], 0U);
}

// [IOM-2.16] What the builder writes is what walks read.
class GrantedPages : public ::testing::Test {
 protected:
  GrantedPages() {
    offers.secure_ats = true;
    Mapping mapping;
    mapping.function = Bdf::of(1, 0, 0);
    mapping.pasid = Pasid{kPasid};
    mapping.bytes = 0x1000;
    builder.map(mapping);
    grant.function = mapping.function;
    grant.pasid = mapping.pasid;
  }
  GrantedEntries permit(std::uint64_t address, std::uint64_t bytes, PagePermission permission,
                        unsigned unit_bits = kPageBits) {
    grant.address = address;
    grant.bytes = bytes;
    grant.permission = permission;
    grant.unit_bits = unit_bits;
    return builder.permit(grant);
  }
  std::string rights(std::uint64_t address, bool is_trusted = false) {
    std::string text;
    for (const bool write : {false, true}) {
      WalkRequest request;
      request.source = grant.function;
      request.pasid = grant.pasid;
      request.address = address;
      request.kind = WalkKind::kTranslated;
      request.is_trusted = is_trusted;
      request.wish.read = !write;
      request.wish.write = write;
      Walk walk(request, {TableBuilder::kDefaultArea, TableMode::kScalable}, offers);
      text += memory.finish(walk).fault == F::kNone ? (write ? "w" : "r") : "";
    }
    return text;
  }

  TableMemory memory;
  IommuCapabilities offers;
  TableBuilder builder{[this](std::uint64_t address, std::uint64_t value) {
    memory.write(address, value);
    return true;
  }};
  PermissionGrant grant;
};

TEST_F(GrantedPages, SEC_01_PagesOfARangeAndNoOthers) {
  permit(0x3'e000, 0x4'4000, {true, false});  // over three words
  EXPECT_EQ(rights(0x3'dfff), "");
  EXPECT_EQ(rights(0x3'e000), "r");
  EXPECT_EQ(rights(0x5'5555), "r");
  EXPECT_EQ(rights(0x8'1fff), "r");
  EXPECT_EQ(rights(0x8'2000), "");
  permit(0x4'0000, 0x1000, {true, true});
  permit(0x4'1000, 0x1000, {false, false});
  EXPECT_EQ(rights(0x3'f000), "r");
  EXPECT_EQ(rights(0x4'0000), "rw");
  EXPECT_EQ(rights(0x4'1000), "");
  EXPECT_EQ(rights(0x4'2000), "r");
}

TEST_F(GrantedPages, IOM_2_16_WordsAreToldFromTheTop) {
  const GrantedEntries made = permit(kPage, 0x1000, {true, true});
  EXPECT_EQ(made.pointer, 0x400'3140U + 24);
  EXPECT_EQ(made.words, (std::vector<std::uint64_t>{0x400'8000, 0x400'9000, 0x400'a000,
                                                    0x400'b000 + 8 * (kPage >> 17)}));
  EXPECT_EQ(memory.read(made.pointer), 0x400'8001U);
  EXPECT_EQ(memory.read(made.words.back()), 3ULL << 2 * (kPage >> 12 & 31));
}

TEST_F(GrantedPages, IOM_2_16_LargeUnitsAreOneWordEach) {
  permit(std::uint64_t{2} << 35, std::uint64_t{1} << 35, {false, true}, 35);
  EXPECT_EQ(rights((std::uint64_t{3} << 35) - 1), "w");
  EXPECT_EQ(rights(std::uint64_t{3} << 35), "");
  permit(0x400'0000, 0x800'0000, {true, true}, 26);
  EXPECT_EQ(rights(0xbff'ffff), "rw");
  EXPECT_THROW(permit(0x400'0000, 0x1000, {true, true}), std::invalid_argument);
  permit(0x400'0000, 0x400'0000, {false, false}, 26);
  EXPECT_EQ(rights(0x400'0000), "");
  permit(0x400'0000, 0x1000, {true, true});
  EXPECT_EQ(rights(0x400'0000), "rw");
  EXPECT_THROW(permit(0x400'0000, 0x400'0000, {true, true}, 26), std::invalid_argument);
}

TEST_F(GrantedPages, SEC_06_TrustIsOfTheDomain) {
  grant.is_trusted = true;
  permit(kPage, 0x1000, {true, true});
  EXPECT_EQ(rights(kPage), "");
  EXPECT_EQ(rights(kPage, true), "rw");
  grant.is_trusted.reset();
  permit(0, 0x1000, {true, true});
  EXPECT_EQ(rights(kPage, true), "rw");
  grant.is_trusted = false;
  permit(0, 0x1000, {true, true});
  EXPECT_EQ(rights(kPage), "rw");
}

TEST_F(GrantedPages, SEC_01_WhatCannotBePermittedIsRefused) {
  grant.pasid = Pasid{6};
  EXPECT_THROW(permit(0, 0x1000, {true, true}), std::invalid_argument);
  grant.pasid = Pasid{kPasid};
  EXPECT_THROW(permit(1ULL << 48, 0x1000, {true, true}), std::invalid_argument);
  EXPECT_THROW(permit((1ULL << 48) - 0x1000, 0x2000, {true, true}), std::invalid_argument);
  permit((1ULL << 48) - 0x1000, 0x1000, {true, true});
  EXPECT_EQ(rights((1ULL << 48) - 1), "rw");
}

}  // namespace
}  // namespace flitwise::test::walk_permission_test
