// SPDX-License-Identifier: Apache-2.0
// TLPs to the bytes of flit mode and back: golden headers and OHC, random packets of every kind,
// hostile bytes.
#include <gtest/gtest.h>

#include <algorithm>

#include "codec/packet_json.h"
#include "common/byte_vector.h"
#include "tlp/flit_tlp_codec.h"
#include "tlp/header_layout.h"
#include "tlp/ohc.h"
#include "unit/tlp/random_tlp.h"

namespace flitwise::flit_tlp_codec_test {
namespace {

using test::from_hex;
using test::RandomTlp;

const Bdf kRequester = Bdf::of(1, 2, 3);

ByteVector encoded(const Tlp& tlp, const ByteVector& payload = {}, bool has_spare_ohc_a = false) {
  ByteVector out;
  encode_flit_mode(tlp, has_spare_ohc_a, payload.data(), payload.size(), out);
  return out;
}

// All but payload and trailer.
ByteVector header(Tlp tlp) {
  ByteVector out = encoded(tlp);
  out.resize(out.size() - data_bytes(tlp) - (tlp.has_ecrc ? 4 : 0));
  return out;
}

FlitTlpDecodeResult decoded(const ByteVector& bytes) {
  return decode_flit_mode(bytes.data(), bytes.size());
}
FlitTlpDecodeResult decoded(const std::string& hex) {
  return decoded(from_hex(hex));
}

Tlp memory(TlpType type, std::uint64_t address, std::uint16_t length_dw) {
  Tlp tlp;
  tlp.type = type;
  tlp.is_4dw = address >> 32 != 0;
  tlp.requester_id = kRequester;
  tlp.tag = 0x5a;
  tlp.address = address;
  tlp.length_dw = length_dw;
  tlp.first_be = 0xf;
  tlp.last_be = length_dw > 1 ? 0xf : 0;
  return tlp;
}

Tlp completion(std::uint8_t lower_address) {
  Tlp tlp;
  tlp.type = TlpType::kCplD;
  tlp.completer_id = Bdf::of(3, 0, 0);
  tlp.requester_id = kRequester;
  tlp.tag = 0x5a;
  tlp.byte_count = 200;
  tlp.lower_address = lower_address;
  tlp.length_dw = 16;
  return tlp;
}

TEST(FlitTlpEncoder, LNK_11_13_FirstByteOfEveryKind) {
  constexpr int kNone = -1;
  const std::vector<std::pair<TlpType, std::pair<int, int>>> kRows = {
      {TlpType::kMRd, {0x03, 0x20}},     {TlpType::kMRdLk, {0x01, 0x21}},
      {TlpType::kMWr, {0x40, 0x60}},     {TlpType::kIORd, {0x02, kNone}},
      {TlpType::kIOWr, {0x42, kNone}},   {TlpType::kCfgRd0, {0x04, kNone}},
      {TlpType::kCfgWr0, {0x44, kNone}}, {TlpType::kCfgRd1, {0x05, kNone}},
      {TlpType::kCfgWr1, {0x45, kNone}}, {TlpType::kCpl, {0x0a, kNone}},
      {TlpType::kCplD, {0x4a, kNone}},   {TlpType::kCplLk, {0x0b, kNone}},
      {TlpType::kCplDLk, {0x4b, kNone}}, {TlpType::kFetchAdd, {0x4c, 0x6c}},
      {TlpType::kSwap, {0x4d, 0x6d}},    {TlpType::kCas, {0x4e, 0x6e}},
      {TlpType::kDMWr, {0x5b, 0x7b}},    {TlpType::kMsg, {kNone, 0x34}},
      {TlpType::kMsgD, {kNone, 0x74}}};
  ASSERT_EQ(kRows.size(), std::size_t{kTlpTypes});
  for (const auto& [type, first] : kRows) {
    for (const bool is_wide : {false, true}) {
      Tlp tlp = memory(type, 0, is_message(type) && !has_data(type) ? 0 : 1);
      tlp.is_4dw = is_wide;
      tlp.tag = 0;
      tlp.routing = MsgRouting::kLocal;
      const int code = is_wide ? first.second : first.first;
      if (code != kNone) {
        EXPECT_EQ(header(tlp)[0], code) << name_of(type);
      }
    }
  }
}

TEST(FlitTlpEncoder, LNK_11_13_EachFieldOfTheFirstDwHasItsBits) {
  const auto first_dw = [](const auto& set) {
    Tlp tlp = memory(TlpType::kMWr, 0x1000, 1);
    set(tlp);
    ByteVector bytes = header(tlp);
    bytes.resize(4);
    return bytes;
  };
  EXPECT_EQ(first_dw([](Tlp&) {}), from_hex("40000001"));
  EXPECT_EQ(first_dw([](Tlp& tlp) { tlp.tc = 7; }), from_hex("40e00001"));
  EXPECT_EQ(first_dw([](Tlp& tlp) { tlp.first_be = 1; }), from_hex("40010001"));
  EXPECT_EQ(first_dw([](Tlp& tlp) { tlp.has_processing_hint = true; }), from_hex("40020001"));
  EXPECT_EQ(first_dw([](Tlp& tlp) { tlp.has_ecrc = true; }), from_hex("40002001"));
  EXPECT_EQ(first_dw([](Tlp& tlp) { tlp.id_based_ordering = true; }), from_hex("40001001"));
  EXPECT_EQ(first_dw([](Tlp& tlp) { tlp.relaxed_ordering = true; }), from_hex("40000801"));
  EXPECT_EQ(first_dw([](Tlp& tlp) { tlp.no_snoop = true; }), from_hex("40000401"));
  EXPECT_EQ(first_dw([](Tlp& tlp) {
              tlp.length_dw = 1024;
              tlp.last_be = 0xf;
            }),
            from_hex("40000000"));
  for (const auto& [prefixes, byte] : {std::pair{1, 0x08}, {2, 0x10}, {3, 0x18}, {4, 0x18}}) {
    const ByteVector dw = first_dw([count = prefixes](Tlp& tlp) {
      tlp.other_prefix_count = static_cast<std::uint8_t>(count);
      tlp.other_prefixes.fill(0x9e000000);
    });
    EXPECT_EQ(dw[1], byte) << prefixes;
  }
}

TEST(FlitTlpEncoder, LNK_11_14_GoldenRequests) {
  EXPECT_EQ(header(memory(TlpType::kMRd, 0x12345678, 16)), from_hex("03000010 0113005a 12345678"));
  Tlp tlp = memory(TlpType::kMRd, 0x1'2345'6780, 16);
  tlp.at = AddressType::kTranslated;
  tlp.tag = 0x3fa5;
  tlp.is_poisoned = true;
  EXPECT_EQ(header(tlp), from_hex("20000010 0113bfa5 00000001 23456782"));
  tlp = memory(TlpType::kMRd, 0x1'2345'6000, 2);
  tlp.at = AddressType::kTranslationRequest;
  tlp.id_is_handle = true;
  EXPECT_EQ(header(tlp), from_hex("20000002 0113405a 00000001 23456001"));
}

TEST(FlitTlpEncoder, LNK_11_14_MessagesHaveTheirTagAboveTheirCode) {
  Tlp tlp;
  tlp.type = TlpType::kMsgD;
  tlp.routing = MsgRouting::kById;
  tlp.message_code = msg::kInvalidateRequest;
  tlp.tag = 0x1f;
  tlp.length_dw = 2;
  tlp.message_dw2 = 0x01130000;
  EXPECT_EQ(encoded(tlp, from_hex("00000001 23456000")),
            from_hex("72000002 00001f01 01130000 00000000 00000001 23456000"));
}

TEST(FlitTlpEncoder, LNK_11_15_GoldenCompletions) {
  EXPECT_EQ(header(completion(0x38)), from_hex("4a000010 0300005a 0113e0c8"));
  EXPECT_EQ(header(completion(0x40)), from_hex("4a000010 0300405a 011300c8"));
  Tlp tlp = completion(0x7b);
  EXPECT_EQ(header(tlp), from_hex("4a010010 0300405a 0113e0c8 00000018"));
  tlp.type = TlpType::kCpl;
  tlp.status = CplStatus::kCA;
  tlp.lower_address = 0;
  tlp.byte_count = 4096;
  tlp.length_dw = 0;
  EXPECT_EQ(header(tlp), from_hex("0a010000 0300005a 01130000 00000004"));
}

// The bytes of the source, and the same with PV.
TEST(OhcFields, LNK_11_16_GoldenOhcA1) {
  Tlp tlp = memory(TlpType::kMWr, 0x1000, 1);
  decode_ohc_a(0x0123450f, tlp);
  EXPECT_FALSE(tlp.has_pasid);
  EXPECT_EQ(tlp.first_be, 0xf);
  EXPECT_EQ(tlp.last_be, 0);
  decode_ohc_a(0x4123450f, tlp);
  EXPECT_TRUE(tlp.has_pasid);
  EXPECT_EQ(tlp.pasid, Pasid{0x12345});
  EXPECT_FALSE(tlp.privileged_mode_requested || tlp.execute_requested);
  EXPECT_EQ(encode_ohc_a(tlp), 0x4123450fU);
  tlp.privileged_mode_requested = true;
  EXPECT_EQ(encode_ohc_a(tlp), 0x6123450fU);
  tlp.privileged_mode_requested = false;
  tlp.execute_requested = true;
  EXPECT_EQ(encode_ohc_a(tlp), 0x5123450fU);
  tlp.length_dw = 2;
  tlp.first_be = 0x8;
  tlp.last_be = 0x3;
  EXPECT_EQ(encode_ohc_a(tlp), 0x51234538U);
}

TEST(OhcFields, LNK_11_16_NoWriteIsTheTopBitOfATranslationRequestOnly) {
  Tlp tlp = memory(TlpType::kMRd, 0x1000, 2);
  tlp.at = AddressType::kTranslationRequest;
  tlp.processing_hint = 1U << kNoWriteBit;
  EXPECT_EQ(encode_ohc_a(tlp), 0x800000ffU);
  tlp.processing_hint = 0;
  decode_ohc_a(0x800000ff, tlp);
  EXPECT_TRUE(is_no_write(tlp));
  tlp.at = AddressType::kUntranslated;
  tlp.processing_hint = 0;
  decode_ohc_a(0x800000ff, tlp);
  EXPECT_EQ(tlp.processing_hint, 0);
}

TEST(OhcFields, LNK_11_17_KindFollowsFromTypeAndRouting) {
  Tlp tlp;
  const std::pair<TlpType, const OhcPasidPlaces*> kPlaces[] = {
      {TlpType::kMRd, &kPasidInOhcA1}, {TlpType::kCas, &kPasidInOhcA1},
      {TlpType::kIORd, nullptr},       {TlpType::kCfgWr1, nullptr},
      {TlpType::kCplD, nullptr},       {TlpType::kMsg, &kPasidInOhcA1}};
  for (const auto& [type, places] : kPlaces) {
    tlp.type = type;
    EXPECT_EQ(pasid_in_ohc_a(tlp), places) << name_of(type);
  }
  tlp.routing = MsgRouting::kById;
  EXPECT_EQ(pasid_in_ohc_a(tlp), &kPasidInOhcA4);
}

TEST(OhcFields, LNK_11_17_OthersThanA1) {
  Tlp tlp = memory(TlpType::kIOWr, 0x1000, 1);
  tlp.first_be = 0x5;
  EXPECT_EQ(header(tlp), from_hex("42010001 0113005a 00001000 00000005"));
  tlp.type = TlpType::kCfgRd0;
  tlp.completer_id = Bdf::of(0x12, 0x1f, 7);
  tlp.register_offset = 0xa38;
  EXPECT_EQ(header(tlp), from_hex("04010001 0113005a 12ff0a38 00000005"));
  tlp = Tlp();
  tlp.type = TlpType::kMsg;
  tlp.routing = MsgRouting::kById;
  tlp.message_code = msg::kPrgResponse;
  tlp.has_pasid = true;
  tlp.pasid = Pasid{0x12345};
  EXPECT_EQ(header(tlp), from_hex("32010000 00000005 00000000 00000000 00412345"));
}

// [LNK-2.15]
TEST(OhcFields, LNK_11_18_HintsStandInOhcB) {
  Tlp read = memory(TlpType::kMRd, 0x1000, 4);
  read.has_processing_hint = true;
  read.processing_hint = 2;
  read.first_be = 0xb;
  read.last_be = 0xa;
  EXPECT_EQ(header(read), from_hex("03020004 0113005a 00001000 00ab0002"));
  Tlp write = memory(TlpType::kMWr, 0x1000, 4);
  write.has_processing_hint = true;
  write.processing_hint = 1;
  write.tag = 0x3ab;
  EXPECT_EQ(header(write), from_hex("40020004 01130300 00001000 00ab0001"));
  for (const Tlp& tlp : {read, write}) {
    const FlitTlpDecodeResult back = decoded(encoded(tlp));
    EXPECT_EQ(back.tlp.tag, tlp.tag);
    EXPECT_EQ(back.tlp.first_be, tlp.first_be);
    EXPECT_EQ(back.tlp.last_be, tlp.last_be);
    EXPECT_EQ(back.tlp.processing_hint, tlp.processing_hint);
  }
}

TEST(FlitTlpCodec, LNK_11_18_ThreePrefixesFillFourDwsOfOhcE) {
  Tlp tlp = memory(TlpType::kMRd, 0x1000, 1);
  tlp.other_prefixes = {0x8d000001, 0x9e000002, 0x9f000003, 0x9e000004};
  tlp.other_prefix_count = 4;
  EXPECT_EQ(header(tlp), from_hex("8d000001 03180001 0113005a 00001000"
                                  "9e000002 9f000003 9e000004 00000000"));
  EXPECT_EQ(flit_mode_tlp_bytes(tlp), 32U);
  const FlitTlpDecodeResult back = decoded(encoded(tlp));
  EXPECT_FALSE(back.error);
  EXPECT_EQ(back.tlp.other_prefix_count, 4);
  EXPECT_EQ(back.tlp.other_prefixes, tlp.other_prefixes);
}

// The CRC of LNK-5.20 over the same bytes with Type[0] and EP set.
TEST(FlitTlpCodec, LNK_11_19_EcrcLeavesOutWhatMayChangeOnTheWay) {
  Tlp tlp = memory(TlpType::kMWr, 0x1000, 1);
  tlp.has_ecrc = true;
  ByteVector bytes = encoded(tlp, from_hex("11223344"));
  ASSERT_EQ(bytes.size(), 20U);
  EXPECT_FALSE(decoded(bytes).error);
  bytes[6] ^= 0x80;  // EP
  EXPECT_FALSE(decoded(bytes).error);
  bytes[6] ^= 0x01;  // a bit of the tag
  EXPECT_EQ(decoded(bytes).error, FlitTlpError::kEcrcMismatch);
  EXPECT_EQ(decoded(bytes).error_offset, 16U);
  bytes[6] ^= 0x01;
  bytes[12] ^= 0x10;
  EXPECT_EQ(decoded(bytes).error, FlitTlpError::kEcrcMismatch);
}

// What a random TLP of non-flit mode has that flit mode has not.
void fit_flit_mode(Tlp& tlp) {
  if (!tlp.has_processing_hint) {
    tlp.processing_hint = 0;
  }
  if (is_message(tlp.type)) {
    tlp.tag &= 0x3f;
  }
  if (is_atomic(tlp.type)) {
    set_full_byte_enables(tlp);
  }
  tlp.prefixes_before_pasid = 0;
}

TEST(FlitTlpCodec, LNK_11_13_RandomTlpsOfEveryKindComeBackAndHaveTheirComputedSize) {
  RandomTlp random(11);
  for (int round = 0; round < 400; ++round) {
    for (int kind = 0; kind < kTlpTypes; ++kind) {
      Tlp tlp = random.make(static_cast<TlpType>(kind));
      tlp.has_processing_hint = is_memory_request(tlp.type) && random.below(4) == 0;
      fit_flit_mode(tlp);
      ASSERT_FALSE(find_flit_mode_gap(tlp)) << find_flit_mode_gap(tlp)->field;
      const ByteVector payload = random.payload(tlp);
      const bool has_spare = random.below(4) == 0 && !has_ohc_a(tlp);
      const ByteVector bytes = encoded(tlp, payload, has_spare);
      ASSERT_EQ(bytes.size(), flit_mode_tlp_bytes(tlp) + (has_spare ? 4U : 0U));
      const FlitTlpDecodeResult result = decoded(bytes);
      ASSERT_FALSE(result.error) << name_of(tlp.type) << ": " << name_of(*result.error) << " at "
                                 << result.error_offset << " round " << round;
      ASSERT_EQ(result.has_spare_ohc_a, has_spare);
      ASSERT_TRUE(std::equal(payload.begin(), payload.end(),
                             bytes.begin() + static_cast<long>(result.payload_at())));
      ASSERT_EQ(encoded(result.tlp, payload, has_spare), bytes) << name_of(tlp.type);
      // Both forms say the same: the non-flit bytes of what came back are those of what was sent.
      TlpDocument sent{tlp, payload, {}}, back{result.tlp, payload, {}};
      sent.tlp.prefixes_before_pasid = back.tlp.prefixes_before_pasid;
      if (!is_message(tlp.type) && !is_completion(tlp.type)) {
        ASSERT_EQ(bytes_of(back), bytes_of(sent)) << name_of(tlp.type) << " round " << round;
      }
      ASSERT_EQ(result.tlp.tag, tlp.tag);
      ASSERT_EQ(result.tlp.status, tlp.status);
      ASSERT_EQ(result.tlp.lower_address, tlp.lower_address);
      ASSERT_EQ(result.tlp.id_is_handle, tlp.id_is_handle);
    }
  }
}

TEST(FlitTlpDecoder, LNK_11_16_AnOhcAThatNothingNeedsIsKept) {
  const ByteVector bytes = from_hex("40010001 0113005a 00001000 0123450f 11223344");
  const FlitTlpDecodeResult result = decoded(bytes);
  ASSERT_FALSE(result.error);
  EXPECT_TRUE(result.has_spare_ohc_a);
  EXPECT_FALSE(result.tlp.has_pasid);
  EXPECT_EQ(result.payload_at(), 16U);
  const TlpDocument document = document_of(result, bytes);
  EXPECT_EQ(document.reserved, (std::vector<std::uint32_t>{0, 0, 0, 0x01234500}));
  EXPECT_EQ(bytes_of(document), bytes);
}

TEST(FlitTlpEncoder, WhatFlitModeHasNotIsNamed) {
  const auto gap_of = [](TlpType type, const auto& set) {
    Tlp tlp = memory(type, 0x1000, 1);
    set(tlp);
    const auto gap = find_flit_mode_gap(tlp);
    return std::string(gap ? gap->field : "");
  };
  EXPECT_EQ(gap_of(TlpType::kMWr, [](Tlp&) {}), "");
  EXPECT_EQ(gap_of(TlpType::kCplD, [](Tlp& tlp) { tlp.at = AddressType::kTranslated; }), "at");
  EXPECT_EQ(gap_of(TlpType::kCplD, [](Tlp& tlp) { tlp.bcm = true; }), "bcm");
  EXPECT_EQ(gap_of(TlpType::kIORd, [](Tlp& tlp) { tlp.has_pasid = true; }), "pasid");
  EXPECT_EQ(gap_of(TlpType::kMsg, [](Tlp& tlp) { tlp.tag = 63; }), "");
  EXPECT_EQ(gap_of(TlpType::kMsg, [](Tlp& tlp) { tlp.tag = 64; }), "tag");
  EXPECT_EQ(gap_of(TlpType::kMWr, [](Tlp& tlp) { tlp.tag = 0x3fff; }), "");
  EXPECT_EQ(gap_of(TlpType::kMWr, [](Tlp& tlp) { tlp.tag = 0x4000; }), "tag");
  EXPECT_EQ(gap_of(TlpType::kMWr, [](Tlp& tlp) { tlp.processing_hint = 1; }), "ph");
  EXPECT_EQ(gap_of(TlpType::kSwap, [](Tlp& tlp) { tlp.first_be = 1; }), "first_be");
  const auto with_prefixes = [](std::uint32_t first, int count) {
    return [=](Tlp& tlp) {
      tlp.other_prefixes.fill(first);
      tlp.other_prefix_count = static_cast<std::uint8_t>(count);
    };
  };
  EXPECT_EQ(gap_of(TlpType::kMWr, with_prefixes(0x9f000000, 4)), "");
  EXPECT_EQ(gap_of(TlpType::kMWr, with_prefixes(0x9f000000, 5)), "prefixes");
  for (const std::uint32_t foreign : {0x80000000U, 0x90000000U, 0x92000000U}) {
    EXPECT_EQ(gap_of(TlpType::kMWr, with_prefixes(foreign, 1)), "prefixes") << foreign;
  }
  EXPECT_EQ(gap_of(TlpType::kMWr,
                   [&](Tlp& tlp) {
                     with_prefixes(0x9e000000, 1)(tlp);
                     tlp.has_pasid = true;
                     tlp.prefixes_before_pasid = 1;
                   }),
            "prefixes_before_pasid");
}

TEST(FlitTlpDecoder, EveryTruncationIsSeenAtItsEnd) {
  Tlp tlp = memory(TlpType::kMWr, 0x1'0000'0000, 4);
  tlp.first_be = 8;
  tlp.has_ecrc = true;
  const ByteVector bytes = encoded(tlp, ByteVector(16, 0xaa));
  ASSERT_EQ(bytes.size(), 40U);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const FlitTlpDecodeResult result = decode_flit_mode(bytes.data(), size);
    ASSERT_EQ(result.error, size < 20 ? FlitTlpError::kTruncated : FlitTlpError::kLengthMismatch);
    ASSERT_EQ(result.error_offset, size);
  }
}

TEST(FlitTlpDecoder, ErrorsHaveTheirPlace) {
  const std::string read = "03000001 0113005a 00001000";
  const auto expect = [](const std::string& hex, FlitTlpError error, std::size_t offset) {
    const FlitTlpDecodeResult result = decoded(hex);
    ASSERT_TRUE(result.error) << hex;
    EXPECT_STREQ(name_of(*result.error), name_of(error)) << hex;
    EXPECT_EQ(result.error_offset, offset) << hex;
  };
  EXPECT_FALSE(decoded(read).error);
  expect(read + "00", FlitTlpError::kTrailingBytes, 12);
  expect("00000000", FlitTlpError::kNop, 0);
  expect("22000001 0113005a 00000000 00001000", FlitTlpError::kUioNotModelled, 0);
  expect("61000001 0113005a 00000000 00001000 00000000", FlitTlpError::kUioNotModelled, 0);
  expect("8d000000 23000001 0113005a 00001000", FlitTlpError::kUnknownType, 4);
  expect("36000000 00000000 00000000 00000000", FlitTlpError::kUnknownType, 0);
  expect("ff000001 0113005a 00001000", FlitTlpError::kUnknownType, 0);
  expect("03040001 0113005a 00001000 00000000", FlitTlpError::kOhcCNotModelled, 1);
  expect("03004001 0113005a 00001000 00000000", FlitTlpError::kTrailerNotModelled, 2);
  expect("02000001 0113005a 00001000", FlitTlpError::kMissingOhcA, 1);
  expect("04000001 0113005a 00001000", FlitTlpError::kMissingOhcA, 1);
  expect("03080001 0113005a 00001000 91000000", FlitTlpError::kUnknownPrefix, 12);
  expect("03100001 0113005a 00001000 9e000000 00000000", FlitTlpError::kUnknownPrefix, 16);
  expect("8d000000 8d000000 8d000000 8d000000 8d000000 8d000000 " + read,
         FlitTlpError::kTooManyPrefixes, 20);
  expect("8d000000 8d000000 8d000000 8d000000 03100001 0113005a 00001000 9e000000 9e000000",
         FlitTlpError::kTooManyPrefixes, 32);
  const FlitTlpDecodeResult crossing = decoded("03000002 0113005a 00001ffc");
  EXPECT_EQ(crossing.error, FlitTlpError::kRuleBroken);
  EXPECT_EQ(crossing.violation, TlpViolation::kCrosses4KiB);
  EXPECT_EQ(crossing.error_offset, 2U);
}

TEST(FlitTlpDecoder, AnyBytesGiveATlpOrATypedErrorInsideThem) {
  RandomTlp random(12);
  int well_formed = 0;
  std::array<int, kFlitTlpErrors> seen{};
  for (int i = 0; i < 200'000; ++i) {
    ByteVector bytes;
    Tlp tlp = random.make(static_cast<TlpType>(random.below(kTlpTypes)));
    fit_flit_mode(tlp);
    tlp.length_dw = static_cast<std::uint16_t>(std::min<unsigned>(tlp.length_dw, 8));
    if (random.below(16) == 0) {  // more prefixes than there may be
      for (int more = 0; more < 5; ++more) {
        bytes.insert(bytes.end(), {0x8d, 0, 0, 0});
      }
    }
    encode_flit_mode(tlp, false, nullptr, 0, bytes);
    for (std::uint32_t hits = random.below(3); hits > 0; --hits) {
      bytes[random.below(static_cast<std::uint32_t>(std::min<std::size_t>(bytes.size(), 28)))] ^=
          static_cast<std::uint8_t>(1U << random.below(8));
    }
    if (random.below(8) == 0) {
      bytes.resize(random.below(static_cast<std::uint32_t>(bytes.size()) + 8));
    }
    const FlitTlpDecodeResult result = decoded(bytes);
    if (result.error) {
      ++seen[static_cast<std::size_t>(*result.error)];
      ASSERT_LE(result.error_offset, bytes.size());
      continue;
    }
    ++well_formed;
    ASSERT_FALSE(find_flit_mode_gap(result.tlp)) << find_flit_mode_gap(result.tlp)->field;
    ASSERT_EQ(bytes_of(document_of(result, bytes)), bytes);
  }
  EXPECT_GT(well_formed, 20'000);
  for (int kind = 0; kind < kFlitTlpErrors; ++kind) {
    EXPECT_GT(seen[static_cast<std::size_t>(kind)], 0) << name_of(static_cast<FlitTlpError>(kind));
  }
}

}  // namespace
}  // namespace flitwise::flit_tlp_codec_test
