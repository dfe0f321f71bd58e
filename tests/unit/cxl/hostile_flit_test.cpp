// SPDX-License-Identifier: Apache-2.0
// Flits that are refused, in both directions, and leave the codec as it was.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "common/byte_vector.h"
#include "cxl/flit_codec.h"
#include "cxl/flit_frame.h"
#include "cxl/message_fields.h"

namespace flitwise::hostile_flit_test {
namespace {

using C = CxlChannel;
using Kind = CxlSlot::Kind;

constexpr auto kDown = CxlDirection::kDownstream;
constexpr auto kUp = CxlDirection::kUpstream;

class HostileCxlFlit : public testing::Test {
 protected:
  static ByteVector with_right_crc(CxlFlitForm form, ByteVector bytes) {
    return framed(form, body_of(form, bytes.data()), {});
  }
  /// A 68-byte flit with this header word.
  static ByteVector flit_68(std::uint32_t header) {
    ByteVector bytes = CxlFlitCodec(CxlFlitForm::k68, kDown, 0).encode({}).bytes;
    for (int i = 0; i < 4; ++i) {
      bytes[static_cast<std::size_t>(2 + i)] = static_cast<std::uint8_t>(header >> 8 * i);
    }
    return with_right_crc(CxlFlitForm::k68, bytes);
  }
  static std::uint32_t header_with(std::array<std::uint8_t, 4> formats) {
    CxlHeader68 header;
    header.formats = formats;
    return word_of(header);
  }
  void refuses(CxlFlitCodec& codec, const ByteVector& bytes, CxlFlitError error,
               std::size_t offset) {
    const std::uint32_t owed = codec.owed().chunks();
    const CxlFlitCodec::Decoded decoded = codec.decode(bytes.data(), bytes.size());
    ASSERT_TRUE(decoded.error.has_value());
    EXPECT_STREQ(name_of(*decoded.error), name_of(error));
    EXPECT_EQ(decoded.error_offset, offset);
    EXPECT_EQ(codec.owed().chunks(), owed);
  }
  static CxlFlit write_flit() {
    CxlFlit flit;
    flit.slots.resize(1);
    flit.slots[0].format = 4;
    flit.slots[0].messages.resize(1);
    flit.slots[0].messages[0].message.channel = C::kM2sRwd;
    return flit;
  }
  CxlFlitCodec down_{CxlFlitForm::k68, kDown, 0};
};

// [CXL-2.14]
TEST_F(HostileCxlFlit, CXL_2_1_OtherSizesAndProtocols) {
  const ByteVector good = flit_68(header_with({0, 1, 1, 1}));
  refuses(down_, {}, CxlFlitError::kWrongSize, 0);
  refuses(down_, ByteVector(67), CxlFlitError::kWrongSize, 67);
  refuses(down_, ByteVector(256), CxlFlitError::kWrongSize, 68);
  CxlFlitCodec large(CxlFlitForm::k256, kDown, 0);
  refuses(large, good, CxlFlitError::kWrongSize, 68);
  for (const std::size_t byte : {0U, 1U}) {
    ByteVector io = good;
    io[byte] = 0xff;
    refuses(down_, io, CxlFlitError::kOtherProtocol, byte);
  }
}

TEST_F(HostileCxlFlit, CXL_2_3_FormatsThatDoNotExist) {
  for (const std::uint8_t format : {std::uint8_t{6}, std::uint8_t{7}}) {
    refuses(down_, flit_68(header_with({format, 1, 1, 1})), CxlFlitError::kUnknownFormat, 2);
    refuses(down_, flit_68(header_with({0, 1, format, 1})), CxlFlitError::kUnknownFormat, 34);
  }
  refuses(down_, flit_68(header_with({0, 1, 1, 1}) & ~0x10U), CxlFlitError::kHalfLines, 2);
  // An upstream format in a downstream flit, in slot 9 of each kind of large flit.
  for (const CxlFlitForm form : {CxlFlitForm::k256, CxlFlitForm::k256LatencyOptimised}) {
    ByteVector bytes = CxlFlitCodec(form, kDown, 0).encode({}).bytes;
    const std::size_t at = 144;
    bytes[at] = 15;
    CxlFlitCodec codec(form, kDown, 0);
    refuses(codec, with_right_crc(form, bytes), CxlFlitError::kUnknownFormat, at);
  }
}

TEST_F(HostileCxlFlit, CXL_2_11_ControlFlitsThatDoNotExist) {
  refuses(down_, flit_68(1), CxlFlitError::kUnknownControl, 6);
}

TEST_F(HostileCxlFlit, CXL_2_5_DataThatNobodyAnnounced) {
  refuses(down_, flit_68(header_with({0, 1, 0, 1})), CxlFlitError::kNoDataOwed, 34);
}

TEST_F(HostileCxlFlit, CXL_2_5_MessagesWhereDataIsOwed) {
  CxlFlitCodec sender(CxlFlitForm::k68, kDown, 0);
  CxlFlit flit = write_flit();
  flit.slots.resize(3);
  flit.slots[1].kind = flit.slots[2].kind = Kind::kData;
  const ByteVector bytes = sender.encode(flit).bytes;
  ASSERT_FALSE(down_.decode(bytes.data(), bytes.size()).error);
  ASSERT_EQ(down_.owed().chunks(), 2U);
  refuses(down_, flit_68(header_with({0, 0, 1, 1})), CxlFlitError::kDataExpected, 34);
  const ByteVector rest = flit_68(header_with({0, 0, 0, 1}));
  EXPECT_FALSE(down_.decode(rest.data(), rest.size()).error);
  EXPECT_TRUE(down_.owed().is_empty());
}

TEST_F(HostileCxlFlit, CXL_4_3_TrailersAreNotModelled) {
  CxlFlitCodec codec(CxlFlitForm::k256, kUp, 0);
  CxlFlit flit;
  flit.slots.resize(1);
  flit.slots[0].format = 15;
  flit.slots[0].messages.resize(1);
  flit.slots[0].messages[0].message.channel = C::kS2mDrs;
  flit.slots[0].messages[0].has_trailer = true;
  EXPECT_EQ(codec.encode(flit).error, CxlFlitError::kTrailer);
  ByteVector bytes = CxlFlitCodec(CxlFlitForm::k256, kUp, 0).encode({}).bytes;
  bytes[2] = 15;
  put_bits(bytes.data(), 16 + 4, 1, 1);       // V
  put_bits(bytes.data(), 16 + 4 + 31, 1, 1);  // TRP
  refuses(codec, with_right_crc(CxlFlitForm::k256, bytes), CxlFlitError::kTrailer, 2);
}

// Headers upon headers: no more is owed than there is room to keep.
TEST_F(HostileCxlFlit, CXL_4_6_NobodyOwesMoreThanSixtyFourLines) {
  CxlFlitCodec codec(CxlFlitForm::k256LatencyOptimised, kUp, 0);
  CxlFlit flit;
  flit.slots.resize(15);
  for (std::size_t i = 0; i < 15; ++i) {
    const bool is_header = place_of(codec.form(), i) != CxlPlace::kG;
    flit.slots[i].kind = is_header ? Kind::kMessages : Kind::kData;
    flit.slots[i].format = 13;
    CxlWireMessage wire;
    wire.message.channel = C::kD2hData;
    flit.slots[i].messages.assign(is_header ? (i == 0 ? 4 : 3) : 0, wire);
  }
  for (int i = 0; i < 100; ++i) {
    const auto encoded = codec.encode(flit);
    if (encoded.error) {
      EXPECT_EQ(encoded.error, CxlFlitError::kTooMuchOwed);
      EXPECT_GT(codec.owed().lines(), 57U);
      return;
    }
  }
  FAIL() << "no bound";
}

TEST_F(HostileCxlFlit, CXL_2_5_WritersAreHeldToWhatIsOwed) {
  CxlFlit flit = write_flit();
  flit.slots.resize(2);
  EXPECT_EQ(down_.encode(flit).error_slot, 1U);  // format 0 of a generic slot is data
  flit.slots[1].format = 1;
  flit.slots[0].messages.resize(2);
  EXPECT_EQ(down_.encode(flit).error, CxlFlitError::kTooManyMessages);
  flit.slots[0].messages.resize(1);
  flit.slots[0].messages[0].message.channel = C::kM2sReq;
  EXPECT_EQ(down_.encode(flit).error, CxlFlitError::kWrongMessages);
  flit = write_flit();
  flit.slots.resize(4);
  for (std::size_t i = 1; i < 4; ++i) {
    flit.slots[i].kind = Kind::kByteEnables;
  }
  EXPECT_EQ(down_.encode(flit).error, CxlFlitError::kDataExpected);
  flit.header.has_byte_enables = true;
  EXPECT_EQ(down_.encode(flit).error_slot, 1U) << "they come behind four chunks";
  for (std::size_t i = 1; i < 4; ++i) {
    flit.slots[i].kind = Kind::kData;
  }
  EXPECT_FALSE(down_.encode(flit).error);
  EXPECT_EQ(down_.owed().chunks(), 2U);
  flit.slots.resize(5);
  EXPECT_TRUE(down_.encode(flit).error.has_value());
}

// A flit of data alone has no header that could say that it is a control flit.
TEST_F(HostileCxlFlit, CXL_2_11_NoControlFlitTakesThePlaceOfAllData) {
  ASSERT_FALSE(down_.encode(write_flit()).error);
  EXPECT_TRUE(down_.next_is_all_data());
  CxlFlit control;
  control.control = CxlControl{1, 0, 0};
  EXPECT_EQ(down_.encode(control).error, CxlFlitError::kDataExpected);
  CxlFlitCodec large(CxlFlitForm::k256, kDown, 0);
  EXPECT_EQ(large.encode(control).error, CxlFlitError::kUnknownControl);
  EXPECT_EQ(down_.encode({}).error, CxlFlitError::kDataExpected);
}

TEST_F(HostileCxlFlit, ErrorsHaveNames) {
  for (int i = 0; i <= static_cast<int>(CxlFlitError::kTooMuchOwed); ++i) {
    EXPECT_STRNE(name_of(static_cast<CxlFlitError>(i)), "?");
    EXPECT_STRNE(sentence_of(static_cast<CxlFlitError>(i)), "?");
  }
}

}  // namespace
}  // namespace flitwise::hostile_flit_test
