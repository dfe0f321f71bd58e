// SPDX-License-Identifier: Apache-2.0
// encode cxl and decode cxl: flits between JSON and bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

#include "codec/cxl_flit_json.h"
#include "codec/encode_command.h"
#include "unit/cxl/random_messages.h"

namespace flitwise::cxl_text_test {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

struct Outcome {
  int code = 0;
  std::string out, err;
};

Outcome encode_of(const std::string& text, const std::vector<std::string>& sets = {}) {
  std::istringstream in(text);
  std::ostringstream out, err;
  const int code = encode_command("cxl", sets, in, out, err);
  return {code, out.str(), err.str()};
}
Outcome decode_of(const std::string& hex, const std::vector<std::string>& sets) {
  std::istringstream in(hex);
  std::ostringstream out, err;
  const int code = decode_command("cxl", sets, {}, in, out, err);
  return {code, out.str(), err.str()};
}
std::string refusal(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 2) << outcome.out;
  EXPECT_EQ(outcome.out, "");
  return outcome.err;
}
std::vector<Json> lines_in(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  std::vector<Json> lines;
  std::istringstream in(outcome.out);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(Json::parse(line));
  }
  return lines;
}

// Two reads: 2 DRS and three chunks, four chunks, and one behind an empty header slot.
const char* const kReads = R"({"flit": "68", "direction": "up", "messages": [
    {"channel": "S2M DRS", "opcode": "MemData", "tag": 1},
    {"channel": "S2M DRS", "opcode": "MemData-NXM", "tag": 2, "data": ")"
                           "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
                           "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f\"}]}";

TEST(CxlText, CXL_2_5_MessagesBecomeAsManyFlitsAsTheyTake) {
  const Outcome encoded = encode_of(kReads);
  const std::vector<Json> flits = lines_in(decode_of(encoded.out, {"direction=up"}));
  ASSERT_EQ(flits.size(), 3U);
  EXPECT_EQ(flits[0]["slots"][0]["format"], 5);
  EXPECT_EQ(flits[0]["slots"][0]["messages"][1]["opcode"], "MemData-NXM");
  EXPECT_EQ(flits[0]["slots"][0]["messages"][1]["tag"], 2);
  EXPECT_EQ(flits[1]["all_data"], true);
  EXPECT_EQ(flits[1]["slots"][1]["data"], "000102030405060708090a0b0c0d0e0f");
  EXPECT_EQ(flits[2]["slots"][1]["data"], "303132333435363738393a3b3c3d3e3f");
  EXPECT_EQ(flits[2]["slots"][0]["messages"], Json::array());
}

// [CXL-2.6]
TEST(CxlText, CXL_2_6_ByteEnablesGoAlong) {
  for (const std::string form : {"68", "256", "256_lopt"}) {
    const Outcome encoded = encode_of(
        R"({"direction": "down", "messages": [{"channel": "M2S RwD", "opcode": "MemWrPtl",
            "tag": 7, "address": "0x1000", "byte_enables": "0xff"}]})",
        {"flit=" + form});
    const std::vector<Json> flits =
        lines_in(decode_of(encoded.out, {"direction=down", "flit=" + form}));
    const Json& slots = flits[form == "68" ? 1 : 0]["slots"];
    EXPECT_EQ(slots[form == "68" ? 2 : 5]["byte_enables"], "0xff") << "behind four chunks";
    EXPECT_EQ(flits[0]["slots"][0]["messages"][0]["address"], "0x1000");
    if (form == "68") {
      EXPECT_EQ(flits[0]["be"], true);
    } else {
      EXPECT_EQ(flits[0]["slots"][0]["messages"][0]["has_byte_enables"], true);
    }
  }
}

TEST(CxlText, CXL_1_5_ReqsMayHaveAnIdentity) {
  const std::string text =
      R"({"flit": "256", "direction": "up", "identity_bits": 36, "messages": [
          {"channel": "D2H Req", "opcode": "RdOwn", "cqid": 5, "identity": "0x912345678"}]})";
  const Outcome encoded = encode_of(text);
  const Json flit = lines_in(decode_of(encoded.out, {"direction=up", "identity_bits=36"}))[0];
  EXPECT_EQ(flit["slots"][0]["messages"][0]["identity"], "0x912345678");
  EXPECT_EQ(flit["slots"][0]["messages"][0]["opcode"], "RdOwn");
  EXPECT_THAT(refusal(encode_of(text, {"identity_bits=56"})), HasSubstr("fits no slot"));
}

// What decode prints is what encode takes, for whole streams.
TEST(CxlText, CXL_4_1_WhatIsDecodedEncodesToTheSameBytes) {
  test::RandomCxl random(11);
  for (const auto& [name, form] :
       {std::pair{"68", CxlFlitForm::k68}, std::pair{"256", CxlFlitForm::k256},
        std::pair{"256_lopt", CxlFlitForm::k256LatencyOptimised}}) {
    for (const auto& [way, direction] :
         {std::pair{"down", CxlDirection::kDownstream}, std::pair{"up", CxlDirection::kUpstream}}) {
      CxlFlitCodec codec(form, direction, 9);
      std::vector<CxlSend> sends;
      for (int i = 0; i < 100; ++i) {
        sends.push_back(random.send(direction, codec.formats().widths()));
      }
      std::string hex;
      for (CxlFlit& flit : pack_messages(codec.formats(), direction, sends)) {
        flit.header.is_ack = random.bits(1) != 0;
        flit.header.credits[1] = {CxlProtocol::kMem, static_cast<std::uint8_t>(1 + random.bits(2))};
        flit.header_256 = static_cast<std::uint16_t>(random.bits(16));
        flit.credits = {CxlProtocol::kMem, {3, 0, 31}};
        const auto bytes = codec.encode(flit).bytes;
        hex += json_value::hex_bytes(bytes.data(), bytes.size()) + "\n";
      }
      const Outcome decoded = decode_of(
          hex, {std::string("flit=") + name, std::string("direction=") + way, "identity_bits=9"});
      EXPECT_EQ(decoded.code, 0) << decoded.err;
      const Outcome encoded = encode_of(decoded.out);
      EXPECT_EQ(encoded.err, "");
      EXPECT_TRUE(encoded.out == hex) << name << ' ' << way;
    }
  }
}

TEST(CxlText, CXL_2_11_ControlFlits) {
  for (
      const std::string text :
      {R"({"flit":"68","control":"LLCRD.Ack","acks_2_0":5,"ak":true,"acks_7_4":9,"credits":{"cache_req":64,"mem_rsp":2}})",
       R"({"flit":"68","control":"RETRY.Idle"})", R"({"flit":"68","control":"RETRY.Frame"})",
       R"({"flit":"68","control":"RETRY.Req","seq":200,"num_retry":3,"num_phy_reinit":1})",
       R"({"flit":"68","control":"RETRY.Ack","empty":1,"viral":0,"num_retry":31,"wr_ptr":255,
            "seq":17,"num_free_buf":128,"ld_id":65535})",
       R"({"flit":"68","control":"INIT.Param","payload":"0xffffffffffffffff","ak":true})"}) {
    const Json given = Json::parse(text);
    const std::vector<Json> flits = lines_in(decode_of(encode_of(text).out, {"direction=up"}));
    ASSERT_EQ(flits.size(), 1U);
    for (const auto& item : given.items()) {
      EXPECT_EQ(flits[0][item.key()], item.value()) << text;
    }
  }
}

TEST(CxlText, CXL_2_10_CreditsAreThoseThatAFlitCanSay) {
  const auto credits = [](const char* form, const char* text) {
    return encode_of(std::string(R"({"direction":"up","flit":")") + form + R"(","credits":)" +
                     text + "}");
  };
  EXPECT_EQ(credits("68", R"({"cache_req":1,"mem_rsp":64,"mem_data":0})").code, 0);
  EXPECT_THAT(refusal(credits("68", R"({"cache_req":3})")),
              HasSubstr("credits.cache_req: 3 seen; expected 0 or a power of two"));
  EXPECT_THAT(refusal(credits("68", R"({"cache_req":128})")), HasSubstr("0 to 64"));
  EXPECT_THAT(refusal(credits("68", R"({"cache_req":1,"mem_req":1})")),
              HasSubstr("one protocol in a class"));
  EXPECT_EQ(credits("256", R"({"mem_req":31,"mem_rsp":3})").code, 0);
  EXPECT_THAT(refusal(credits("256", R"({"mem_req":32})")), HasSubstr("0 to 31"));
  EXPECT_THAT(refusal(credits("256", R"({"mem_req":1,"cache_rsp":1})")),
              HasSubstr("credits.mem_req: a 256-byte flit returns credits of one protocol"));
  EXPECT_THAT(refusal(credits("256", "7")), HasSubstr("credits: number seen"));
}

TEST(CxlText, WhatIsWrongIsSaidWithItsPlace) {
  const auto flit = [](const std::string& rest) {
    return refusal(encode_of(R"({"flit":"68","direction":"down",)" + rest + "}"));
  };
  EXPECT_THAT(flit(R"("slotz":[])"), HasSubstr("nearest key 'slots'"));
  EXPECT_THAT(flit(R"("slots":[{},{"data":"00"}])"), HasSubstr("slots[1].data: 1 bytes seen"));
  EXPECT_THAT(flit(R"("slots":[{},{"data":"00112233445566778899aabbccddeeff"}])"),
              HasSubstr("slots[1]: no_data_owed"));
  EXPECT_THAT(flit(R"("slots":[{"format":9}])"), HasSubstr("slots[0]: unknown_format"));
  EXPECT_THAT(flit(R"("slots":[{"format":4,"messages":[{"channel":"M2S RwD","tg":1}]}])"),
              HasSubstr("slots[0].messages[0].tg: unknown key"));
  EXPECT_THAT(flit(R"("slots":[{"format":4,"messages":[{"channel":"M2S RwD","address":32}]}])"),
              HasSubstr("expected a multiple of 64"));
  EXPECT_THAT(flit(R"("slots":[{"format":4,"messages":[{"channel":"M2S RwD","opcode":"MemRd"}]}])"),
              HasSubstr("expected MemWr, MemWrPtl"));
  EXPECT_THAT(flit(R"("slots":[{"messages":[{}]}])"), HasSubstr("messages[0].channel: missing"));
  EXPECT_THAT(flit(R"("slots":[{"messages":[{"channel":"M2S BIRsp"}]}])"), HasSubstr("expected"));
  EXPECT_THAT(flit(R"("slots":[{"data":"","byte_enables":1}])"), HasSubstr("several contents"));
  EXPECT_THAT(flit(R"("slots":[{},{},{},{},{}])"), HasSubstr("at most 4"));
  EXPECT_THAT(flit(R"("slots":7)"), HasSubstr("a list of at most 4"));
  EXPECT_THAT(flit(R"("all_data":true)"), HasSubstr("0 chunks are owed"));
  EXPECT_THAT(flit(R"("crc":"0000")"), HasSubstr("crc: \"0000\" seen; expected"));
  EXPECT_THAT(flit(R"("fec":"000000000000")"), HasSubstr("a 68-byte flit has no fec"));
  EXPECT_THAT(flit(R"("control":"RETRY.Req","slots":[])"), HasSubstr("a control flit has none"));
  EXPECT_THAT(flit(R"("control":"RETRY.Rek")"), HasSubstr("nearest value 'RETRY.Req'"));
  EXPECT_THAT(flit(R"("messages":[{"channel":"S2M NDR"}])"),
              HasSubstr("messages[0].channel: S2M NDR seen; expected a channel that goes down"));
  EXPECT_THAT(flit(R"("messages":[{"channel":"M2S Req","data":""}])"),
              HasSubstr("M2S Req has no data"));
  EXPECT_THAT(flit(R"("messages":[{"channel":"M2S RwD","data":"0011"}])"),
              HasSubstr("2 bytes seen; expected a line of 64"));
  EXPECT_THAT(flit(R"("messages":7)"), HasSubstr("expected a list of messages"));
  EXPECT_THAT(flit(R"("messages":[],"slots":[])"), HasSubstr("unknown key"));
  EXPECT_THAT(refusal(encode_of("{}")), HasSubstr("flit: missing"));
  EXPECT_THAT(refusal(encode_of(R"({"flit":"68"})")), HasSubstr("direction: missing"));
  EXPECT_THAT(refusal(encode_of("[7]")), HasSubstr("expected an object"));
  EXPECT_THAT(refusal(encode_of(R"({"flit":"256","direction":"up","control":"RETRY.Idle"})")),
              HasSubstr("a 256-byte flit has no control"));
  EXPECT_THAT(refusal(encode_of(R"({"flit":"256","direction":"up","fec":"00"})")),
              HasSubstr("expected 6"));
}

// Half a stream: the second object finds what the first left owed.
TEST(CxlText, CXL_2_5_WhatIsOwedIsKeptFromFlitToFlit) {
  const std::string write = R"({"flit":"68","direction":"down","slots":[{"format":4,"messages":
      [{"channel":"M2S RwD"}]}]})";
  EXPECT_THAT(refusal(encode_of("[" + write + "," + write + "]")),
              HasSubstr("slots[0]: data_expected"));
  EXPECT_THAT(
      refusal(encode_of("[" + write + R"(,{"flit":"68","direction":"down","messages":[]}])")),
      HasSubstr("4 chunks are owed"));
}

TEST(CxlText, DecodeNamesTheByte) {
  std::string hex = encode_of(kReads).out;
  EXPECT_THAT(refusal(decode_of(hex, {})), HasSubstr("direction: missing"));
  EXPECT_THAT(refusal(decode_of(hex, {"direction=sideways"})), HasSubstr("expected down"));
  EXPECT_THAT(refusal(decode_of(hex, {"direction=up", "framing=gen1"})),
              HasSubstr("framing: unknown key"));
  hex[200] = hex[200] == '0' ? '1' : '0';  // in the second flit
  EXPECT_THAT(refusal(decode_of(hex, {"direction=up"})),
              HasSubstr("stdin:2:1: byte 66: bad_crc in 68 bytes"));
  EXPECT_THAT(refusal(decode_of("5555", {"direction=up"})), HasSubstr("byte 2: wrong_size"));
  EXPECT_THAT(refusal(decode_of("55zz", {"direction=up"})), HasSubstr("expected hex digits"));
}

}  // namespace
}  // namespace flitwise::cxl_text_test
