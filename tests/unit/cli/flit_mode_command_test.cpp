// SPDX-License-Identifier: Apache-2.0
// The commands encode and decode for TLPs of flit mode.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tlp/flit_tlp_encoder.h"
#include "tlp/json_value.h"
#include "unit/cli/codec_support.h"
#include "unit/tlp/random_tlp.h"

namespace flitwise {
namespace {

using testing::Bytes;
using testing::decode_of;
using testing::encode_of;
using ::testing::HasSubstr;
using testing::Outcome;
using testing::RandomTlp;
using testing::refusal;
using Json = nlohmann::ordered_json;

std::string good(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.out;
}

std::string hex(const Bytes& bytes) {
  return json_value::hex_bytes(bytes.data(), bytes.size());
}

const std::string kRead = R"({"type":"MRd","address":"0x12345678","length_dw":16,)"
                          R"("requester_id":"01:02.3","tag":90})";
const std::string kReadHex = "030000100113005a12345678";

TEST(EncodeCommand, LNK_11_14_FlitModeIsAKeyOfTheTlp) {
  EXPECT_EQ(good(encode_of(kRead, {"flit_mode=true"})), kReadHex + "\n");
  EXPECT_EQ(good(encode_of(kRead, {"flit_mode=false"})), good(encode_of(kRead)));
  EXPECT_EQ(good(encode_of(kRead, {"flit_mode=true", "tag=16383"})).substr(8, 8), "01133fff");
  EXPECT_THAT(refusal(encode_of(kRead, {"tag=16383"})), HasSubstr("tag"));
}

TEST(EncodeCommand, LNK_11_16_PasidStandsInOhcA1) {
  EXPECT_EQ(good(encode_of(R"({"type":"MWr","address":"0x1000","payload":"11223344",
                               "pasid":"0x12345","flit_mode":true})")),
            "4001000100000000000010004123450f11223344\n");
}

TEST(EncodeCommand, LNK_11_13_WhatFlitModeHasNotIsRefusedWithItsKey) {
  const auto refused = [](const std::vector<std::string>& sets) {
    std::vector<std::string> all = {"flit_mode=true"};
    all.insert(all.end(), sets.begin(), sets.end());
    return refusal(encode_of("", all));
  };
  EXPECT_THAT(refused({"type=CplD", "bcm=true"}), HasSubstr("bcm: "));
  EXPECT_THAT(refused({"type=MWr", "ph=1"}), HasSubstr("ph: without th"));
  EXPECT_THAT(refused({"type=Msg", "tag=64"}), HasSubstr("tag: "));
  EXPECT_THAT(refused({"type=MWr", "prefixes=0x92000000"}), HasSubstr("prefixes: "));
  EXPECT_THAT(refused({"type=MWr", "framing=gen3"}), HasSubstr("framing: a TLP of flit mode"));
  EXPECT_THAT(refusal(decode_of(kReadHex, {"flit_mode=true", "framing=gen1"})),
              HasSubstr("framing: a TLP of flit mode"));
  EXPECT_THAT(refusal(encode_of("", {"type=MWr", "prefixes=0x8d000000"})), HasSubstr("prefixes"));
  EXPECT_THAT(refusal(encode_of("", {"type=MWr", "ohc_a=true"})), HasSubstr("ohc_a: unknown key"));
}

TEST(DecodeCommand, LNK_11_13_ErrorsOfFlitModeNameTheByte) {
  const auto refused = [](const std::string& text) {
    return refusal(decode_of(text, {"flit_mode=true"}));
  };
  EXPECT_THAT(refused("00000000"), HasSubstr("stdin:1:1: byte 0: nop_tlp in 4 bytes"));
  EXPECT_THAT(refused("22000001 0113005a 00000000 00001000"), HasSubstr("uio_not_modelled"));
  EXPECT_THAT(refused("03040001 0113005a 00001000 00000000"),
              HasSubstr("byte 1: ohc_c_not_modelled"));
  const std::string crossing = "030000020113005a00001ffc";
  EXPECT_THAT(refused(crossing), HasSubstr("byte 2: crosses_4kib"));
  const Outcome all_the_same = decode_of(crossing, {"flit_mode=true", "check=false"});
  EXPECT_EQ(good(encode_of(good(all_the_same))), crossing + "\n");
}

TEST(DecodeCommand, LNK_11_16_WhatDecodePrintsOfFlitModeEncodesToTheSameBytes) {
  RandomTlp random(31);
  for (int round = 0; round < 40; ++round) {
    for (int kind = 0; kind < kTlpTypes; ++kind) {
      const Tlp tlp = random.make(static_cast<TlpType>(kind));
      if (find_flit_mode_gap(tlp)) {
        continue;
      }
      const Bytes payload = random.payload(tlp);
      Bytes bytes;
      encode_flit_mode(tlp, random.flip() && !is_message(tlp.type), payload.data(), payload.size(),
                       bytes);
      const Outcome decoded = decode_of(hex(bytes), {"flit_mode=true"});
      ASSERT_EQ(decoded.code, 0) << decoded.err;
      ASSERT_EQ(good(encode_of(decoded.out)), hex(bytes) + "\n") << decoded.out;
    }
  }
}

TEST(DecodeCommand, LNK_11_16_ReservedBitsAndSpareOhcAreKept) {
  const std::string text = "400100010113005a000010000123450f11223344";
  const Outcome decoded = decode_of(text, {"flit_mode=true"});
  const Json json = Json::parse(good(decoded));
  EXPECT_EQ(json["ohc_a"], true);
  EXPECT_EQ(json["flit_mode"], true);
  EXPECT_FALSE(json.contains("pasid"));
  EXPECT_EQ(good(encode_of(decoded.out)), text + "\n");
}

}  // namespace
}  // namespace flitwise
