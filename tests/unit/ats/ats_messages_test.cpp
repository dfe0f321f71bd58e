// SPDX-License-Identifier: Apache-2.0
// The messages of ATS and PRI, both ways and through the wire format. [LNK-4.4] to [LNK-4.8]
#include "ats/ats_messages.h"

#include <gtest/gtest.h>

#include <array>

#include "tlp/tlp_check.h"

namespace flitwise::ats_messages_test {
namespace {

constexpr Bdf kAgent = Bdf::of(0, 0, 0), kFunction = Bdf::of(1, 2, 3);

TEST(AtsMessages, SFE_07_InvalidateRequestComesBack) {
  InvalidateRequest request;
  request.agent = kAgent;
  request.function = kFunction;
  request.itag = 31;
  request.range = PageRange::everything();
  request.is_global = true;
  request.pasid = Pasid{0xabcde};
  std::array<std::uint8_t, kInvalidateBodyBytes> body{};
  const Tlp tlp = invalidate_request_tlp(request, body.data());
  EXPECT_FALSE(check_format(tlp));
  EXPECT_EQ(body[0], 0x7f);
  EXPECT_EQ(body[6], 0xf8);
  EXPECT_EQ(body[7], 0x01);
  const InvalidateRequest back = invalidate_request_of(tlp, body.data());
  EXPECT_EQ(back.agent, kAgent);
  EXPECT_EQ(back.function, kFunction);
  EXPECT_EQ(back.itag, 31);
  EXPECT_EQ(back.range, PageRange::everything());
  EXPECT_TRUE(back.is_global);
  EXPECT_EQ(back.pasid, request.pasid);
}

TEST(AtsMessages, INV_09_EightCompletionsAreCountZero) {
  const Tlp tlp = invalidate_completion_tlp({kAgent, kFunction, 7, 8, 0x80000001});
  EXPECT_FALSE(check_format(tlp));
  EXPECT_EQ(tlp.message_dw2 & 7U, 0U);
  const InvalidateCompletion back = invalidate_completion_of(tlp);
  EXPECT_EQ(back.completion_count, 8);
  EXPECT_EQ(back.itag_vector, 0x80000001U);
  EXPECT_EQ(back.agent, kAgent);
  EXPECT_EQ(back.function, kFunction);
  EXPECT_EQ(back.tc, 7);
}

TEST(AtsMessages, PRI_01_PageRequestComesBack) {
  PageRequest request;
  request.function = kFunction;
  request.pasid = Pasid{5};
  request.privileged = request.execute = true;
  request.page = 0xfedc'ba98'7654'3000;
  request.prg_index = 0x155;
  request.is_last = request.write = true;
  const Tlp tlp = page_request_tlp(request);
  EXPECT_FALSE(check_format(tlp));
  EXPECT_EQ(tlp.message_dw2, 0xfedcba98U);
  EXPECT_EQ(tlp.message_dw3, 0x76543000U | 0x155U << 3 | 6U);
  const PageRequest back = page_request_of(tlp);
  EXPECT_EQ(back.page, request.page);
  EXPECT_EQ(back.prg_index, 0x155);
  EXPECT_TRUE(back.is_last && back.write && !back.read && back.privileged && back.execute);
  EXPECT_EQ(back.pasid, request.pasid);
}

TEST(AtsMessages, PRI_04_PageMessagesTravelOnTcZero) {
  const TlpLimits end;
  TlpLimits passing;
  passing.is_end = false;
  Tlp tlp = page_request_tlp({});
  EXPECT_FALSE(check_tlp(tlp, end));
  tlp.tc = 1;
  EXPECT_EQ(check_tlp(tlp, end), TlpViolation::kPageMessageClass);
  EXPECT_FALSE(check_tlp(tlp, passing)) << "a switch does not look at it";
  tlp = prg_response_tlp({});
  tlp.tc = 7;
  EXPECT_EQ(check_tlp(tlp, end), TlpViolation::kPageMessageClass);
  tlp = invalidate_completion_tlp({});
  tlp.tc = 1;
  EXPECT_FALSE(check_tlp(tlp, end));
}

TEST(AtsMessages, PRI_07_AStopMarkerHasAPasid) {
  PageRequest request;
  request.is_last = true;
  EXPECT_FALSE(request.is_stop_marker());
  request.pasid = Pasid{0};
  EXPECT_TRUE(request.is_stop_marker());
  request.read = true;
  EXPECT_FALSE(request.is_stop_marker());
}

TEST(AtsMessages, PRI_10_UnusedCodesAreFailures) {
  EXPECT_EQ(prg_code_of(0), PrgCode::kSuccess);
  EXPECT_EQ(prg_code_of(1), PrgCode::kInvalidRequest);
  for (std::uint8_t code = 2; code < 16; ++code) {
    EXPECT_EQ(prg_code_of(code), PrgCode::kResponseFailure) << int{code};
  }
}

TEST(AtsMessages, PRI_36_PrgResponseComesBackWithOrWithoutPasid) {
  PrgResponse response{kAgent, kFunction, 511, 0xf, Pasid{9}};
  Tlp tlp = prg_response_tlp(response);
  EXPECT_FALSE(check_format(tlp));
  PrgResponse back = prg_response_of(tlp);
  EXPECT_EQ(back.agent, kAgent);
  EXPECT_EQ(back.function, kFunction);
  EXPECT_EQ(back.prg_index, 511);
  EXPECT_EQ(back.code, 0xf);
  EXPECT_EQ(back.pasid, response.pasid);
  response.pasid = {};
  tlp = prg_response_tlp(response);
  back = prg_response_of(tlp);
  EXPECT_FALSE(back.pasid.has_value());
}

TEST(AtsMessages, PRI_37_AFailureAlwaysNamesThePasid) {
  PageRequest last;
  last.function = kFunction;
  last.prg_index = 9;
  last.pasid = Pasid{5};
  const auto answer = [&last](PrgCode code, bool wants_pasid) {
    return prg_response_to(last, kAgent, code, wants_pasid);
  };
  EXPECT_EQ(answer(PrgCode::kSuccess, true).pasid, last.pasid);
  EXPECT_FALSE(answer(PrgCode::kSuccess, false).pasid.has_value());
  EXPECT_EQ(answer(PrgCode::kResponseFailure, false).pasid, last.pasid);
  EXPECT_EQ(answer(PrgCode::kResponseFailure, false).code, 0xf);
  EXPECT_EQ(answer(PrgCode::kSuccess, true).prg_index, 9);
  last.pasid = {};
  EXPECT_FALSE(answer(PrgCode::kResponseFailure, true).pasid.has_value());
}

}  // namespace
}  // namespace flitwise::ats_messages_test
