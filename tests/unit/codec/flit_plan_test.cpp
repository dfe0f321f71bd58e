// SPDX-License-Identifier: Apache-2.0
// Planned flits, call after call.
#include "codec/flit_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "flitwise/error.h"

namespace flitwise::flit_plan_test {
namespace {

using testing::HasSubstr;

FlitTlp part(std::size_t bytes, bool began_before, bool ends_beyond) {
  FlitTlp tlp;
  tlp.bytes.assign(bytes, 0x40);
  tlp.began_before = began_before;
  tlp.ends_beyond = ends_beyond;
  return tlp;
}

FlitPlan plan_of(std::vector<FlitTlp> tlps) {
  FlitPlan plan;
  plan.tlps = std::move(tlps);
  return plan;
}

FlitDlp dlp_of(const WrittenFlit& flit) {
  DlpBytes bytes{};
  std::copy_n(flit.bytes.begin() + flit::kTlpBytes, bytes.size(), bytes.begin());
  return decode_dlp(bytes).value();
}

std::string refusal(FlitWriter& writer, const FlitPlan& plan) {
  try {
    writer.write({plan});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(FlitWriter, LNK_11_20_NumbersGoOnFromCallToCall) {
  FlitWriter writer;
  const FlitPlan read = plan_of({part(12, false, false)});
  EXPECT_EQ(dlp_of(writer.write({read})[0]).sequence, 1);
  FlitPlan ack = read;
  ack.dlp.command = ReplayCommand::kAck;
  ack.sequence = 77;
  EXPECT_EQ(dlp_of(writer.write({ack})[0]).sequence, 77);  // its own, 2, is not said
  const FlitDlp nop = dlp_of(writer.write({{}})[0]);
  EXPECT_EQ(nop.sequence, 2);
  EXPECT_TRUE(nop.prior_was_payload);
  EXPECT_EQ(dlp_of(writer.write({read})[0]).sequence, 3);
}

TEST(FlitWriter, LNK_11_22_ATlpMayGoOnFromCallToCall) {
  FlitWriter writer;
  EXPECT_EQ(writer.write({plan_of({part(236, false, true)})})[0].tlps, 1U);
  EXPECT_EQ(writer.write({plan_of({part(472, true, true)})}).size(), 2U);
  const auto last = writer.write({plan_of({part(4, true, false), part(12, false, false)})});
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].tlps, 2U);
}

TEST(FlitWriter, LNK_11_22_NothingElseStandsWhereATlpGoesOn) {
  FlitWriter writer;
  writer.write({plan_of({part(236, false, true)})});
  const FlitPlan whole = plan_of({part(12, false, false)});
  EXPECT_THAT(refusal(writer, whole), HasSubstr("expected its rest first"));
  EXPECT_THAT(refusal(writer, {}), HasSubstr("expected its rest first"));
  EXPECT_EQ(refusal(writer, plan_of({part(4, true, false)})), "");
  EXPECT_THAT(refusal(writer, plan_of({part(4, true, false)})), HasSubstr("began before"));
}

TEST(FlitWriter, WhatIsRefusedLeavesNoTrace) {
  FlitWriter writer;
  EXPECT_THAT(refusal(writer, plan_of({part(8, false, true)})), HasSubstr("up to its end"));
  const auto flits = writer.write({plan_of({part(8, true, false)})});
  EXPECT_EQ(flits.size(), 1U);
  EXPECT_EQ(dlp_of(flits[0]).sequence, 1);
}

}  // namespace
}  // namespace flitwise::flit_plan_test
