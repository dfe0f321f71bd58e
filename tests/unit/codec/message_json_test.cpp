// SPDX-License-Identifier: Apache-2.0
// Named fields of ATS and PRI messages in packet JSON, against bytes written by hand.
#include "codec/message_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "common/byte_vector.h"
#include "unit/codec/codec_support.h"

namespace flitwise::message_json_test {
namespace {

using test::decode_of;
using test::encode_of;
using test::refusal;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Encodes the fields to these bytes, and finds each of them in the packet that decode prints.
void expect_bytes(const std::string& type_and_code, const std::string& fields,
                  const std::string& hex) {
  const Json named = Json::parse("{" + fields + "}");
  const auto encoded = encode_of("{" + type_and_code + ", " + fields + "}");
  EXPECT_EQ(encoded.out, hex + "\n") << encoded.err;
  const Json packet = Json::parse(decode_of(hex).out);
  for (const auto& field : named.items()) {
    const MessageField* const row =
        find_message_field(field.key(), {packet.at("message_code").get<std::uint64_t>()});
    ASSERT_NE(row, nullptr) << field.key();
    std::uint64_t value = 0;
    EXPECT_EQ(read_message_value(*row, field.value(), value), "");
    EXPECT_EQ(message_field_of(packet, field.key()), message_value_json(*row, value))
        << field.key();
  }
}

const std::string kPageRequestType =
    R"("type": "Msg", "requester_id": "01:00.0", "message_code": 4)";
const std::string kPrgResponseType =
    R"("type": "Msg", "routing": "by_id", "requester_id": "00:08.0", "message_code": 5)";
const std::string kInvalidateRequestType =
    R"("type": "MsgD", "routing": "by_id", "requester_id": "00:08.0", "message_code": 1)";
const std::string kInvalidateCompletionType =
    R"("type": "Msg", "routing": "by_id", "requester_id": "01:00.0", "message_code": 2)";

TEST(MessageJson, LNK_4_7_FieldsOfAPageRequest) {
  expect_bytes(kPageRequestType, R"("page_address": "0x123456789abcd000")",
               "3000000001000004123456789abcd000");
  expect_bytes(kPageRequestType, R"("prg_index": 257)", "30000000010000040000000000000808");
  expect_bytes(kPageRequestType, R"("prg_index": 511)", "30000000010000040000000000000ff8");
  expect_bytes(kPageRequestType, R"("last_request": true)", "30000000010000040000000000000004");
  expect_bytes(kPageRequestType, R"("write_requested": true)", "30000000010000040000000000000002");
  expect_bytes(kPageRequestType, R"("read_requested": true)", "30000000010000040000000000000001");
}

TEST(MessageJson, LNK_4_8_FieldsOfAPrgResponse) {
  expect_bytes(kPrgResponseType, R"("destination_id": "12:1f.7")",
               "320000000040000512ff000000000000");
  expect_bytes(kPrgResponseType, R"("prg_index": 511)", "3200000000400005000001ff00000000");
  expect_bytes(kPrgResponseType, R"("reserved_bits": "0xe00")", "320000000040000500000e0000000000");
  expect_bytes(kPrgResponseType, R"("reserved_dw3": "0x80000001")",
               "32000000004000050000000080000001");
}

TEST(MessageJson, PRI_10_ResponseCodesByNameAndByNumber) {
  const std::map<std::string, std::string> bytes = {{R"("success")", "0"},
                                                    {R"("invalid_request")", "1"},
                                                    {R"("response_failure")", "f"},
                                                    {"0", "0"},
                                                    {"1", "1"},
                                                    {"15", "f"},
                                                    {"2", "2"},
                                                    {"14", "e"},
                                                    {R"("0xe")", "e"}};
  for (const auto& [code, digit] : bytes) {
    expect_bytes(kPrgResponseType, R"("response_code": )" + code,
                 "32000000004000050000" + digit + "00000000000");
  }
  EXPECT_THAT(refusal(encode_of("{" + kPrgResponseType + R"(, "response_code": "sucess"})")),
              AllOf(HasSubstr("response_code: \"sucess\" seen; expected success, invalid_request, "
                              "response_failure or a number 0 to 15"),
                    HasSubstr("nearest value 'success'")));
  EXPECT_THAT(refusal(encode_of("{" + kPrgResponseType + R"(, "response_code": 16})")),
              HasSubstr("a number 0 to 15"));
}

TEST(MessageJson, LNK_4_4_LNK_4_6_FieldsOfAnInvalidateRequest) {
  const std::string head = "72000002004000010000000000000000";
  expect_bytes(kInvalidateRequestType, R"("itag": 31, "sized": false)",
               "7200000200401f0100000000000000000000000000000000");
  expect_bytes(kInvalidateRequestType, R"("destination_id": "12:1f.7", "sized": false)",
               "720000020040000112ff0000000000000000000000000000");
  expect_bytes(kInvalidateRequestType, R"("untranslated_address": "0xfedcba987654f000")",
               head + "fedcba987654f000");
  expect_bytes(kInvalidateRequestType, R"("sized": true)", head + "0000000000000800");
  expect_bytes(kInvalidateRequestType, R"("global_invalidate": true)", head + "0000000000000001");
  expect_bytes(kInvalidateRequestType, R"("reserved_payload_bits": "0x7fe")",
               head + "00000000000007fe");
  expect_bytes(kInvalidateRequestType, R"("reserved_bits": "0xffff", "sized": false)",
               "72000002004000010000ffff000000000000000000000000");
  expect_bytes(kInvalidateRequestType, R"("reserved_dw3": "0x80000001", "sized": false)",
               "7200000200400001000000008000000100000000"
               "00000000");
}

TEST(MessageJson, LNK_4_5_FieldsOfAnInvalidateCompletion) {
  expect_bytes(kInvalidateCompletionType, R"("completion_count": 3, "destination_id": "00:08.0")",
               "32000000010000020040000300000000");
  expect_bytes(kInvalidateCompletionType, R"("itag_vector": "0x80000001")",
               "32000000010000020000000080000001");
  expect_bytes(kInvalidateCompletionType, R"("reserved_bits": "0xfff8")",
               "32000000010000020000fff800000000");
}

TEST(MessageJson, INV_09_EightCompletionsAreCodeZero) {
  expect_bytes(kInvalidateCompletionType, R"("completion_count": 8)",
               "32000000010000020000000000000000");
  for (const char* count : {"0", "9"}) {
    EXPECT_THAT(refusal(encode_of("{" + kInvalidateCompletionType + R"(, "completion_count": )" +
                                  count + "}")),
                HasSubstr("expected 1 to 8"));
  }
}

// What no field names would never be compared.
TEST(MessageJson, EachBitOfHeaderAndPayloadHasOneField) {
  for (const std::uint8_t code : {msg::kInvalidateRequest, msg::kInvalidateCompletion,
                                  msg::kPageRequest, msg::kPrgResponse}) {
    MessageWords all;
    for (const MessageField& field : message_fields()) {
      if (field.message_code == code) {
        EXPECT_EQ(all.*field.word & field.mask, 0U) << field.key;
        all.*field.word |= field.mask;
      }
    }
    EXPECT_EQ(all.header, ~std::uint64_t{0}) << int{code};
    EXPECT_EQ(all.payload, code == msg::kInvalidateRequest ? ~std::uint64_t{0} : 0) << int{code};
  }
}

TEST(MessageJson, ANumberBesideANameKeepsItsOtherBits) {
  EXPECT_EQ(encode_of("{" + kPrgResponseType +
                      R"(, "message_dw2": "0xe00", "message_dw3": 7, "prg_index": 5})")
                .out,
            "320000000040000500000e0500000007\n");
  EXPECT_EQ(
      encode_of("{" + kInvalidateRequestType +
                R"(, "tag": "0xe0", "itag": 5, "payload": "00000000000007fe", "sized": true})")
          .out,
      "720000020040e5010000000000000000"
      "0000000000000ffe\n");
  EXPECT_EQ(encode_of("{" + kPrgResponseType + R"(, "message_dw2": 5, "prg_index": 5})").code, 0);
  EXPECT_THAT(refusal(encode_of("{" + kPrgResponseType + R"(, "message_dw2": 4, "prg_index": 5})")),
              HasSubstr("prg_index: 5 seen, but message_dw2 says 4; expected one of them"));
}

TEST(MessageJson, AFieldOfAnotherMessageIsRefusedWithTheNearest) {
  EXPECT_THAT(refusal(encode_of("{" + kInvalidateCompletionType + R"(, "itag": 3})")),
              AllOf(HasSubstr("stdin:1"), HasSubstr("itag: Msg with message_code 2 has no itag"),
                    HasSubstr("message_code 1 (invalidate_request), destination_id, "
                              "completion_count, itag_vector or reserved_bits")));
  EXPECT_THAT(refusal(encode_of("{" + kPageRequestType + R"(, "prg_indx": 3})")),
              HasSubstr("nearest key 'prg_index'"));
  EXPECT_THAT(refusal(encode_of(R"({"type": "MWr", "prg_index": 3})")),
              HasSubstr("MWr has no prg_index"));
  EXPECT_THAT(refusal(encode_of(R"({"type": "MWr", "destination_id": "01:00.0"})")),
              HasSubstr("MWr has no destination_id"));
  EXPECT_THAT(refusal(encode_of("{" + kPageRequestType + R"(, "destination_id": "01:00.0"})")),
              AllOf(HasSubstr("Msg with message_code 4 has no destination_id"),
                    HasSubstr("message_code 5 (prg_response)")));
}

TEST(MessageJson, ValuesOutOfRangeAreRefused) {
  EXPECT_THAT(refusal(encode_of("{" + kPageRequestType + R"(, "prg_index": 512})")),
              HasSubstr("expected 0 to 511"));
  EXPECT_THAT(refusal(encode_of("{" + kPageRequestType + R"(, "page_address": "0x1800"})")),
              HasSubstr("expected no bits outside of 0xfffffffffffff000"));
  EXPECT_THAT(refusal(encode_of("{" + kInvalidateRequestType + R"(, "itag": 32})")),
              HasSubstr("expected 0 to 31"));
  EXPECT_THAT(refusal(encode_of("{" + kPrgResponseType + R"(, "reserved_bits": "0x300"})")),
              HasSubstr("expected no bits outside of 0xe00"));
  EXPECT_THAT(refusal(encode_of("{" + kInvalidateRequestType +
                                R"(, "length_dw": 1, "global_invalidate": true})")),
              HasSubstr("global_invalidate: stands in a payload of 4 bytes; expected one of 8"));
}

TEST(MessageJson, OtherPacketsHaveNoneOfTheFields) {
  const Json packet = Json::parse(decode_of("3200000001000002000000010000"
                                            "0008")
                                      .out);
  EXPECT_TRUE(message_field_of(packet, "prg_index").is_null());
  EXPECT_TRUE(message_field_of(packet, "tag").is_null());
  EXPECT_TRUE(message_field_of(Json{{"event", "done"}}, "itag_vector").is_null());
  // Malformed: no data, or not all of it.
  const Json bare = Json::parse(R"({"type": "Msg", "message_code": 1, "tag": 3,
                                    "message_dw2": "0x01000000", "message_dw3": "0x00000000"})");
  EXPECT_EQ(message_field_of(bare, "itag"), 3U);
  EXPECT_TRUE(message_field_of(bare, "sized").is_null());
  Json half = bare;
  half["payload"] = "00000801";
  EXPECT_TRUE(message_field_of(half, "sized").is_null());
}

}  // namespace
}  // namespace flitwise::message_json_test
