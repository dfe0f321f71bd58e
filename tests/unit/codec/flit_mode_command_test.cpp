// SPDX-License-Identifier: Apache-2.0
// The commands encode and decode for TLPs of flit mode and for flits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "codec/json_value.h"
#include "common/byte_vector.h"
#include "link/flit_bytes.h"
#include "tlp/flit_tlp_codec.h"
#include "unit/codec/codec_support.h"
#include "unit/tlp/random_tlp.h"

namespace flitwise::flit_mode_command_test {
namespace {

using test::decode_of;
using test::encode_of;
using test::from_hex;
using test::Outcome;
using test::RandomTlp;
using test::refusal;
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

constexpr std::size_t kHexOfFlit = 2 * flit::kBytes;

Outcome encode_flits(const std::string& text, const std::vector<std::string>& sets = {}) {
  return encode_of(text, sets, "flit");
}
Outcome decode_flits(const std::string& hex, const std::vector<std::string>& sets = {}) {
  return decode_of(hex, sets, "flit");
}

std::string good(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.out;
}

// One JSON object a line.
std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(Json::parse(line));
  }
  return lines;
}

std::string hex(const ByteVector& bytes) {
  return json_value::hex_bytes(bytes.data(), bytes.size());
}

// The flit of a line of hex digits, changed and protected anew.
template <class Change>
std::string remade(const std::string& line, Change change) {
  const ByteVector bytes = from_hex(line.substr(0, kHexOfFlit));
  FlitBytes flit{};
  std::copy(bytes.begin(), bytes.end(), flit.begin());
  change(flit);
  protect_flit(flit);
  return hex(ByteVector(flit.begin(), flit.end()));
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
      const ByteVector payload = random.payload(tlp);
      ByteVector bytes;
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

// [LNK-11.1] [LNK-11.20]
TEST(EncodeCommand, LNK_11_2_OneTlpMakesOneFlit) {
  const std::string line = good(encode_flits(R"({"tlps":[)" + kRead + "]}"));
  ASSERT_EQ(line.size(), kHexOfFlit + 1);
  EXPECT_EQ(line.substr(0, 24), kReadHex);
  EXPECT_EQ(line.substr(24, 2 * flit::kTlpBytes - 24), std::string(2 * flit::kTlpBytes - 24, '0'));
  EXPECT_EQ(line.substr(2 * flit::kTlpBytes, 12), "400131000000");
  EXPECT_EQ(good(encode_flits("", {"tlps=[" + kRead + "]"})), line);
}

TEST(DecodeCommand, LNK_11_22_FlitsGoThereAndBack) {
  const std::string json = R"({"seq":1022,"usage":2,"prior_was_payload":true,
      "dllp":{"type":"UpdateFC-P","hdr_fc":3,"data_fc":5},
      "tlps":[{"type":"MWr","address":"0x1000","payload":"11223344","td":true,"first_be":6},)" +
                           kRead + "]}";
  const std::string line = good(encode_flits(json));
  const std::string decoded = good(decode_flits(line));
  const Json flit = Json::parse(decoded);
  EXPECT_EQ(flit["seq"], 1022);
  EXPECT_EQ(flit["command"], "explicit");
  EXPECT_EQ(flit["usage"], 2);
  EXPECT_EQ(flit["prior_was_payload"], true);
  EXPECT_EQ(flit["dllp"]["type"], "UpdateFC-P");
  EXPECT_FALSE(flit["dllp"].contains("crc"));
  ASSERT_EQ(flit["tlps"].size(), 2U);
  EXPECT_EQ(flit["tlps"][0]["payload"], "11223344");
  EXPECT_EQ(flit["tlps"][1]["address"], "0x12345678");
  EXPECT_FALSE(flit.contains("mended"));
  EXPECT_EQ(good(encode_flits(decoded)), line);
}

// [LNK-11.6]
TEST(EncodeCommand, LNK_11_20_NumbersFollowOnFromFlitToFlit) {
  const std::string tlps = R"("tlps":[)" + kRead + "]";
  const auto flits = lines_of(good(decode_flits(
      good(encode_flits(R"({"seq":1022,)" + tlps + "}\n{" + tlps + "}\n{}\n{" + tlps +
                        R"(,"command":"nak","seq":7})" + "\n{" + tlps +
                        R"(,"command":"selective_nak","seq":8})" + "\n{" + tlps + "}\n")))));
  ASSERT_EQ(flits.size(), 6U);
  const std::vector<int> numbers = {1022, 1023, 1023, 7, 8, 3};
  const std::vector<bool> priors = {false, true, true, false, true, true};
  for (std::size_t i = 0; i < flits.size(); ++i) {
    EXPECT_EQ(flits[i]["seq"], numbers[i]) << i;
    EXPECT_EQ(flits[i]["prior_was_payload"], priors[i]) << i;
  }
  EXPECT_EQ(flits[3]["command"], "nak");
  EXPECT_EQ(flits[4]["command"], "selective_nak");
  EXPECT_TRUE(flits[2]["tlps"].empty());
  EXPECT_THAT(refusal(encode_flits(R"({"command":"ack"})")), HasSubstr("seq: missing"));
}

TEST(EncodeCommand, LNK_11_2_AListTooLongForOneFlitGivesSeveral) {
  std::string list;
  for (int i = 0; i < 40; ++i) {
    list +=
        (i == 0 ? "" : ",") + std::string(R"({"type":"MWr","address":"0x1000","length_dw":17})");
  }
  const std::string text = good(encode_flits(R"({"tlps":[)" + list + "]}"));
  ASSERT_EQ(text.size(), 14 * (kHexOfFlit + 1));  // 40 x 80 bytes in 236 a flit
  std::string one_line = text;
  one_line.erase(std::remove(one_line.begin(), one_line.end(), '\n'), one_line.end());
  const std::string decoded = good(decode_flits(text));
  EXPECT_EQ(good(decode_flits(one_line)), decoded);
  EXPECT_EQ(good(encode_flits(decoded)), text);
  std::size_t tlps = 0;
  for (const Json& flit : lines_of(decoded)) {
    tlps += flit["tlps"].size();
  }
  EXPECT_EQ(tlps, 40U);
}

TEST(DecodeCommand, LNK_11_22_TlpsThatTheseFlitsHavePartsOfAreShownAsBytes) {
  const std::string payload(2 * 600, 'e');  // that no TLP begins with
  const std::string list = R"({"tlps":[)" + kRead +
                           R"(,{"type":"MWr","address":"0x1000","payload":")" + payload +
                           "\"}]}\n{}\n";
  const std::string text = good(encode_flits(list));  // 12 + 612 bytes: three flits
  ASSERT_EQ(text.size(), 3 * (kHexOfFlit + 1));
  const std::string first = text.substr(0, kHexOfFlit + 1);
  const std::string cut = good(decode_flits(first));
  const Json begun = Json::parse(cut)["tlps"][1];
  EXPECT_EQ(begun["ends_beyond"], true);
  EXPECT_EQ(begun["began_before"], false);
  EXPECT_EQ(begun["bytes"].get<std::string>().size(), 2 * (flit::kTlpBytes - 12U));
  EXPECT_EQ(good(encode_flits(cut)), first);

  const std::string rest = text.substr(kHexOfFlit + 1);
  EXPECT_THAT(refusal(decode_flits(rest, {"rest_dw=96"})), HasSubstr("unknown_type"));
  const std::string ended = good(decode_flits(rest, {"rest_dw=97"}));
  const Json end = lines_of(ended)[0]["tlps"][0];
  EXPECT_EQ(end["began_before"], true);
  EXPECT_EQ(end["ends_beyond"], false);
  EXPECT_EQ(end["bytes"].get<std::string>().size(), 2 * 4 * 97U);
  EXPECT_EQ(good(encode_flits(ended)), rest);
  const Json both =
      Json::parse(good(decode_flits(rest.substr(0, kHexOfFlit), {"rest_dw=97"})))["tlps"][0];
  EXPECT_EQ(both["began_before"], true);
  EXPECT_EQ(both["ends_beyond"], true);
}

// The ninth read has to wait for the second half.
TEST(DecodeCommand, LNK_11_3_NopTlpsBeforeATlpAreCounted) {
  std::string list = kRead;
  for (int i = 1; i < 9; ++i) {
    list += "," + kRead;
  }
  const std::string packed = good(encode_flits(R"({"tlps":[)" + list + "]}"));
  const std::string decoded = good(decode_flits(packed));
  const Json tlps = Json::parse(decoded)["tlps"];
  ASSERT_EQ(tlps.size(), 9U);
  EXPECT_FALSE(tlps[7].contains("nops"));
  EXPECT_EQ(tlps[8]["nops"], 8);
  EXPECT_EQ(good(encode_flits(decoded)), packed);
  const std::string apart = good(
      encode_flits(R"({"tlps":[{"type":"MRd","nops":2},{"type":"MRd","nops":5},{"type":"MRd"}]})"));
  EXPECT_EQ(apart.substr(2 * 4 * 2, 2), "03");
  EXPECT_EQ(apart.substr(2 * 4 * 10, 2), "03");
  EXPECT_EQ(apart.substr(2 * 4 * 13, 2), "03");
  EXPECT_EQ(good(encode_flits(good(decode_flits(apart)))), apart);
  EXPECT_THAT(refusal(encode_flits(R"({"tlps":[{"type":"MRd","nops":59}]})")),
              HasSubstr("tlps[0].nops: 59 seen; expected 0 to 58"));
}

TEST(EncodeCommand, LNK_11_22_PartsOfTlpsStandAtTheEndsOnly) {
  const auto refused = [](const std::string& tlps) {
    return refusal(encode_flits(R"({"tlps":[)" + tlps + "]}"));
  };
  const std::string before = R"({"bytes":"00112233","began_before":true})";
  const std::string beyond = R"({"bytes":"40000001","ends_beyond":true})";
  EXPECT_THAT(refused(kRead + "," + before), HasSubstr("expected it first"));
  EXPECT_THAT(refused(beyond + "," + kRead), HasSubstr("expected that one to be last"));
  EXPECT_THAT(refused(beyond), HasSubstr("ends before its flit does"));
  EXPECT_THAT(refused(R"({"bytes":"00112233"})"), HasSubstr("a whole TLP"));
  EXPECT_THAT(refused(R"({"bytes":"0011","began_before":true})"), HasSubstr("whole DWs"));
}

// [LNK-11.8]
TEST(DecodeCommand, LNK_11_21_WhatFecMendsIsTold) {
  const std::string line = good(encode_flits(R"({"tlps":[)" + kRead + "]}"));
  ByteVector bytes = from_hex(line.substr(0, kHexOfFlit));
  bytes[17] ^= 0x40;
  const Json one = Json::parse(good(decode_flits(hex(bytes))));
  EXPECT_EQ(one["mended"], Json::array({17}));
  bytes[18] ^= 0xff;
  bytes[19] ^= 0x01;
  const std::string burst = good(decode_flits(hex(bytes)));
  EXPECT_EQ(Json::parse(burst)["mended"], Json::array({17, 18, 19}));
  EXPECT_EQ(good(encode_flits(burst)), line);
  bytes[20] ^= 0x01;
  EXPECT_THAT(refusal(decode_flits(line + hex(bytes) + "\n")),
              HasSubstr("stdin:2:1: flit 2, byte 242: bad_crc"));
}

TEST(DecodeCommand, LNK_11_22_ErrorsNameTheFlitAndTheByte) {
  const std::string line = good(encode_flits(R"({"tlps":[)" + kRead + "]}"));
  const auto refused = [&](const auto& change) {
    return refusal(decode_flits(line + remade(line, change)));
  };
  EXPECT_THAT(refused([](FlitBytes& flit) { flit[16] = 0xff; }),
              HasSubstr("stdin:2:1: flit 2, byte 16: unknown_type"));
  EXPECT_THAT(refused([](FlitBytes& flit) { flit[238] = 0xff; }),
              HasSubstr("stdin:2:1: flit 2, byte 238: unknown_type"));
  EXPECT_THAT(refused([](FlitBytes& flit) { flit[11] = 0xfc, flit[10] = 0x5f; }),
              HasSubstr("flit 2, byte 2: crosses_4kib"));
  const auto crowd = [](FlitBytes& flit) {
    for (std::size_t at = 12; at < 108; at += 12) {
      std::copy_n(flit.begin(), 12, flit.begin() + static_cast<long>(at));
    }
  };
  EXPECT_THAT(refused(crowd), HasSubstr("flit 2, byte 96: too_many_starts"));
  const Json crowded = Json::parse(good(decode_flits(remade(line, crowd), {"check=false"})));
  EXPECT_EQ(crowded["tlps"].size(), 9U);
  EXPECT_EQ(crowded["check"], false);
  EXPECT_THAT(refusal(decode_flits(line + line.substr(0, 20))),
              HasSubstr("stdin:2:1: 10 bytes seen; expected 256 a flit"));
  EXPECT_THAT(refusal(decode_flits("")), HasSubstr("no packet"));
  EXPECT_THAT(refusal(decode_flits("", {"rest_dw=1"})), HasSubstr("no packet"));
  EXPECT_THAT(refusal(decode_flits(line, {"rest=1"})), HasSubstr("nearest key 'rest_dw'"));
}

TEST(EncodeCommand, LNK_11_20_AllThatIsWrongWithAFlitComesAtOnceWithItsPlace) {
  const std::string err = refusal(encode_flits(
      R"({"seq":1024,"usage":4,"command":"hold","dllp":{"type":"Ack","seq":5000},"not_a_dllp":0,
          "tlps":[{"type":"MRd"},{"type":"MWr","adress":0,"tag":16384}],"extra":1})"));
  for (const char* part :
       {"seq: 1024 seen; expected 0 to 1023", "usage: 4 seen", "command: ", "dllp.seq: 5000 seen",
        "not_a_dllp: beside a dllp", "tlps[1].adress: unknown key", "tlps[1].tag: 16384 seen",
        "extra: unknown key"}) {
    EXPECT_THAT(err, HasSubstr(part));
  }
  EXPECT_THAT(refusal(encode_flits(R"({"tlps":[{"type":"MRd","length_dw":2,"address":4092}]})")),
              HasSubstr("tlps[0].crosses_4kib"));
  EXPECT_EQ(
      encode_flits(R"({"check":false,"tlps":[{"type":"MRd","length_dw":2,"address":4092}]})").code,
      0);
  EXPECT_THAT(refusal(encode_flits(R"({"tlps":7})")), HasSubstr("expected a list of TLPs"));
  EXPECT_THAT(refusal(encode_flits("[1]")), HasSubstr("expected an object"));
}

TEST(DecodeCommand, LNK_11_20_WhatIsNoDllpIsKept) {
  const std::string line = good(encode_flits(R"({"not_a_dllp":"0x12345678"})"));
  EXPECT_EQ(line.substr(2 * flit::kTlpBytes, 12), "13ff12345678");
  const Json flit = Json::parse(good(decode_flits(line)));
  EXPECT_EQ(flit["not_a_dllp"], "0x12345678");
  EXPECT_FALSE(flit.contains("dllp"));
  EXPECT_EQ(good(encode_flits(flit.dump())), line);
}

TEST(DecodeCommand, LNK_11_24_ADllpOfSharedCreditsGoesThereAndBack) {
  const std::string line =
      good(encode_flits(R"({"dllp":{"type":"UpdateFC-NP","shared":true,"hdr_fc":3}})"));
  EXPECT_EQ(line.substr(2 * flit::kTlpBytes + 4, 2), "98");
  const Json flit = Json::parse(good(decode_flits(line)));
  EXPECT_EQ(flit["dllp"]["shared"], true);
  EXPECT_EQ(flit["dllp"]["hdr_fc"], 3);
  EXPECT_EQ(good(encode_flits(flit.dump())), line);
}

TEST(DecodeCommand, LNK_11_22_AnyFlitIsRefusedOrDecoded) {
  RandomTlp random(32);
  int decoded_flits = 0;
  for (int i = 0; i < 2'000; ++i) {
    const Outcome plain = encode_flits(R"({"tlps":[)" + kRead + "," + kRead + "]}");
    const std::string text = remade(plain.out, [&](FlitBytes& flit) {
      for (std::uint32_t hits = random.below(6); hits > 0; --hits) {
        flit[random.below(kFlitCrcAt)] = static_cast<std::uint8_t>(random.below(256));
      }
    });
    const Outcome outcome = decode_flits(text, {"check=false"});
    ASSERT_TRUE(outcome.code == 2 ? outcome.out.empty() : outcome.code == 0) << text;
    if (outcome.code == 0) {
      ++decoded_flits;
      const Outcome again = encode_flits(outcome.out);
      ASSERT_EQ(again.code, 0) << outcome.out << again.err;
      ASSERT_EQ(decode_flits(again.out, {"check=false"}).out, outcome.out);
    }
  }
  EXPECT_GT(decoded_flits, 100);
}

}  // namespace
}  // namespace flitwise::flit_mode_command_test
