// SPDX-License-Identifier: Apache-2.0
// TLPs to bytes and back: golden headers, random packets of every kind, hostile bytes.
#include <gtest/gtest.h>

#include "common/byte_vector.h"
#include "tlp/header_layout.h"
#include "tlp/tlp_codec.h"
#include "unit/tlp/random_tlp.h"

namespace flitwise::tlp_codec_test {
namespace {

using test::from_hex;
using test::RandomTlp;

// Sanitizers run the same bytes ten times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kHostileStrings = 100'000;
#else
constexpr int kHostileStrings = 1'000'000;
#endif

const Bdf kRequester = Bdf::of(1, 2, 3);

ByteVector encoded(const Tlp& tlp, const ByteVector& payload) {
  ByteVector out;
  encode(tlp, payload.data(), payload.size(), out);
  return out;
}

// Header bytes alone.
ByteVector header(const Tlp& tlp) {
  ByteVector out = encoded(tlp, ByteVector(data_bytes(tlp)));
  out.resize(prefix_bytes(tlp) + header_bytes(tlp));
  return out;
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

Tlp message(TlpType type, MsgRouting routing, std::uint8_t code) {
  Tlp tlp;
  tlp.type = type;
  tlp.routing = routing;
  tlp.message_code = code;
  return tlp;
}

// [LNK-1.1] [LNK-2.3]
TEST(TlpEncoder, LNK_2_1_GoldenMemoryReads) {
  EXPECT_EQ(header(memory(TlpType::kMRd, 0x12345678, 16)), from_hex("00000010 01135aff 12345678"));
  EXPECT_EQ(header(memory(TlpType::kMRd, 0x1'2345'6780, 1024)),
            from_hex("20000000 01135aff 00000001 23456780"));
  Tlp tlp = memory(TlpType::kMRd, 0x1'2345'6780, 16);
  tlp.tag = 0x3a5;
  EXPECT_EQ(header(tlp), from_hex("20880010 0113a5ff 00000001 23456780"));
}

TEST(TlpEncoder, LNK_1_5_GoldenAddressTypes) {
  Tlp translated = memory(TlpType::kMRd, 0x1'2345'6780, 16);
  translated.at = AddressType::kTranslated;
  EXPECT_EQ(header(translated), from_hex("20000810 01135aff 00000001 23456780"));
  Tlp request = memory(TlpType::kMRd, 0x1'2345'6000, 2);
  request.at = AddressType::kTranslationRequest;
  EXPECT_EQ(header(request), from_hex("20000402 01135aff 00000001 23456000"));
}

TEST(TlpEncoder, LNK_2_1_GoldenMemoryWrites) {
  Tlp tlp = memory(TlpType::kMWr, 0x1000, 2);
  tlp.first_be = 0xe;
  tlp.last_be = 7;
  EXPECT_EQ(header(tlp), from_hex("40000002 01135a7e 00001000"));
  tlp = memory(TlpType::kMWr, 0x1'0000'1000, 1);
  tlp.first_be = 8;
  EXPECT_EQ(header(tlp), from_hex("60000001 01135a08 00000001 00001000"));
  tlp = memory(TlpType::kMWr, 0x2'0000'0000, 64);
  tlp.tc = 5;
  tlp.id_based_ordering = tlp.relaxed_ordering = tlp.no_snoop = true;
  EXPECT_EQ(header(tlp), from_hex("60543040 01135aff 00000002 00000000"));
}

TEST(TlpEncoder, LNK_1_1_EachFlagOfTheFirstDwHasItsBit) {
  const auto first_dw = [](const auto& set) {
    Tlp tlp = memory(TlpType::kMWr, 0x1000, 1);
    set(tlp);
    ByteVector bytes = header(tlp);
    bytes.resize(4);
    return bytes;
  };
  EXPECT_EQ(first_dw([](Tlp&) {}), from_hex("40000001"));
  EXPECT_EQ(first_dw([](Tlp& tlp) { tlp.tag = 0x200; }), from_hex("40800001"));
  EXPECT_EQ(first_dw([](Tlp& tlp) { tlp.tc = 7; }), from_hex("40700001"));
  EXPECT_EQ(first_dw([](Tlp& tlp) { tlp.tag = 0x100; }), from_hex("40080001"));
  EXPECT_EQ(first_dw([](Tlp& tlp) { tlp.id_based_ordering = true; }), from_hex("40040001"));
  EXPECT_EQ(first_dw([](Tlp& tlp) { tlp.has_processing_hint = true; }), from_hex("40010001"));
  EXPECT_EQ(first_dw([](Tlp& tlp) { tlp.has_ecrc = true; }), from_hex("40008001"));
  EXPECT_EQ(first_dw([](Tlp& tlp) { tlp.is_poisoned = true; }), from_hex("40004001"));
  EXPECT_EQ(first_dw([](Tlp& tlp) { tlp.relaxed_ordering = true; }), from_hex("40002001"));
  EXPECT_EQ(first_dw([](Tlp& tlp) { tlp.no_snoop = true; }), from_hex("40001001"));
}

TEST(TlpEncoder, LNK_2_5_GoldenCompletions) {
  Tlp tlp;
  tlp.type = TlpType::kCplD;
  tlp.requester_id = kRequester;
  tlp.tag = 0x5a;
  tlp.byte_count = 200;
  tlp.lower_address = 0x38;
  tlp.length_dw = 16;
  EXPECT_EQ(header(tlp), from_hex("4a000010 000000c8 01135a38"));
  tlp.type = TlpType::kCpl;
  tlp.status = CplStatus::kUR;
  tlp.byte_count = 4;
  tlp.lower_address = 0;
  tlp.length_dw = 0;
  EXPECT_EQ(header(tlp), from_hex("0a000000 00002004 01135a00"));
}

TEST(TlpEncoder, LNK_2_4_GoldenConfigurationRequests) {
  Tlp tlp;
  tlp.type = TlpType::kCfgWr0;
  tlp.requester_id = kRequester;
  tlp.tag = 0x5a;
  tlp.length_dw = 1;
  tlp.first_be = 3;
  tlp.completer_id = Bdf::of(0x12, 0x1f, 7);
  tlp.register_offset = 0xa38;
  EXPECT_EQ(header(tlp), from_hex("44000001 01135a03 12ff0a38"));
}

TEST(TlpEncoder, LNK_2_7_MessageCodesStandInTheLastByteOfTheSecondDw) {
  const std::vector<std::pair<std::uint8_t, int>> kRows = {{msg::kUnlock, 0x00},
                                                           {msg::kInvalidateRequest, 0x01},
                                                           {msg::kInvalidateCompletion, 0x02},
                                                           {msg::kPageRequest, 0x04},
                                                           {msg::kPrgResponse, 0x05},
                                                           {msg::kLtr, 0x10},
                                                           {msg::kObff, 0x12},
                                                           {msg::kPmActiveStateNak, 0x14},
                                                           {msg::kPmPme, 0x18},
                                                           {msg::kPmeTurnOff, 0x19},
                                                           {msg::kPmeToAck, 0x1b},
                                                           {msg::kAssertIntA, 0x20},
                                                           {msg::kDeassertIntA, 0x24},
                                                           {msg::kErrCor, 0x30},
                                                           {msg::kErrNonFatal, 0x31},
                                                           {msg::kErrFatal, 0x33},
                                                           {msg::kSetSlotPowerLimit, 0x50},
                                                           {msg::kPtmRequest, 0x52},
                                                           {msg::kPtmResponse, 0x53},
                                                           {msg::kVendorType0, 0x7e},
                                                           {msg::kVendorType1, 0x7f}};
  for (const auto& [code, byte] : kRows) {
    EXPECT_EQ(header(message(TlpType::kMsg, MsgRouting::kLocal, code))[7], byte);
  }
}

TEST(TlpEncoder, LNK_4_4_GoldenInvalidateRequest) {
  Tlp tlp = message(TlpType::kMsgD, MsgRouting::kById, msg::kInvalidateRequest);
  tlp.tag = 5;
  tlp.length_dw = 2;
  tlp.message_dw2 = std::uint32_t{kRequester.value} << 16;
  EXPECT_EQ(encoded(tlp, from_hex("00000001 23456000")),
            from_hex("72000002 00000501 01130000 00000000 00000001 23456000"));
}

TEST(TlpEncoder, LNK_4_5_LNK_4_7_LNK_4_8_GoldenAtsMessages) {
  Tlp completion = message(TlpType::kMsg, MsgRouting::kById, msg::kInvalidateCompletion);
  completion.requester_id = kRequester;
  completion.message_dw2 = 1;
  completion.message_dw3 = 1U << 5;
  EXPECT_EQ(header(completion), from_hex("32000000 01130002 00000001 00000020"));
  Tlp page = message(TlpType::kMsg, MsgRouting::kToRootComplex, msg::kPageRequest);
  page.requester_id = kRequester;
  page.message_dw2 = 1;
  page.message_dw3 = 0x23456000 | 7U << 3 | 7U;
  EXPECT_EQ(header(page), from_hex("30000000 01130004 00000001 2345603f"));
  Tlp response = message(TlpType::kMsg, MsgRouting::kById, msg::kPrgResponse);
  response.message_dw2 = std::uint32_t{kRequester.value} << 16 | 7;
  EXPECT_EQ(header(response), from_hex("32000000 00000005 01130007 00000000"));
}

TEST(TlpEncoder, LNK_3_4_GoldenPasidPrefix) {
  Tlp tlp = memory(TlpType::kMRd, 0x12345678, 16);
  tlp.has_pasid = true;
  tlp.pasid = Pasid{0x12345};
  tlp.execute_requested = true;
  EXPECT_EQ(header(tlp), from_hex("91112345 00000010 01135aff 12345678"));
}

// [LNK-1.8]
TEST(TlpEncoder, LNK_1_2_FirstByteOfEveryKind) {
  const std::vector<std::pair<TlpType, std::pair<int, int>>> kRows = {
      {TlpType::kMRd, {0x00, 0x20}},    {TlpType::kMRdLk, {0x01, 0x21}},
      {TlpType::kMWr, {0x40, 0x60}},    {TlpType::kIORd, {0x02, 0x02}},
      {TlpType::kIOWr, {0x42, 0x42}},   {TlpType::kCfgRd0, {0x04, 0x04}},
      {TlpType::kCfgWr0, {0x44, 0x44}}, {TlpType::kCfgRd1, {0x05, 0x05}},
      {TlpType::kCfgWr1, {0x45, 0x45}}, {TlpType::kCpl, {0x0a, 0x0a}},
      {TlpType::kCplD, {0x4a, 0x4a}},   {TlpType::kCplLk, {0x0b, 0x0b}},
      {TlpType::kCplDLk, {0x4b, 0x4b}}, {TlpType::kFetchAdd, {0x4c, 0x6c}},
      {TlpType::kSwap, {0x4d, 0x6d}},   {TlpType::kCas, {0x4e, 0x6e}},
      {TlpType::kDMWr, {0x5b, 0x7b}},   {TlpType::kMsg, {0x34, 0x34}},
      {TlpType::kMsgD, {0x74, 0x74}}};
  for (const auto& [type, first] : kRows) {
    Tlp tlp;
    tlp.type = type;
    tlp.routing = MsgRouting::kLocal;
    tlp.length_dw = 1;
    EXPECT_EQ(header(tlp)[0], first.first) << name_of(type);
    tlp.is_4dw = true;
    EXPECT_EQ(header(tlp)[0], first.second) << name_of(type);
  }
}

TEST(TlpEncoder, LNK_4_2_NoWriteIsTheLowestBitOfTheAddress) {
  Tlp tlp = memory(TlpType::kMRd, 0x1'2345'6000, 2);
  tlp.at = AddressType::kTranslationRequest;
  tlp.processing_hint = 1U << kNoWriteBit;
  EXPECT_EQ(header(tlp).back(), 0x01);
  EXPECT_TRUE(is_no_write(tlp));
}

TEST(TlpCodec, LNK_5_3_RandomTlpsOfEveryKindComeBackAndHaveTheirComputedSize) {
  RandomTlp random(1);
  for (int round = 0; round < 400; ++round) {
    for (int kind = 0; kind < kTlpTypes; ++kind) {
      const Tlp tlp = random.make(static_cast<TlpType>(kind));
      const ByteVector payload = random.payload(tlp);
      const ByteVector bytes = encoded(tlp, payload);
      ASSERT_EQ(bytes.size(), tlp_bytes(tlp));
      const DecodeResult result = decode_tlp(bytes.data(), bytes.size());
      ASSERT_FALSE(result.error) << name_of(tlp.type) << ": " << name_of(*result.error) << " at "
                                 << result.error_offset << " round " << round;
      ASSERT_EQ(result.payload_bytes, payload.size());
      ASSERT_TRUE(std::equal(payload.begin(), payload.end(),
                             bytes.begin() + static_cast<long>(result.payload_offset)));
      ASSERT_EQ(encoded(result.tlp, payload), bytes) << name_of(tlp.type) << " round " << round;
      ASSERT_EQ(result.tlp.type, tlp.type);
      ASSERT_EQ(result.tlp.tag, tlp.tag);
      ASSERT_EQ(result.tlp.address, tlp.address);
      ASSERT_EQ(result.tlp.length_dw, tlp.length_dw);
      ASSERT_EQ(result.tlp.byte_count, tlp.byte_count);
      ASSERT_EQ(result.tlp.pasid, tlp.pasid);
      ASSERT_EQ(result.tlp.id_is_handle, tlp.id_is_handle);
    }
  }
}

TEST(TlpDecoder, AnyBytesGiveATlpOrATypedErrorInsideThem) {
  RandomTlp random(2);
  int well_formed = 0;
  std::array<int, kTlpViolations> seen{};
  ByteVector bytes;
  for (int i = 0; i < kHostileStrings; ++i) {
    bytes.clear();
    if (i % 4 == 0) {
      bytes.resize(random.below(64));
      for (std::uint8_t& byte : bytes) {
        byte = static_cast<std::uint8_t>(random.below(256));
      }
    } else {
      Tlp tlp = random.make(static_cast<TlpType>(random.below(kTlpTypes)));
      tlp.length_dw = static_cast<std::uint16_t>(std::min<unsigned>(tlp.length_dw, 8));
      if (is_message(tlp.type) && random.flip()) {
        tlp.message_code = static_cast<std::uint8_t>(random.below(6));
        tlp.routing = MsgRouting::kById;
      }
      for (std::uint32_t more = random.below(16); more > 11; --more) {
        bytes.insert(bytes.end(),
                     {random.below(4) == 0 ? std::uint8_t{0x91} : std::uint8_t{0x9e}, 0, 0, 0});
      }
      encode(tlp, nullptr, 0, bytes);
      const std::uint32_t hits = random.below(3);
      for (std::uint32_t hit = 0; hit < hits; ++hit) {
        bytes[random.below(static_cast<std::uint32_t>(std::min<std::size_t>(bytes.size(), 24)))] ^=
            static_cast<std::uint8_t>(1U << random.below(8));
      }
      if (random.below(8) == 0) {
        bytes.resize(random.below(static_cast<std::uint32_t>(bytes.size()) + 8));
      }
    }
    const DecodeResult result = decode_tlp(bytes.data(), bytes.size());
    if (result.error) {
      ++seen[static_cast<std::size_t>(*result.error)];
      ASSERT_LE(result.error_offset, bytes.size());
    } else {
      ++well_formed;
      ASSERT_EQ(tlp_bytes(result.tlp), bytes.size());
      ASSERT_EQ(result.payload_offset + result.payload_bytes + (result.tlp.has_ecrc ? 4U : 0U),
                bytes.size());
    }
  }
  EXPECT_GT(well_formed, kHostileStrings / 10);
  for (int kind = 0; kind < static_cast<int>(TlpViolation::kExceedsMps); ++kind) {
    EXPECT_GT(seen[static_cast<std::size_t>(kind)], 0) << name_of(static_cast<TlpViolation>(kind));
  }
}

TEST(TlpDecoder, LNK_1_4_EveryTruncationIsSeenAtItsEnd) {
  const ByteVector bytes = encoded(memory(TlpType::kMWr, 0x1'0000'0000, 4), ByteVector(16, 0xaa));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const DecodeResult result = decode_tlp(bytes.data(), size);
    ASSERT_EQ(result.error, size < 16 ? TlpViolation::kTruncated : TlpViolation::kLengthMismatch);
    ASSERT_EQ(result.error_offset, size);
  }
}

TEST(TlpDecoder, LNK_1_4_TrailingBytesAreRefusedAtTheFirstOfThem) {
  ByteVector bytes = encoded(memory(TlpType::kMWr, 0x1000, 1), ByteVector(4));
  bytes.push_back(0);
  const DecodeResult result = decode_tlp(bytes.data(), bytes.size());
  EXPECT_EQ(result.error, TlpViolation::kTrailingBytes);
  EXPECT_EQ(result.error_offset, 16U);
}

DecodeResult decoded(const std::string& hex) {
  const ByteVector bytes = from_hex(hex);
  return decode_tlp(bytes.data(), bytes.size());
}

TEST(TlpDecoder, LNK_1_2_UnknownFmtAndType) {
  for (const char* first :
       {"03", "22", "36", "77", "24", "2a", "44000001", "a0", "e0", "5c", "10"}) {
    const std::string hex = std::string(first) + std::string(8 - std::string(first).size(), '0') +
                            " 01135a0f 00001000 00000000";
    if (std::string(first) == "44000001") {
      EXPECT_FALSE(decoded(hex).error) << first;
      continue;
    }
    EXPECT_EQ(decoded(hex).error, TlpViolation::kUnknownType) << first;
    EXPECT_EQ(decoded(hex).error_offset, 0U);
  }
}

// [LNK-3.1]
TEST(TlpDecoder, LNK_3_2_PrefixesAreOrderedKnownAndFew) {
  const std::string tail = " 00000001 01135a0f 00001000";
  EXPECT_FALSE(decoded("8e000000 9e000000" + tail).error);
  EXPECT_EQ(decoded("9e000000 8e000000" + tail).error, TlpViolation::kPrefixOrder);
  EXPECT_EQ(decoded("9e000000 8e000000" + tail).error_offset, 4U);
  EXPECT_EQ(decoded("95000000" + tail).error, TlpViolation::kUnknownPrefix);
  EXPECT_EQ(decoded("91000001 91000001" + tail).error, TlpViolation::kRepeatedPasid);
  EXPECT_FALSE(decoded("9e000000 9e000000 91000001 9e000000" + tail).error);
  EXPECT_EQ(decoded("9e000000 9e000000 91000001 9e000000 9e000000" + tail).error,
            TlpViolation::kTooManyPrefixes);
  EXPECT_FALSE(decoded("8e000000 9e000000 9e000000 9e000000 9e000000" + tail).error);
  EXPECT_EQ(decoded("8e000000 8e000000 8e000000 8e000000 8e000000 8e000000" + tail).error,
            TlpViolation::kTooManyPrefixes);
  EXPECT_EQ(decoded("91000001").error, TlpViolation::kTruncated);
}

TEST(TlpDecoder, LNK_3_3_TheseFirstBytesArePrefixesAndNoOthers) {
  for (unsigned first = 0x80; first < 0xa0; ++first) {
    ByteVector bytes = from_hex("00000001 00000001 01135a0f 00001000");
    bytes[0] = static_cast<std::uint8_t>(first);
    bool is_known = false;
    for (const unsigned known : {0x80U, 0x8eU, 0x8fU, 0x90U, 0x91U, 0x92U, 0x9eU, 0x9fU}) {
      is_known = is_known || first == known;
    }
    const DecodeResult result = decode_tlp(bytes.data(), bytes.size());
    EXPECT_EQ(result.error.has_value(), !is_known) << first;
    EXPECT_TRUE(is_known || result.error == TlpViolation::kUnknownPrefix) << first;
  }
}

TEST(TlpDecoder, LNK_5_20_EcrcCatchesEveryFlipButThoseOfTypeZeroAndPoison) {
  Tlp tlp = memory(TlpType::kMWr, 0x1000, 2);
  tlp.has_ecrc = true;
  const ByteVector good = encoded(tlp, from_hex("0123456789abcdef"));
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    ByteVector bad = good;
    bad[bit / 8] ^= static_cast<std::uint8_t>(0x80U >> (bit % 8));
    const DecodeResult result = decode_tlp(bad.data(), bad.size());
    const bool is_poison = bit == 17;
    ASSERT_EQ(result.error.has_value(), !is_poison) << "bit " << bit;
  }
}

TEST(TlpDecoder, LNK_5_21_EcrcLeavesLocalPrefixesOut) {
  Tlp tlp = memory(TlpType::kMWr, 0x1000, 1);
  tlp.has_ecrc = true;
  tlp.other_prefix_count = 2;
  tlp.other_prefixes = {0x8e000001, 0x9e000001, 0, 0};
  ByteVector bytes = encoded(tlp, ByteVector(4));
  bytes[3] = 2;
  EXPECT_FALSE(decode_tlp(bytes.data(), bytes.size()).error);
  bytes[7] = 2;
  EXPECT_EQ(decode_tlp(bytes.data(), bytes.size()).error, TlpViolation::kEcrcMismatch);
}

TEST(TlpDecoder, LNK_2_14_ByteCountZeroIs4096) {
  EXPECT_EQ(decoded("0a000000 00000000 01135a00").tlp.byte_count, 4096);
}

}  // namespace
}  // namespace flitwise::tlp_codec_test
