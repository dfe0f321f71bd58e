// SPDX-License-Identifier: Apache-2.0
// The commands encode and decode: JSON to bytes and back, and what they refuse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "codec/json_value.h"
#include "common/byte_vector.h"
#include "tlp/dllp_codec.h"
#include "tlp/tlp_codec.h"
#include "unit/codec/codec_support.h"
#include "unit/tlp/random_tlp.h"

namespace flitwise::encode_command_test {
namespace {

using test::decode_of;
using test::encode_of;
using test::Outcome;
using test::RandomTlp;
using test::refusal;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(EncodeCommand, LNK_2_1_GoldenReadFromJson) {
  const Outcome outcome = encode_of(R"({"type": "MRd", "address": "0x12345678", "length_dw": 16,
                                        "requester_id": "01:02.3", "tag": 90})");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "0000001001135aff12345678\n");
}

TEST(EncodeCommand, LNK_2_2_AddressSettlesTheWidthUnlessTheTypeDoes) {
  EXPECT_THAT(encode_of(R"({"type": "MRd", "address": "0x100000000"})").out, StartsWith("20"));
  EXPECT_THAT(encode_of(R"({"type": "MRd", "address": "0x1000"})").out, StartsWith("00"));
  EXPECT_THAT(encode_of(R"({"type": "MRd64", "address": "0x1000"})").out, StartsWith("20"));
  EXPECT_THAT(encode_of(R"({"type": "MWr", "fmt": 3, "address": "0x1000"})").out, StartsWith("60"));
  EXPECT_THAT(refusal(encode_of(R"({"type": "MRd32", "address": "0x100000000"})")),
              HasSubstr("address"));
  EXPECT_THAT(refusal(encode_of(R"({"type": "MRd32", "fmt": 1})")), HasSubstr("fmt"));
  EXPECT_THAT(refusal(encode_of(R"({"type": "CplD64"})")), HasSubstr("CplD"));
}

TEST(EncodeCommand, SetsAloneMakeAPacketAndOverrideInput) {
  EXPECT_EQ(encode_of("", {"type=MWr", "address=0x1000", "payload=11223344", "tag=0x5a",
                           "requester_id=01:02.3"})
                .out,
            "4000000101135a0f0000100011223344\n");
  EXPECT_EQ(encode_of(R"({"type": "MRd", "address": 4096, "tag": 1})", {"tag=2", "ro=true"}).out,
            "000020010000020f00001000\n");
}

TEST(EncodeCommand, LNK_5_4_FramedBytesCarrySequenceAndLcrc) {
  const std::string json = R"({"type": "MRd", "address": "0x12345678", "length_dw": 16,
                               "requester_id": "01:02.3", "tag": 90})";
  EXPECT_EQ(encode_of(json, {"framing=gen1", "seq=0"}).out,
            "fb00000000001001135aff12345678e280dbebfd\n");
  EXPECT_EQ(encode_of(json, {"framing=gen3", "seq=1"}).out.size(), 41U);
  EXPECT_THAT(refusal(encode_of(json, {"seq=1"})), HasSubstr("framing"));
}

TEST(EncodeCommand, SeveralPacketsComeAsAListOrLineByLine) {
  const std::string one = R"({"type":"Cpl"})";
  EXPECT_EQ(encode_of("[" + one + "," + one + "]").out, encode_of(one + "\n\n" + one + "\n").out);
}

TEST(EncodeCommand, UnknownKeyNamesTheNearestAndAllProblemsComeAtOnce) {
  const std::string err =
      refusal(encode_of(R"({"type": "MWr", "adress": 0, "tag": 4096, "status": "SC"})"));
  EXPECT_THAT(err, HasSubstr("adress: unknown key"));
  EXPECT_THAT(err, HasSubstr("nearest key 'address'"));
  EXPECT_THAT(err, HasSubstr("expected type, fmt, requester_id,"));
  EXPECT_THAT(err, HasSubstr("tag: 4096 seen; expected 0 to 1023"));
  EXPECT_THAT(err, HasSubstr("status: MWr has no status"));
}

TEST(EncodeCommand, WrongValuesAreRefused) {
  for (const char* bad : {R"({"address": 0})",
                          R"({"type": "MXr"})",
                          R"([1])",
                          "{",
                          R"({"type":"MWr","tag":-1})",
                          R"({"type":"MWr","tag":1.5})",
                          R"({"type":"MWr","tag":"1x"})",
                          R"({"type":"MWr","address":"0x1001"})",
                          R"({"type":"MWr","requester_id":"1:2.3"})",
                          R"({"type":"MWr","requester_id":"01:22.3"})",
                          R"({"type":"MWr","payload":"123"})",
                          R"({"type":"MWr","payload":"1122"})",
                          R"({"type":"MWr","payload":"zz223344"})",
                          R"({"type":"MWr","payload":"11223344","length_dw":2})",
                          R"({"type":"MRd","payload":""})",
                          R"({"type":"MWr","ro":"maybe"})",
                          R"({"type":"MWr","execute_requested":true})",
                          R"({"type":"MWr","prefixes":["0x91000000"]})",
                          R"({"type":"MWr","prefixes":["0x9e000000","0x8e000000"]})",
                          R"({"type":"MWr","prefixes":[0,0,0,0,0]})",
                          R"({"type":"MWr","at":"translatd"})",
                          R"({"type":"CfgRd0","register_offset":3})"}) {
    refusal(encode_of(bad));
  }
}

TEST(EncodeCommand, AnyBytesInASetAreRefusedInPlainText) {
  EXPECT_THAT(refusal(encode_of("", {"type=\xff\xfe"})), HasSubstr("type: "));
  EXPECT_THAT(refusal(encode_of("", {"type=MWr", "\xff=1"})), HasSubstr("unknown key"));
  EXPECT_THAT(refusal(encode_of("", {"type"})), HasSubstr("expected key=value"));
}

TEST(EncodeCommand, LNK_9_17_MalformedTlpsNeedToBeAskedFor) {
  const std::string json = R"({"type": "MRd", "address": "0xffc", "length_dw": 2})";
  EXPECT_THAT(refusal(encode_of(json)), HasSubstr("crosses_4kib"));
  const Outcome outcome = encode_of(json, {"check=false"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(refusal(decode_of(outcome.out)), HasSubstr("crosses_4kib"));
  const Outcome decoded = decode_of(outcome.out, {"check=false"});
  EXPECT_EQ(decoded.code, 0);
  EXPECT_EQ(encode_of(decoded.out).out, outcome.out);
}

TEST(DecodeCommand, LNK_5_3_WhatDecodePrintsEncodesToTheSameBytes) {
  RandomTlp random(6);
  for (int round = 0; round < 20; ++round) {
    for (int kind = 0; kind < kTlpTypes; ++kind) {
      Tlp tlp = random.make(static_cast<TlpType>(kind));
      const ByteVector payload = random.payload(tlp);
      ByteVector bytes;
      encode(tlp, payload.data(), payload.size(), bytes);
      const std::string hex = json_value::hex_bytes(bytes.data(), bytes.size()) + "\n";
      const Outcome decoded = decode_of(hex);
      ASSERT_EQ(decoded.code, 0) << decoded.err;
      ASSERT_EQ(encode_of(decoded.out).out, hex) << decoded.out;
    }
  }
}

TEST(DecodeCommand, ReservedBitsAreKept) {
  for (const char* hex : {"0a000000 00002004 01135a80", "04000001 0113000f 0300f003",
                          "91f12345 00000001 01135a0f 00001000", "02000001 0113000f 00001003",
                          "20000402 01135aff 00000001 23456003"}) {
    const Outcome decoded = decode_of(hex);
    ASSERT_EQ(decoded.code, 0) << decoded.err;
    EXPECT_THAT(decoded.out, HasSubstr("reserved"));
    std::string compact = hex;
    compact.erase(std::remove(compact.begin(), compact.end(), ' '), compact.end());
    EXPECT_EQ(encode_of(decoded.out).out, compact + "\n");
  }
}

TEST(DecodeCommand, LNK_4_2_TranslationRequestsShowNoWrite) {
  const auto json = nlohmann::json::parse(decode_of("20000402 01135aff 00000001 23456001").out);
  EXPECT_EQ(json["at"], "translation_request");
  EXPECT_EQ(json["no_write"], true);
  EXPECT_EQ(json["address"], "0x123456000");
}

TEST(DecodeCommand, FieldsAreNamedAsTheStandardDoes) {
  const auto json = nlohmann::json::parse(decode_of("4a000001 030020c8 01135a38 deadbeef").out);
  EXPECT_EQ(json["type"], "CplD");
  EXPECT_EQ(json["completer_id"], "03:00.0");
  EXPECT_EQ(json["requester_id"], "01:02.3");
  EXPECT_EQ(json["status"], "UR");
  EXPECT_EQ(json["byte_count"], 200);
  EXPECT_EQ(json["lower_address"], 0x38);
  EXPECT_EQ(json["tag"], 0x5a);
  EXPECT_EQ(json["length_dw"], 1);
  EXPECT_EQ(json["payload"], "deadbeef");
}

TEST(DecodeCommand, ErrorsNameTheByteAndTheLine) {
  const std::string err = refusal(decode_of("0000001001135aff12345678\n\n0000001001135aff\n"));
  EXPECT_THAT(err, HasSubstr("stdin:3:1: byte 8: truncated"));
  EXPECT_THAT(refusal(decode_of("00000010 01135aff 1234567g")), HasSubstr("'g' at byte 11"));
  EXPECT_THAT(refusal(decode_of("")), HasSubstr("no packet"));
  EXPECT_THAT(refusal(decode_of("00", {"framng=gen1"})), HasSubstr("nearest key 'framing'"));
}

TEST(DecodeCommand, HexArgumentsAreOnePacket) {
  std::istringstream in;
  std::ostringstream out, err;
  EXPECT_EQ(decode_command("tlp", {}, {"00000010", "01135aff", "12345678"}, in, out, err), 0);
  EXPECT_THAT(out.str(), HasSubstr("\"0x12345678\""));
}

TEST(DecodeCommand, LNK_5_11_FramedBytesGoThereAndBack) {
  for (const char* framing : {"framing=gen1", "framing=gen3"}) {
    for (const char* nullified : {"nullified=false", "nullified=true"}) {
      const Outcome encoded = encode_of(R"({"type":"MWr","payload":"00112233","td":true})",
                                        {framing, nullified, "seq=0xabc"});
      ASSERT_EQ(encoded.code, 0) << encoded.err;
      const Outcome decoded = decode_of(encoded.out, {framing});
      ASSERT_EQ(decoded.code, 0) << decoded.err;
      EXPECT_EQ(nlohmann::json::parse(decoded.out)["seq"], 0xabc);
      EXPECT_EQ(encode_of(decoded.out).out, encoded.out);
    }
  }
}

TEST(DecodeCommand, LNK_6_1_DllpsGoThereAndBack) {
  EXPECT_EQ(encode_of(R"({"type":"Ack","seq":291})", {}, "dllp").out, "00000123e285\n");
  EXPECT_EQ(encode_of(R"({"type":"InitFC1-P","hdr_fc":64,"data_fc":512})", {}, "dllp").out,
            "40100200840d\n");
  for (const char* hex :
       {"00000123e285\n", "10000fffcecf\n", "40100200840d\n", "d01002001515\n", "a01002009582\n"}) {
    const Outcome decoded = decode_of(hex, {}, "dllp");
    ASSERT_EQ(decoded.code, 0) << decoded.err;
    EXPECT_EQ(encode_of(decoded.out, {}, "dllp").out, hex);
    for (const char* framing : {"framing=gen1", "framing=gen3"}) {
      const Outcome framed = encode_of(decoded.out, {framing}, "dllp");
      const Outcome back = decode_of(framed.out, {framing}, "dllp");
      ASSERT_EQ(back.code, 0) << back.err;
      EXPECT_EQ(encode_of(back.out, {}, "dllp").out, framed.out);
    }
  }
  const std::string err = refusal(encode_of("", {"type=Ack", "sequence=3"}, "dllp"));
  EXPECT_THAT(err, HasSubstr("sequence: unknown key; expected type,"));
  EXPECT_THAT(err, HasSubstr("nearest key 'seq'"));
  EXPECT_THAT(refusal(decode_of("00000123e286", {}, "dllp")), HasSubstr("byte 4: bad_crc"));
  EXPECT_THAT(refusal(encode_of(R"({"type":"Ack","hdr_fc":1})", {}, "dllp")),
              HasSubstr("Ack has no hdr_fc"));
  EXPECT_THAT(refusal(encode_of(R"({"type":"Ack","crc":"0000"})", {}, "dllp")), HasSubstr("crc"));
}

TEST(EncodeCommand, OtherKindsAreUnknown) {
  EXPECT_EQ(encode_of("{}", {}, "tpl").code, 64);
  EXPECT_EQ(decode_of("00", {}, "tpl").code, 64);
}

TEST(DecodeCommand, AnyTextIsRefusedOrDecoded) {
  RandomTlp random(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random.below(60), ' ');
    for (char& c : text) {
      c = random.below(20) == 0 ? static_cast<char>(random.below(256))
                                : "0123456789abcdef"[random.below(16)];
    }
    const Outcome outcome = decode_of(text, {"check=false"});
    ASSERT_TRUE(outcome.code == 2 ? outcome.out.empty() : outcome.code == 0) << text;
    if (outcome.code == 0) {
      ASSERT_EQ(encode_of(outcome.out).code, 0) << outcome.out;
    }
  }
}

}  // namespace
}  // namespace flitwise::encode_command_test
