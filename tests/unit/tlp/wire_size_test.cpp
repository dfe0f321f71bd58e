// SPDX-License-Identifier: Apache-2.0
// Sizes of packets on the wire, by cause.
#include "tlp/wire_size.h"

#include <gtest/gtest.h>

namespace flitwise::wire_size_test {
namespace {

Tlp write64(std::uint16_t length_dw) {
  Tlp tlp;
  tlp.type = TlpType::kMWr;
  tlp.is_4dw = true;
  tlp.length_dw = length_dw;
  tlp.address = 0x1'0000'0000;
  return tlp;
}

TEST(WireSize, LNK_5_3_WriteOf64BytesTakes88BytesWith4DwHeader) {
  const WireSize size = wire_size_of(write64(16), 64);
  EXPECT_EQ(size.header, 16U * 8);
  EXPECT_EQ(size.payload, 64U * 8);
  EXPECT_EQ(size.framing, 32U);
  EXPECT_EQ(size.crc, 32U);
  EXPECT_EQ(size.identity + size.padding + size.dllp, 0U);
  EXPECT_EQ(size.total(), 88U * 8);
}

TEST(WireSize, LNK_5_3_PayloadIsPaddedToWholeDws) {
  const WireSize size = wire_size_of(write64(2), 5);
  EXPECT_EQ(size.payload, 40U);
  EXPECT_EQ(size.padding, 24U);
  EXPECT_EQ(size.total(), 32U * 8);
}

// Messages of the protocol and translations carry no payload of anybody's; those of vendors do.
TEST(WireSize, DataOfTheProtocolCountsAsHeader) {
  PacketPool pool;
  PacketRef packet = pool.make(PacketKind::kTlp);
  packet->tlp.type = TlpType::kMsgD;
  packet->tlp.message_code = msg::kInvalidateRequest;
  packet->tlp.length_dw = 2;
  EXPECT_EQ(wire_size_of(*packet).header, (16U + 8) * 8);
  EXPECT_EQ(wire_size_of(*packet).payload + wire_size_of(*packet).padding, 0U);
  EXPECT_EQ(size_in_flits(*packet).payload + size_in_flits(*packet).padding, 0U);
  EXPECT_EQ(wire_size_of(*packet).total(), (8U + tlp_bytes(packet->tlp)) * 8);
  packet->tlp.message_code = msg::kVendorType1;
  packet->payload_bytes = 8;
  EXPECT_EQ(wire_size_of(*packet).payload, 64U);
  PacketRef completion = pool.make(PacketKind::kTlp);
  completion->tlp.type = TlpType::kCplD;
  completion->tlp.length_dw = 4;
  completion->has_protocol_data = true;
  EXPECT_EQ(wire_size_of(*completion).payload + wire_size_of(*completion).padding, 0U);
  EXPECT_EQ(wire_size_of(*completion).header, (12U + 16) * 8);
  EXPECT_EQ(size_in_flits(*completion).payload + size_in_flits(*completion).padding, 0U);
}

TEST(WireSize, LNK_3_6_PasidPrefixIsIdentityAndOtherPrefixesAreHeader) {
  Tlp tlp = write64(1);
  tlp.has_pasid = true;
  tlp.other_prefix_count = 1;
  tlp.other_prefixes[0] = 0x90000000;
  const WireSize size = wire_size_of(tlp, 4);
  EXPECT_EQ(size.identity, 32U);
  EXPECT_EQ(size.header, 20U * 8);
  EXPECT_EQ(size.total(), (8U + tlp_bytes(tlp)) * 8);
}

TEST(WireSize, LNK_1_6_EcrcIsCrc) {
  Tlp tlp = write64(1);
  tlp.has_ecrc = true;
  EXPECT_EQ(wire_size_of(tlp, 4).crc, 64U);
  EXPECT_EQ(wire_size_of(tlp, 4).total(), (8U + tlp_bytes(tlp)) * 8);
}

TEST(WireSize, LNK_5_3_ReadCarriesNoPayloadWhateverItsLength) {
  Tlp tlp = write64(128);
  tlp.type = TlpType::kMRd;
  EXPECT_EQ(wire_size_of(tlp, 0).total(), 24U * 8);
}

TEST(WireSize, D8_AllBytesOfAnAllocAreIdentity) {
  Tlp tlp;
  tlp.type = TlpType::kMsgD;
  tlp.length_dw = 4;
  const WireSize size = wire_size_of(tlp, 16, HandlePurpose::kAlloc);
  EXPECT_EQ(size.identity, (8U + 16 + 16) * 8);
  EXPECT_EQ(size.total(), size.identity);
}

TEST(WireSize, LNK_5_6_DllpTakesEightBytes) {
  EXPECT_EQ(wire_size_of(Dllp{}).total(), 64U);
  EXPECT_EQ(wire_size_of(Dllp{}).dllp, 64U);
}

TEST(Tlp, LNK_1_3_EveryTypeHasItsFlowControlClass) {
  EXPECT_EQ(fc_class(TlpType::kMWr), FcClass::kPosted);
  EXPECT_EQ(fc_class(TlpType::kMsg), FcClass::kPosted);
  EXPECT_EQ(fc_class(TlpType::kMsgD), FcClass::kPosted);
  for (const TlpType type :
       {TlpType::kMRd, TlpType::kMRdLk, TlpType::kIORd, TlpType::kIOWr, TlpType::kCfgRd0,
        TlpType::kCfgWr1, TlpType::kFetchAdd, TlpType::kSwap, TlpType::kCas, TlpType::kDMWr}) {
    EXPECT_EQ(fc_class(type), FcClass::kNonPosted) << name_of(type);
  }
  for (const TlpType type : {TlpType::kCpl, TlpType::kCplD, TlpType::kCplLk, TlpType::kCplDLk}) {
    EXPECT_EQ(fc_class(type), FcClass::kCompletion) << name_of(type);
  }
}

TEST(Tlp, LNK_8_1_DataCreditsCountSixteenBytes) {
  EXPECT_EQ(data_credits(write64(1)), 1U);
  EXPECT_EQ(data_credits(write64(4)), 1U);
  EXPECT_EQ(data_credits(write64(5)), 2U);
  EXPECT_EQ(data_credits(write64(1024)), 256U);
  Tlp read = write64(1024);
  read.type = TlpType::kMRd;
  EXPECT_EQ(data_credits(read), 0U);
  Tlp cas = write64(8);
  cas.type = TlpType::kCas;
  EXPECT_EQ(data_credits(cas), 2U);
}

TEST(Tlp, LNK_2_6_MessagesAlwaysHaveFourDwHeaders) {
  Tlp tlp;
  tlp.type = TlpType::kMsg;
  EXPECT_EQ(header_bytes(tlp), 16U);
  tlp.type = TlpType::kCplD;
  tlp.is_4dw = true;
  EXPECT_EQ(header_bytes(tlp), 12U);
}

}  // namespace
}  // namespace flitwise::wire_size_test
