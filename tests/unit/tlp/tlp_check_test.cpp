// SPDX-License-Identifier: Apache-2.0
// Each way a TLP can be malformed, and its well-formed neighbour.
#include "tlp/tlp_check.h"

#include <gtest/gtest.h>

namespace flitwise::tlp_check_test {
namespace {

Tlp memory(TlpType type, std::uint64_t address, std::uint16_t length_dw,
           std::uint8_t first_be = 0xf, int last_be = -1) {
  Tlp tlp;
  tlp.type = type;
  tlp.address = address;
  tlp.is_4dw = address >> 32 != 0;
  tlp.length_dw = length_dw;
  tlp.first_be = first_be;
  tlp.last_be = static_cast<std::uint8_t>(last_be >= 0 ? last_be : length_dw > 1 ? 0xf : 0);
  return tlp;
}

Tlp message(TlpType type, MsgRouting routing, std::uint8_t code, std::uint16_t length_dw = 0) {
  Tlp tlp;
  tlp.type = type;
  tlp.routing = routing;
  tlp.message_code = code;
  tlp.length_dw = length_dw;
  return tlp;
}

TEST(TlpCheck, LNK_2_8_OneDwHasNoLastByteEnables) {
  EXPECT_EQ(check_format(memory(TlpType::kMWr, 0, 1, 0xf, 0)), std::nullopt);
  EXPECT_EQ(check_format(memory(TlpType::kMWr, 0, 1, 0xf, 1)), TlpViolation::kBadByteEnables);
}

TEST(TlpCheck, LNK_2_8_LongerRequestsHaveBothByteEnables) {
  EXPECT_EQ(check_format(memory(TlpType::kMWr, 4, 3, 0x8, 1)), std::nullopt);
  EXPECT_EQ(check_format(memory(TlpType::kMWr, 0, 2, 0xf, 0)), TlpViolation::kBadByteEnables);
  EXPECT_EQ(check_format(memory(TlpType::kMRd, 0, 2, 0, 0xf)), TlpViolation::kBadByteEnables);
  EXPECT_EQ(check_format(memory(TlpType::kMRd, 0, 3, 0xf, 0)), TlpViolation::kBadByteEnables);
}

TEST(TlpCheck, LNK_2_9_GapsOnlyInOneDwOrAnAlignedQuadword) {
  EXPECT_EQ(check_format(memory(TlpType::kMWr, 4, 1, 0x5)), std::nullopt);
  EXPECT_EQ(check_format(memory(TlpType::kMWr, 8, 2, 0x5, 0xa)), std::nullopt);
  EXPECT_EQ(check_format(memory(TlpType::kMWr, 4, 2, 0x5, 0xf)), TlpViolation::kBadByteEnables);
  EXPECT_EQ(check_format(memory(TlpType::kMWr, 8, 3, 0x7, 0xf)), TlpViolation::kBadByteEnables);
  EXPECT_EQ(check_format(memory(TlpType::kMWr, 8, 3, 0xe, 0xe)), TlpViolation::kBadByteEnables);
}

TEST(TlpCheck, LNK_2_10_ZeroLengthReadIsFine) {
  EXPECT_EQ(check_format(memory(TlpType::kMRd, 0x1000, 1, 0, 0)), std::nullopt);
}

TEST(TlpCheck, LNK_2_15_ByteEnablesWithHintAreASteeringTag) {
  Tlp tlp = memory(TlpType::kMRd, 0, 4, 0x5, 0xa);
  EXPECT_EQ(check_format(tlp), TlpViolation::kBadByteEnables);
  tlp.has_processing_hint = true;
  EXPECT_EQ(check_format(tlp), std::nullopt);
}

TEST(TlpCheck, LNK_9_14_NoRequestCrosses4KiB) {
  for (const TlpType type : {TlpType::kMRd, TlpType::kMRdLk, TlpType::kMWr, TlpType::kDMWr}) {
    EXPECT_EQ(check_format(memory(type, 0x1'0000'0ff8, 2)), std::nullopt);
    EXPECT_EQ(check_format(memory(type, 0x1'0000'0ffc, 2)), TlpViolation::kCrosses4KiB);
    EXPECT_EQ(check_format(memory(type, 0x3000, 1024)), std::nullopt);
    EXPECT_EQ(check_format(memory(type, 0x3004, 1024)), TlpViolation::kCrosses4KiB);
  }
}

TEST(TlpCheck, LNK_1_5_AddressTypeThreeAndTranslationRequestsThatAreNoReads) {
  Tlp tlp = memory(TlpType::kMRd, 0x1000, 2);
  tlp.at = AddressType::kTranslationRequest;
  EXPECT_EQ(check_format(tlp), std::nullopt);
  tlp.type = TlpType::kMWr;
  EXPECT_EQ(check_format(tlp), TlpViolation::kReservedAddressType);
  tlp.at = AddressType::kReserved;
  EXPECT_EQ(check_format(tlp), TlpViolation::kReservedAddressType);
  tlp.at = AddressType::kTranslated;
  EXPECT_EQ(check_format(tlp), std::nullopt);
}

Tlp with_address_type(TlpType type, AddressType at) {
  Tlp tlp;
  tlp.type = type;
  tlp.at = at;
  return tlp;
}

TEST(TlpCheck, ATR_03_NoWriteAsksForTranslations) {
  const auto asks = AddressType::kTranslationRequest;
  EXPECT_TRUE(has_wrong_address_type(with_address_type(TlpType::kMWr, asks)));
  EXPECT_FALSE(has_wrong_address_type(with_address_type(TlpType::kMRd, asks)));
  EXPECT_FALSE(has_wrong_address_type(with_address_type(TlpType::kMWr, AddressType::kTranslated)));
}

TEST(TlpCheck, ATR_04_OnlyMemoryRequestsHaveAnAddressType) {
  const auto asks = AddressType::kTranslationRequest;
  for (const TlpType type : {TlpType::kFetchAdd, TlpType::kSwap, TlpType::kCas}) {
    EXPECT_TRUE(has_wrong_address_type(with_address_type(type, asks)));
  }
  for (const TlpType type : {TlpType::kIORd, TlpType::kCfgRd0, TlpType::kMsg}) {
    EXPECT_FALSE(has_wrong_address_type(with_address_type(type, asks)));
  }
}

TEST(TlpCheck, ATR_05_ReservedAddressTypeIsWrong) {
  EXPECT_TRUE(has_wrong_address_type(with_address_type(TlpType::kMRd, AddressType::kReserved)));
  EXPECT_TRUE(has_wrong_address_type(with_address_type(TlpType::kMWr, AddressType::kReserved)));
}

TEST(TlpCheck, LNK_4_1_TranslationRequestsAreWholePairsOfDws) {
  Tlp tlp = memory(TlpType::kMRd, 0x1000, 3);
  tlp.at = AddressType::kTranslationRequest;
  EXPECT_EQ(check_format(tlp), TlpViolation::kBadLength);
  tlp = memory(TlpType::kMRd, 0x1000, 2, 0xe, 0xf);
  tlp.at = AddressType::kTranslationRequest;
  EXPECT_EQ(check_format(tlp), TlpViolation::kBadByteEnables);
}

TEST(TlpCheck, LNK_2_12_OperandSizesOfAtomics) {
  for (const std::uint16_t dws : std::initializer_list<std::uint16_t>{1, 2, 3, 4, 8}) {
    EXPECT_EQ(check_format(memory(TlpType::kFetchAdd, 0, dws)).has_value(), dws > 2) << dws;
    EXPECT_EQ(check_format(memory(TlpType::kSwap, 0, dws)).has_value(), dws > 2) << dws;
    EXPECT_EQ(check_format(memory(TlpType::kCas, 0, dws)).has_value(), dws % 2 != 0) << dws;
  }
}

TEST(TlpCheck, LNK_2_17_AtomicsAreAlignedToTheirOperand) {
  EXPECT_EQ(check_format(memory(TlpType::kFetchAdd, 4, 1)), std::nullopt);
  EXPECT_EQ(check_format(memory(TlpType::kFetchAdd, 4, 2)), TlpViolation::kUnalignedAtomic);
  EXPECT_EQ(check_format(memory(TlpType::kCas, 8, 4)), std::nullopt);
  EXPECT_EQ(check_format(memory(TlpType::kCas, 8, 8)), TlpViolation::kUnalignedAtomic);
}

TEST(TlpCheck, LNK_2_11_ConfigurationAndIoCarryOneDwAndPlainFields) {
  for (const TlpType type : {TlpType::kIORd, TlpType::kIOWr, TlpType::kCfgRd0, TlpType::kCfgWr0,
                             TlpType::kCfgRd1, TlpType::kCfgWr1}) {
    Tlp tlp = memory(type, 0, 1);
    EXPECT_EQ(check_format(tlp), std::nullopt);
    tlp.length_dw = 2;
    EXPECT_EQ(check_format(tlp), TlpViolation::kBadLength);
    tlp.length_dw = 1;
    tlp.last_be = 1;
    EXPECT_EQ(check_format(tlp), TlpViolation::kBadByteEnables);
    tlp.last_be = 0;
    tlp.tc = 1;
    EXPECT_EQ(check_format(tlp), TlpViolation::kBadConfigOrIoFields);
    tlp.tc = 0;
    tlp.relaxed_ordering = true;
    EXPECT_EQ(check_format(tlp), TlpViolation::kBadConfigOrIoFields);
  }
}

TEST(TlpCheck, LNK_2_16_MessagesHaveTheRoutingOfTheirCode) {
  EXPECT_EQ(check_format(message(TlpType::kMsg, MsgRouting::kToRootComplex, msg::kErrFatal)),
            std::nullopt);
  EXPECT_EQ(check_format(message(TlpType::kMsg, MsgRouting::kBroadcast, msg::kErrFatal)),
            TlpViolation::kBadMessageRouting);
  EXPECT_EQ(check_format(message(TlpType::kMsg, MsgRouting::kLocal, msg::kAssertIntA + 3)),
            std::nullopt);
  EXPECT_EQ(check_format(message(TlpType::kMsg, MsgRouting::kById, msg::kDeassertIntA + 3)),
            TlpViolation::kBadMessageRouting);
  EXPECT_EQ(check_format(message(TlpType::kMsg, MsgRouting::kGathered, msg::kVendorType1)),
            TlpViolation::kBadMessageRouting);
}

TEST(TlpCheck, LNK_12_1_SomeMessagesTravelOnTrafficClass0Alone) {
  const auto on_class_3 = [](MsgRouting routing, std::uint8_t code) {
    Tlp tlp = message(TlpType::kMsg, routing, code);
    EXPECT_EQ(check_format(tlp), std::nullopt) << int{code};
    tlp.tc = 3;
    return check_format(tlp);
  };
  for (const std::uint8_t code : {msg::kErrCor, msg::kErrNonFatal, msg::kErrFatal, msg::kPmPme}) {
    EXPECT_EQ(on_class_3(MsgRouting::kToRootComplex, code), TlpViolation::kBadMessageClass);
  }
  for (const std::uint8_t code :
       {msg::kLtr, msg::kObff, msg::kPmActiveStateNak, msg::kSetSlotPowerLimit, msg::kPtmRequest,
        msg::kPtmResponse, msg::kAssertIntA, std::uint8_t{0x27}}) {
    EXPECT_EQ(on_class_3(MsgRouting::kLocal, code), TlpViolation::kBadMessageClass) << int{code};
  }
  for (const std::uint8_t code : {msg::kUnlock, msg::kPmeTurnOff}) {
    EXPECT_EQ(on_class_3(MsgRouting::kBroadcast, code), TlpViolation::kBadMessageClass);
  }
  EXPECT_EQ(on_class_3(MsgRouting::kGathered, msg::kPmeToAck), TlpViolation::kBadMessageClass);
  EXPECT_EQ(on_class_3(MsgRouting::kById, msg::kInvalidateCompletion), std::nullopt);
  EXPECT_EQ(on_class_3(MsgRouting::kToRootComplex, msg::kVendorType0), std::nullopt);
  EXPECT_EQ(on_class_3(MsgRouting::kToRootComplex, msg::kVendorType1), std::nullopt);
}

TEST(TlpCheck, LNK_12_2_IntxMessagesComeFromBelow) {
  TlpLimits limits;
  const Tlp tlp = message(TlpType::kMsg, MsgRouting::kLocal, msg::kDeassertIntA + 1);
  EXPECT_EQ(check_tlp(tlp, limits), std::nullopt);
  limits.is_below = true;
  EXPECT_EQ(check_tlp(tlp, limits), TlpViolation::kInterruptFromAbove);
  EXPECT_EQ(check_tlp(message(TlpType::kMsg, MsgRouting::kLocal, msg::kLtr), limits), std::nullopt);
}

TEST(TlpCheck, LNK_4_4_InvalidateRequestCarriesTwoDws) {
  EXPECT_EQ(check_format(message(TlpType::kMsgD, MsgRouting::kById, msg::kInvalidateRequest, 2)),
            std::nullopt);
  EXPECT_EQ(check_format(message(TlpType::kMsgD, MsgRouting::kById, msg::kInvalidateRequest, 1)),
            TlpViolation::kBadLength);
  EXPECT_EQ(check_format(message(TlpType::kMsg, MsgRouting::kById, msg::kInvalidateRequest)),
            TlpViolation::kBadMessageKind);
  EXPECT_EQ(check_format(message(TlpType::kMsgD, MsgRouting::kToRootComplex, msg::kPageRequest, 1)),
            TlpViolation::kBadMessageKind);
}

TEST(TlpCheck, LNK_3_7_PasidOnlyWhereItMayBe) {
  Tlp tlp = memory(TlpType::kMWr, 0, 1);
  tlp.has_pasid = true;
  EXPECT_EQ(check_format(tlp), std::nullopt);
  for (const TlpType type : {TlpType::kCpl, TlpType::kCfgRd0, TlpType::kIOWr, TlpType::kMRdLk}) {
    tlp.type = type;
    EXPECT_EQ(check_format(tlp), TlpViolation::kPasidNotPermitted) << name_of(type);
  }
  tlp = message(TlpType::kMsg, MsgRouting::kToRootComplex, msg::kErrCor);
  tlp.has_pasid = true;
  EXPECT_EQ(check_format(tlp), TlpViolation::kPasidNotPermitted);
}

TEST(TlpCheck, LNK_9_15_MpsBoundsEveryPayloadAndNoReceiverBoundsReads) {
  const TlpLimits limits;
  EXPECT_EQ(check_tlp(memory(TlpType::kMWr, 0, 64), limits), std::nullopt);
  EXPECT_EQ(check_tlp(memory(TlpType::kMWr, 0, 65), limits), TlpViolation::kExceedsMps);
  EXPECT_EQ(check_tlp(memory(TlpType::kCplD, 0, 65), limits), TlpViolation::kExceedsMps);
  EXPECT_EQ(check_tlp(memory(TlpType::kMRd, 0, 1024), limits), std::nullopt);
  EXPECT_EQ(check_tlp(memory(TlpType::kMRdLk, 0, 1024), limits), std::nullopt);
  TlpLimits open;
  open.mps = 0;
  EXPECT_EQ(check_tlp(memory(TlpType::kMWr, 0, 1024), open), std::nullopt);
  EXPECT_EQ(check_tlp(memory(TlpType::kMRd, 0, 1024), open), std::nullopt);
}

TEST(TlpCheck, LNK_3_8_PasidOnTranslatedRequestsNeedsSupport) {
  Tlp tlp = memory(TlpType::kMWr, 0, 1);
  tlp.has_pasid = true;
  TlpLimits limits;
  limits.has_pasid = false;
  EXPECT_EQ(check_tlp(tlp, limits), TlpViolation::kPasidNotEnabled);
  limits.has_pasid = true;
  limits.has_translated_pasid = false;
  EXPECT_EQ(check_tlp(tlp, limits), std::nullopt);
  tlp.at = AddressType::kTranslated;
  EXPECT_EQ(check_tlp(tlp, limits), TlpViolation::kTranslatedWithPasid);
}

TEST(TlpCheck, LNK_3_2_ReceiverBoundsEndEndPrefixes) {
  Tlp tlp = memory(TlpType::kMWr, 0, 1);
  tlp.has_pasid = true;
  tlp.other_prefix_count = 2;
  tlp.other_prefixes = {0x8e000000, 0x9e000000, 0, 0};
  TlpLimits limits;
  limits.max_end_end_prefixes = 2;
  EXPECT_EQ(check_tlp(tlp, limits), std::nullopt);
  limits.max_end_end_prefixes = 1;
  EXPECT_EQ(check_tlp(tlp, limits), TlpViolation::kTooManyPrefixes);
}

}  // namespace
}  // namespace flitwise::tlp_check_test
