// SPDX-License-Identifier: Apache-2.0
// encode roce and decode roce: frames that others have made, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "unit/codec/codec_support.h"
#include "unit/network/roce_vectors.h"

namespace flitwise::roce_command_test {
namespace {

using test::refusal;
using test::roce_vectors;
using test::RoceVector;
using ::testing::HasSubstr;

test::Outcome encode_roce(const std::string& json, const std::vector<std::string>& sets = {}) {
  return test::encode_of(json, sets, "roce");
}
test::Outcome decode_roce(const std::string& hex, const std::vector<std::string>& sets = {}) {
  return test::decode_of(hex, sets, "roce");
}
std::string hex_of(const std::string& id) {
  for (const RoceVector& vector : roce_vectors()) {
    if (id == vector.id) {
      return vector.hex;
    }
  }
  ADD_FAILURE() << id;
  return {};
}

TEST(RoceCommand, ROCE_1_FramesOfOthersComeOutOfTheirFieldsByteForByte) {
  for (const RoceVector& vector : roce_vectors()) {
    if (!vector.json.empty()) {
      const test::Outcome outcome = encode_roce(vector.json);
      EXPECT_EQ(outcome.out, vector.hex + "\n") << vector.id << outcome.err;
    }
  }
}

TEST(RoceCommand, ROCE_1_FramesOfOthersComeBackFromTheirJson) {
  for (const RoceVector& vector : roce_vectors()) {
    const test::Outcome decoded = decode_roce(vector.hex);
    EXPECT_THAT(decoded.out, HasSubstr("\"icrc_ok\":true")) << vector.id << decoded.err;
    EXPECT_EQ(encode_roce(decoded.out).out, vector.hex + "\n") << vector.id;
  }
}

TEST(RoceCommand, ROCE_1_AFrameAsJson) {
  EXPECT_EQ(
      decode_roce(hex_of("V4")).out,
      R"({"eth":{"dst":"02:00:00:00:00:02","src":"02:00:00:00:00:01"},)"
      R"("ip":{"version":4,"dscp":0,"ecn":2,"length":68,"id":"0x0","df":true,"ttl":64,)"
      R"("checksum":"0x26a5","src":"10.0.0.1","dst":"10.0.0.2"},)"
      R"("udp":{"src_port":49152,"dst_port":4791,"length":48,"checksum":"0x0"},)"
      R"("bth":{"opcode":"RC_RDMA_WRITE_ONLY","se":false,"mig_req":false,"pad":0,)"
      R"("p_key":"0xffff","fecn":false,"becn":false,"dest_qp":"0x123456","ack_req":true,"psn":258},)"
      R"("reth":{"va":"0x7f0012345000","r_key":"0xdeadbeef","dma_length":8},)"
      R"("payload":"4142434445464748","icrc":"18e8f768","icrc_ok":true})"
      "\n");
}

TEST(RoceCommand, ROCE_5_AWrongIcrcIsToldAndComesBack) {
  std::string hex = hex_of("V3");
  hex.back() = '2';
  const std::string json = decode_roce(hex).out;
  EXPECT_THAT(json, HasSubstr(R"("icrc":"f873e4f2","icrc_ok":false)"));
  EXPECT_EQ(encode_roce(json).out, hex + "\n");
  EXPECT_THAT(refusal(encode_roce(json, {"icrc_ok=true"})),
              HasSubstr("icrc: f873e4f2 seen; expected f873e4f3, none, or icrc_ok false"));
  EXPECT_THAT(refusal(encode_roce(json, {"icrc=f873e4f3"})),
              HasSubstr("icrc: f873e4f3 seen; expected another than f873e4f3"));
}

TEST(RoceCommand, ROCE_1_SetsNameFieldsOfHeaders) {
  EXPECT_EQ(encode_roce("", {"bth.opcode=RC_SEND_ONLY", "bth.dest_qp=0x123456", "bth.psn=256",
                             "bth.ack_req=1", "ip.ecn=2", "payload=68656c6c6f207372646d61"})
                .out,
            hex_of("V3") + "\n");
  EXPECT_THAT(refusal(encode_roce(R"({"bth": 5})", {"bth.psn=1"})),
              HasSubstr("bth.psn: 5 seen before the dot; expected an object"));
}

TEST(RoceCommand, ROCE_1_TagsAndPaddingOfEthernetAreKept) {
  const std::string hex =
      encode_roce("", {"bth.opcode=RC_SEND_ONLY", "vlan.pcp=3", "vlan.vid=100", "trailer=0000"})
          .out;
  EXPECT_EQ(hex.substr(24, 12), "810060640800");
  EXPECT_EQ(hex.size(), 2U * 64 + 1);
  const std::string json = decode_roce(hex).out;
  EXPECT_THAT(json, HasSubstr(R"("vlan":{"pcp":3,"dei":false,"vid":100})"));
  EXPECT_THAT(json, HasSubstr(R"("icrc_ok":true,"trailer":"0000"})"));
  EXPECT_EQ(encode_roce(json).out, hex);
}

TEST(RoceCommand, ROCE_7_Ipv6HasAUdpChecksumUnlessOneIsGiven) {
  const std::vector<std::string> sets = {"bth.opcode=RC_SEND_ONLY", "ip.version=6",
                                         "ip.src=fd00::1", "ip.dst=fd00::2"};
  const std::string hex = encode_roce("", sets).out;
  EXPECT_NE(hex.substr(2 * 60, 4), "0000");
  EXPECT_EQ(encode_roce(decode_roce(hex).out).out, hex);
  std::vector<std::string> without = sets;
  without.emplace_back("udp.checksum=0");
  const std::string plain = encode_roce("", without).out;
  EXPECT_EQ(plain.substr(2 * 60, 4), "0000");
  EXPECT_EQ(plain.substr(2 * 62), hex.substr(2 * 62));  // the ICRC leaves it out
}

TEST(RoceCommand, ROCE_5_WhatBreaksARuleNeedsCheckFalse) {
  const std::vector<std::string> sets = {"bth.opcode=RC_SEND_ONLY", "payload=01", "padding=0a0b0c",
                                         "bth.tver=5"};
  EXPECT_THAT(refusal(encode_roce("", sets)),
              HasSubstr("transport_version at byte 43: TVer 5 seen; expected 0"));
  std::vector<std::string> unchecked = sets;
  unchecked.emplace_back("check=false");
  const std::string hex = encode_roce("", unchecked).out;
  EXPECT_THAT(refusal(decode_roce(hex)), HasSubstr("byte 43: transport_version in 62 bytes: TVer"));
  const std::string json = decode_roce(hex, {"check=false"}).out;
  EXPECT_THAT(json, HasSubstr(R"("padding":"0a0b0c")"));
  EXPECT_THAT(json, HasSubstr(R"("check":false)"));
  EXPECT_EQ(encode_roce(json).out, hex);
  EXPECT_THAT(refusal(decode_roce("0102", {"check=false"})),
              HasSubstr("byte 2: truncated in 2 bytes: 2 bytes seen; expected at least 14"));
}

// The largest packets of IP: beyond any MTU, but of the form of a frame.
TEST(RoceCommand, ROCE_6_PayloadsBeyondTheLargestMtuNeedCheckFalse) {
  const auto with = [](std::size_t bytes, const char* check) {
    return encode_roce("", {"bth.opcode=RC_SEND_ONLY", "payload=" + std::string(2 * bytes, '5'),
                            std::string("check=") + check, "trailer=" + std::string(400, '6')});
  };
  EXPECT_EQ(with(4096, "true").code, 0);
  EXPECT_THAT(refusal(with(4100, "true")), HasSubstr("4100 bytes of payload seen; expected 4096"));
  const std::string hex = with(65488, "false").out;
  EXPECT_EQ(encode_roce(decode_roce(hex, {"check=false"}).out).out, hex);
  EXPECT_THAT(refusal(with(65492, "false")),
              HasSubstr("payload: 65492 bytes seen, with which IP has length 65536; expected at "
                        "most 65535"));
}

struct Refused {
  const char* json;
  const char* message;
};

TEST(RoceCommand, ROCE_5_EncodeNamesTheKeyWhatWasSeenAndWhatWasExpected) {
  for (const Refused& row : {
           Refused{"{}", R"(bth.opcode: missing; expected an opcode such as "RC_SEND_ONLY")"},
           {R"({"bth":{"opcode":"RC_SEND_ONLI"}})", "nearest value 'RC_SEND_ONLY'"},
           {R"({"bth":{"opcode":"RC_SEND_ONLY","psn":16777216}})",
            "bth.psn: 16777216 seen; expected 0 to 0xffffff"},
           {R"({"bth":{"opcode":"RC_SEND_ONLY","pns":1}})", "bth.pns: unknown key"},
           {R"({"bth":{"opcode":"RC_SEND_ONLY"},"reth":{}})",
            "reth: RC_SEND_ONLY has no reth; expected headers of its opcode"},
           {R"({"bth":{"opcode":"RC_SEND_ONLY"},"ip":5})", "ip: number seen; expected an object"},
           {R"({"bth":{"opcode":"RC_SEND_ONLY"},"ip":{"version":5}})",
            "ip.version: 5 seen; expected 4 or 6"},
           {R"({"bth":{"opcode":"RC_SEND_ONLY"},"ip":{"src":"10.0.0"}})",
            R"(ip.src: "10.0.0" seen; expected an IPv4 address)"},
           {R"({"bth":{"opcode":"RC_SEND_ONLY"},"ip":{"version":6,"dst":"10.0.0.1"}})",
            "expected an IPv6 address"},
           {R"({"bth":{"opcode":"RC_SEND_ONLY"},"eth":{"src":"02:00"}})",
            R"(eth.src: "02:00" seen; expected a MAC address)"},
           {R"({"bth":{"opcode":"CNP"},"cnp":{"reserved":"00"}})",
            "expected 16 bytes as hex digits"},
           {R"({"bth":{"opcode":"RC_SEND_ONLY"},"padding":"00"})",
            "padding: 1 bytes seen; expected at most 0"},
           {R"({"bth":{"opcode":"RC_SEND_ONLY"},"ip":{"length":7}})", "ip_length at byte 16"},
           {R"({"bth":{"opcode":"RC_SEND_ONLY"},"udp":{"checksum":1}})", "udp_checksum at byte 40"},
           {R"([5])", "number seen; expected an object"},
       }) {
    EXPECT_THAT(refusal(encode_roce(row.json)), HasSubstr(row.message)) << row.json;
  }
  EXPECT_THAT(refusal(decode_roce(hex_of("V3"), {"framing=gen1"})), HasSubstr("unknown key"));
}

TEST(RoceCommand, WhereNothingWasSetNothingIsWrongWithIt) {
  EXPECT_THAT(encode_roce("").err, HasSubstr("stdin: bth.opcode: missing"));
  EXPECT_THAT(encode_roce("", {"bth.psn=1"}).err, HasSubstr("--set: bth.opcode: missing"));
  EXPECT_THAT(encode_roce("[]").err, HasSubstr("no packet in the list; expected an object"));
}

}  // namespace
}  // namespace flitwise::roce_command_test
