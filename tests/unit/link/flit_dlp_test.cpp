// SPDX-License-Identifier: Apache-2.0
// DLPs as bytes.
#include "link/flit_bytes.h"

#include <gtest/gtest.h>

namespace flitwise::flit_dlp_test {
namespace {

TEST(FlitDlp, LNK_11_20_EachFieldHasItsBits) {
  const auto bytes_with = [](const auto& set) {
    FlitDlp dlp;
    set(dlp);
    return encode(dlp);
  };
  const auto expect = [](const DlpBytes& bytes, int first, int second) {
    EXPECT_EQ(bytes[0], first);
    EXPECT_EQ(bytes[1], second);
  };
  expect(bytes_with([](FlitDlp&) {}), 0, 0);
  expect(bytes_with([](FlitDlp& dlp) { dlp.usage = 3; }), 0xc0, 0);
  expect(bytes_with([](FlitDlp& dlp) { dlp.prior_was_payload = true; }), 0x20, 0);
  expect(bytes_with([](FlitDlp& dlp) { dlp.other = 0; }), 0x10, 0);
  expect(bytes_with([](FlitDlp& dlp) { dlp.command = ReplayCommand::kAck; }), 0x04, 0);
  expect(bytes_with([](FlitDlp& dlp) { dlp.command = ReplayCommand::kNak; }), 0x08, 0);
  expect(bytes_with([](FlitDlp& dlp) { dlp.command = ReplayCommand::kSelectiveNak; }), 0x0c, 0);
  expect(bytes_with([](FlitDlp& dlp) { dlp.sequence = 0x2a5; }), 0x02, 0xa5);
  expect(bytes_with([](FlitDlp& dlp) { dlp.sequence = 1023; }), 0x03, 0xff);
}

TEST(FlitDlp, LNK_11_20_ADllpHasNoCrcOfItsOwn) {
  FlitDlp dlp;
  EXPECT_EQ(encode(dlp), (DlpBytes{0, 0, 0x31, 0, 0, 0}));
  dlp.dllp.type = DllpType::kUpdateFc;
  dlp.dllp.fc_class = FcClass::kPosted;
  dlp.dllp.hdr_fc = 64;
  dlp.dllp.data_fc = 512;
  EXPECT_EQ(encode(dlp), (DlpBytes{0, 0, 0x80, 0x10, 0x02, 0x00}));
  dlp.other = 0x12345678;
  EXPECT_EQ(encode(dlp), (DlpBytes{0x10, 0, 0x12, 0x34, 0x56, 0x78}));
}

// Every value of the first two bytes, with a DLLP and with what is none.
TEST(FlitDlp, LNK_11_20_ComesBackAsItWas) {
  for (unsigned head = 0; head < 0x10000; ++head) {
    const DlpBytes bytes = {static_cast<std::uint8_t>(head >> 8),
                            static_cast<std::uint8_t>(head),
                            0xa0,
                            0x12,
                            0x34,
                            0x56};
    const auto dlp = decode_dlp(bytes);
    ASSERT_TRUE(dlp);
    ASSERT_EQ(dlp->other.has_value(), (head & 0x1000) != 0);
    ASSERT_EQ(encode(*dlp), bytes);
  }
}

TEST(FlitDlp, LNK_11_24_FlowControlOfSharedCreditsHasABitInItsType) {
  FlitDlp dlp;
  dlp.dllp.type = DllpType::kUpdateFc;
  dlp.dllp.fc_class = FcClass::kNonPosted;
  dlp.dllp.is_shared = true;
  const DlpBytes bytes = encode(dlp);
  EXPECT_EQ(bytes, (DlpBytes{0, 0, 0x98, 0, 0, 0}));
  const auto decoded = decode_dlp(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(decoded->dllp.is_shared);
  EXPECT_EQ(decoded->dllp.type, DllpType::kUpdateFc);
  EXPECT_EQ(decoded->dllp.fc_class, FcClass::kNonPosted);
  EXPECT_FALSE(decode_dlp({0, 0, 0x90, 0, 0, 0})->dllp.is_shared);
  EXPECT_FALSE(decode_dlp({0, 0, 0x39, 0, 0, 0}));  // a NOP has no such bit
}

TEST(FlitDlp, LNK_6_2_AnUnknownDllpIsNone) {
  EXPECT_FALSE(decode_dlp({0, 0, 0xff, 0, 0, 0}));
  EXPECT_TRUE(decode_dlp({0x10, 0, 0xff, 0, 0, 0}));
}

}  // namespace
}  // namespace flitwise::flit_dlp_test
