// SPDX-License-Identifier: Apache-2.0
// What each form of identity costs, what stays in full, and that the receiver reads it back.
#include "tlp/identity.h"

#include <gtest/gtest.h>

#include <vector>

#include "tlp/tlp_codec.h"
#include "tlp/wire_size.h"

namespace flitwise::identity_test {
namespace {

const DeviceIdentity kDomain{Bdf::of(1, 2, 3), Pasid{0x12345}, false, true};

Tlp request(TlpType type, AddressType at = AddressType::kUntranslated) {
  Tlp tlp;
  tlp.type = type;
  tlp.is_4dw = true;
  tlp.length_dw = 16;
  tlp.at = at;
  tlp.tag = 0x5a;
  tlp.first_be = tlp.last_be = 0xf;
  tlp.address = 0x2'0000'0000;
  return tlp;
}

Tlp message(TlpType type, std::uint8_t code) {
  Tlp tlp;
  tlp.type = type;
  tlp.message_code = code;
  tlp.length_dw = type == TlpType::kMsgD ? 2 : 0;
  return tlp;
}

IdentityForm dhi(DhiForm form, unsigned bits = 8) {
  return {Identity::kDhi, form, bits};
}

unsigned bytes_with(Tlp tlp, const IdentityForm& form, std::optional<Dhi> handle = Dhi{7}) {
  apply_identity(tlp, form, kDomain, handle);
  return wire_size_of(tlp, data_bytes(tlp)).total() / 8;
}

const IdentityForm kFull{Identity::kBdfPasid, DhiForm::kRidDirect, 8};

TEST(Identity, FormsNoneAndBdfAreTheSameBytes) {
  Tlp none = request(TlpType::kMWr);
  Tlp bdf = none;
  apply_identity(none, {Identity::kNone, DhiForm::kRidDirect, 8}, kDomain, std::nullopt);
  apply_identity(bdf, {Identity::kBdf, DhiForm::kRidDirect, 8}, kDomain, std::nullopt);
  EXPECT_EQ(none.requester_id, bdf.requester_id);
  EXPECT_FALSE(none.has_pasid || bdf.has_pasid);
  EXPECT_EQ(tlp_bytes(none), tlp_bytes(bdf));
}

TEST(Identity, FormBdfPasidCostsFourBytesMoreThanBdf) {
  for (const TlpType type : {TlpType::kMWr, TlpType::kMRd, TlpType::kFetchAdd, TlpType::kDMWr}) {
    EXPECT_EQ(bytes_with(request(type), kFull),
              bytes_with(request(type), {Identity::kBdf, DhiForm::kRidDirect, 8}) + 4);
  }
}

// [DHI-31]
TEST(Identity, FormRidSavesFourBytesOnReadsAndWrites) {
  for (const DhiForm form : {DhiForm::kRidDirect, DhiForm::kRidFabric}) {
    for (const TlpType type : {TlpType::kMWr, TlpType::kMRd, TlpType::kCas}) {
      EXPECT_EQ(bytes_with(request(type), dhi(form)) + 4, bytes_with(request(type), kFull));
    }
  }
}

TEST(Identity, FormRidPutsTheHandleIntoTheRequesterId) {
  Tlp tlp = request(TlpType::kMRd);
  apply_identity(tlp, dhi(DhiForm::kRidDirect), kDomain, Dhi{0x1a5});
  EXPECT_TRUE(tlp.id_is_handle);
  EXPECT_EQ(tlp.requester_id.value, 0x1a5);
  EXPECT_EQ(tlp.tag, 0x5a);
  EXPECT_FALSE(tlp.has_pasid);
}

TEST(Identity, FormTagSavesFourBytesOnWritesAndNothingOnReads) {
  const IdentityForm form = dhi(DhiForm::kTag, 10);
  EXPECT_EQ(bytes_with(request(TlpType::kMWr), form) + 4,
            bytes_with(request(TlpType::kMWr), kFull));
  EXPECT_EQ(bytes_with(request(TlpType::kMRd), form), bytes_with(request(TlpType::kMRd), kFull));
  EXPECT_EQ(bytes_with(request(TlpType::kSwap), form), bytes_with(request(TlpType::kSwap), kFull));
}

TEST(Identity, FormTagUsesT9AndT8AndKeepsTheRequesterId) {
  Tlp tlp = request(TlpType::kMWr);
  apply_identity(tlp, dhi(DhiForm::kTag, 10), kDomain, Dhi{0x3a5});
  EXPECT_EQ(tlp.tag, 0x3a5);
  EXPECT_EQ(tlp.requester_id, kDomain.bdf);
}

// The steering tag stands where the handle would. [PIO-8.3]
TEST(Identity, PIO_8_3_FormTagGoesInFullBesideASteeringTag) {
  const IdentityForm form = dhi(DhiForm::kTag, 10);
  Tlp tlp = request(TlpType::kMWr);
  tlp.has_processing_hint = true;
  tlp.tag = 0x5a;
  apply_identity(tlp, form, kDomain, Dhi{0xa5});
  EXPECT_EQ(tlp.tag, 0x5a);
  EXPECT_FALSE(tlp.id_is_handle);
  EXPECT_TRUE(tlp.has_pasid);
  tlp.id_is_handle = true;  // from somebody who does not keep to that
  EXPECT_FALSE(handle_of(tlp, form));
}

TEST(Identity, FormPrefixSavesNothing) {
  for (const TlpType type : {TlpType::kMWr, TlpType::kMRd}) {
    EXPECT_EQ(bytes_with(request(type), dhi(DhiForm::kPrefix)), bytes_with(request(type), kFull));
  }
  Tlp tlp = request(TlpType::kMWr);
  apply_identity(tlp, dhi(DhiForm::kPrefix), kDomain, Dhi{0xabc});
  EXPECT_EQ(tlp.other_prefixes[0], 0x9e000abcU);
  EXPECT_EQ(wire_size_of(tlp, 64).identity, 32U);
}

// [DHI D23]
TEST(Identity, FormOhcHasTheHandleInPlaceOfThePasid) {
  Tlp tlp = request(TlpType::kMWr);
  apply_identity(tlp, dhi(DhiForm::kOhc), kDomain, Dhi{0xabc});
  EXPECT_TRUE(tlp.id_is_handle);
  EXPECT_TRUE(tlp.has_pasid);
  EXPECT_EQ(to_int(tlp.pasid), 0xabcU);
  EXPECT_EQ(tlp.requester_id, kDomain.bdf);
  const WireIdentity found = identity_of(tlp, dhi(DhiForm::kOhc));
  EXPECT_EQ(found.handle, OptionalId<Dhi>(Dhi{0xabc}));
  EXPECT_FALSE(found.full.pasid.has_value());
  EXPECT_EQ(flit_mode_size_of(tlp, 64).identity, 32U);
}

TEST(Identity, TooWideTagIsRefused) {
  EXPECT_EQ(refusal_of(dhi(DhiForm::kOhc)), nullptr);
  EXPECT_NE(refusal_of(dhi(DhiForm::kTag, 11)), nullptr);
  EXPECT_EQ(refusal_of(dhi(DhiForm::kTag, 10)), nullptr);
  EXPECT_EQ(refusal_of(dhi(DhiForm::kRidDirect, 12)), nullptr);
  EXPECT_EQ(refusal_of({Identity::kBdf, DhiForm::kOhc, 8}), nullptr);
}

TEST(Identity, AHandleSavesNothingWithoutAPasid) {
  const DeviceIdentity plain{kDomain.bdf, std::nullopt, false, false};
  Tlp full = request(TlpType::kMWr, AddressType::kTranslated);
  Tlp handle = full;
  apply_identity(full, kFull, plain, std::nullopt);
  apply_identity(handle, dhi(DhiForm::kRidDirect), plain, Dhi{1});
  EXPECT_EQ(tlp_bytes(full), tlp_bytes(handle));
}

TEST(Identity, MissWithoutHandleGoesInFull) {
  Tlp tlp = request(TlpType::kMWr);
  apply_identity(tlp, dhi(DhiForm::kRidDirect), kDomain, std::nullopt);
  EXPECT_FALSE(tlp.id_is_handle);
  EXPECT_EQ(identity_of(tlp, dhi(DhiForm::kRidDirect)).full, kDomain);
}

TEST(Identity, AlwaysInFull) {
  std::vector<Tlp> packets;
  for (const TlpType type : {TlpType::kCpl, TlpType::kCplD, TlpType::kCfgRd0, TlpType::kCfgWr1,
                             TlpType::kIORd, TlpType::kIOWr, TlpType::kMRdLk}) {
    packets.push_back(request(type));
  }
  for (const std::uint8_t code :
       {msg::kInvalidateCompletion, msg::kPageRequest, msg::kErrCor, msg::kErrFatal, msg::kPmPme,
        msg::kLtr, msg::kPtmRequest, msg::kVendorType1}) {
    packets.push_back(message(TlpType::kMsg, code));
  }
  packets.push_back(message(TlpType::kMsgD, msg::kVendorType1));
  for (const DhiForm form :
       {DhiForm::kRidDirect, DhiForm::kRidFabric, DhiForm::kTag, DhiForm::kPrefix}) {
    for (Tlp tlp : packets) {
      apply_identity(tlp, dhi(form), kDomain, Dhi{7});
      EXPECT_FALSE(tlp.id_is_handle) << name_of(tlp.type) << ' ' << int{tlp.message_code};
    }
  }
  EXPECT_FALSE(may_carry_handle(request(TlpType::kMWr), RequestUse::kInterrupt));
  EXPECT_FALSE(may_carry_pasid(request(TlpType::kMWr), RequestUse::kInterrupt));
}

TEST(Identity, LNK_3_7_CompletionsAndConfigurationNeverGetAPasid) {
  for (const TlpType type : {TlpType::kCplD, TlpType::kCfgRd0, TlpType::kIOWr}) {
    Tlp tlp = request(type);
    apply_identity(tlp, kFull, kDomain, std::nullopt);
    EXPECT_FALSE(tlp.has_pasid) << name_of(type);
  }
  Tlp page = message(TlpType::kMsg, msg::kPageRequest);
  apply_identity(page, kFull, kDomain, std::nullopt);
  EXPECT_TRUE(page.has_pasid);
}

TEST(Identity, D21_InvalidateRequestNamesTheDeviceByHandleAndKeepsTheHostsRequesterId) {
  Tlp tlp = message(TlpType::kMsgD, msg::kInvalidateRequest);
  tlp.routing = MsgRouting::kById;
  tlp.requester_id = Bdf::of(0, 0, 0);
  tlp.tag = 5;
  apply_identity(tlp, dhi(DhiForm::kRidDirect), kDomain, Dhi{9});
  EXPECT_EQ(tlp.message_dw2, 9U << 16);
  EXPECT_EQ(tlp.requester_id, Bdf::of(0, 0, 0));
  EXPECT_EQ(tlp.tag, 5);
  EXPECT_EQ(identity_of(tlp, dhi(DhiForm::kRidDirect)).handle, Dhi{9});
}

// [DHI-39]
TEST(Identity, D21_MessagesOfTheAgentCarryTheHandleInEachFormThatHasRoom) {
  Tlp invalidation = message(TlpType::kMsgD, msg::kInvalidateRequest);
  Tlp response = message(TlpType::kMsg, msg::kPrgResponse);
  for (Tlp* const tlp : {&invalidation, &response}) {
    tlp->routing = MsgRouting::kById;
    tlp->tag = tlp == &response ? 0 : 5;
    tlp->message_dw2 = tlp == &response ? 0x1003 : 0;
  }
  for (const DhiForm form :
       {DhiForm::kRidDirect, DhiForm::kRidFabric, DhiForm::kTag, DhiForm::kPrefix, DhiForm::kOhc}) {
    for (Tlp tlp : {invalidation, response}) {
      const bool is_response = tlp.type == TlpType::kMsg;
      const bool has_room = form != DhiForm::kTag || is_response;
      EXPECT_EQ(has_room_for_handle(tlp, dhi(form)), has_room);
      apply_identity(tlp, dhi(form), kDomain, Dhi{0x35c});
      EXPECT_EQ(tlp.id_is_handle, has_room);
      EXPECT_EQ(tlp.has_pasid, !has_room || form == DhiForm::kOhc);
      EXPECT_EQ(tlp.requester_id, Bdf{}) << "the host's";
      EXPECT_EQ(tlp.message_dw2 & 0xffffU, is_response ? 0x1003U : 0U);
      EXPECT_EQ(tlp.tag, is_response ? (form == DhiForm::kTag ? 0x35c : 0) : 5);
      EXPECT_EQ(tlp.message_dw2 >> 16,
                is_in_requester_id(form) ? 0x35cU : std::uint32_t{kDomain.bdf.value});
      const WireIdentity found = identity_of(tlp, dhi(form));
      EXPECT_EQ(found.handle, has_room ? OptionalId<Dhi>(Dhi{0x35c}) : std::nullopt);
      EXPECT_EQ(found.full.bdf, is_in_requester_id(form) ? Bdf{} : kDomain.bdf);
    }
  }
}

// T9 and T8 stand in each header. [DHI D21]
TEST(Identity, D21_ATagOfTenBitsOfAPrgResponseIsOnTheWire) {
  Tlp tlp = message(TlpType::kMsg, msg::kPrgResponse);
  tlp.routing = MsgRouting::kById;
  apply_identity(tlp, dhi(DhiForm::kTag, 10), kDomain, Dhi{0x35c});
  std::vector<std::uint8_t> bytes;
  encode(tlp, nullptr, 0, bytes);
  const DecodeResult back = decode_tlp(bytes.data(), bytes.size());
  EXPECT_EQ(handle_of(back.tlp, dhi(DhiForm::kTag, 10)), Dhi{0x35c});
}

TEST(Identity, D16_EveryFormIsReadBack) {
  for (const DhiForm form :
       {DhiForm::kRidDirect, DhiForm::kRidFabric, DhiForm::kTag, DhiForm::kPrefix}) {
    Tlp tlp = request(TlpType::kMWr);
    apply_identity(tlp, dhi(form), kDomain, Dhi{0x5c});
    ASSERT_EQ(identity_of(tlp, dhi(form)).handle, Dhi{0x5c});
  }
}

TEST(Identity, HandleBitIsIgnoredWhereNoHandleCanBe) {
  Tlp tlp = request(TlpType::kMRd);
  apply_identity(tlp, kFull, kDomain, std::nullopt);
  tlp.id_is_handle = true;
  EXPECT_FALSE(identity_of(tlp, kFull).handle);
  EXPECT_FALSE(identity_of(tlp, dhi(DhiForm::kTag)).handle);
  EXPECT_FALSE(identity_of(tlp, dhi(DhiForm::kPrefix)).handle);
  EXPECT_EQ(identity_of(tlp, dhi(DhiForm::kPrefix)).full, kDomain);
}

}  // namespace
}  // namespace flitwise::identity_test
