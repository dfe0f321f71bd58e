// SPDX-License-Identifier: Apache-2.0
// Flits as bytes and back.
#include "cxl/flit_codec.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "common/byte_vector.h"
#include "cxl/flit_frame.h"
#include "cxl/message_fields.h"
#include "unit/cxl/random_messages.h"

namespace flitwise::flit_codec_test {
namespace {

using Kind = CxlSlot::Kind;

constexpr std::array kForms = {CxlFlitForm::k68, CxlFlitForm::k256,
                               CxlFlitForm::k256LatencyOptimised};
constexpr auto kDown = CxlDirection::kDownstream;
constexpr auto kUp = CxlDirection::kUpstream;

/// The receiver's end: puts messages and lines together again.
class Receiver {
 public:
  Receiver(CxlFlitForm form, CxlDirection direction, std::uint32_t identity)
      : codec_(form, direction, identity) {}

  void receive(const ByteVector& bytes) {
    const CxlFlitCodec::Decoded decoded = codec_.decode(bytes.data(), bytes.size());
    ASSERT_FALSE(decoded.error) << name_of(*decoded.error) << " at " << decoded.error_offset;
    for (const CxlSlotContents& slot : decoded.flit.slots) {
      for (const CxlWireMessage& wire : slot.messages) {
        if (wire.is_valid) {
          auto& queue = sent[index_of(wire.message.channel)];
          queue.push_back({wire.message, {}});
          if (wire.message.has_data()) {
            lines_.emplace_back(wire.message.channel, queue.size() - 1);
          }
        }
      }
      if (slot.kind == Kind::kByteEnables) {
        ASSERT_EQ(at_, kCxlLineBytes) << "they stand behind the data of their line";
        line().message.byte_enables = bits_at(slot.chunk.data(), 0, 64);
        end_line();
      } else if (slot.kind == Kind::kData) {
        if (at_ == kCxlLineBytes) {
          end_line();
        }
        std::copy(slot.chunk.begin(), slot.chunk.end(), line().line.begin() + at_);
        at_ += kCxlChunkBytes;
      }
    }
  }
  const CxlOwedData& owed() const { return codec_.owed(); }
  std::array<std::vector<CxlSend>, kCxlChannels> sent;

 private:
  void end_line() {
    ++first_;
    at_ = 0;
  }
  CxlSend& line() { return sent[index_of(lines_.at(first_).first)].at(lines_[first_].second); }

  CxlFlitCodec codec_;
  std::vector<std::pair<CxlChannel, std::size_t>> lines_;
  std::size_t first_ = 0, at_ = 0;
};

TEST(CxlFlitCodec, CXL_2_5_WhatIsPackedArrivesWithItsData) {
  for (const CxlFlitForm form : kForms) {
    for (const CxlDirection direction : {kDown, kUp}) {
      for (const std::uint32_t identity : {0U, 12U, 36U}) {
        const CxlWidths widths(form, identity);
        test::RandomCxl random(form == CxlFlitForm::k68 ? 1 : 2);
        std::vector<CxlSend> sends;
        for (int i = 0; i < 400; ++i) {
          sends.push_back(random.send(direction, widths));
        }
        CxlFlitCodec sender(form, direction, identity);
        Receiver receiver(form, direction, identity);
        for (const CxlFlit& flit : pack_messages(sender.formats(), direction, sends)) {
          const CxlFlitCodec::Encoded encoded = sender.encode(flit);
          ASSERT_FALSE(encoded.error)
              << name_of(*encoded.error) << " in slot " << encoded.error_slot;
          ASSERT_EQ(encoded.bytes.size(), bytes_of(form));
          ASSERT_NO_FATAL_FAILURE(receiver.receive(encoded.bytes));
        }
        EXPECT_TRUE(receiver.owed().is_empty());
        std::array<std::size_t, kCxlChannels> next{};
        for (const CxlSend& send : sends) {
          const std::size_t channel = index_of(send.message.channel);
          ASSERT_LT(next[channel], receiver.sent[channel].size());
          const CxlSend& got = receiver.sent[channel][next[channel]++];
          EXPECT_TRUE(test::same_fields(got.message, send.message, widths));
          EXPECT_EQ(got.message.byte_enables, send.message.byte_enables);
          EXPECT_EQ(got.line, send.line);
        }
      }
    }
  }
}

/// Empty slots, then one with all messages of a format, then its data.
CxlFlit flit_of_format(const CxlSlotFormats& formats, std::size_t at, const CxlFormat& format,
                       test::RandomCxl& random) {
  const CxlFlitForm form = formats.widths().form;
  CxlFlit flit;
  std::size_t chunks = 0;
  for (std::size_t i = 0; i < slots_of(form); ++i) {
    CxlSlotContents slot;
    slot.format = formats.in(place_of(form, i)).begin()->code;
    if (i == at) {
      slot.format = format.code;
      for (const CxlGroup& group : format.groups) {
        for (std::uint8_t n = 0; n < group.count; ++n) {
          CxlWireMessage wire;
          wire.message = random.message(group.channel, formats.widths());
          slot.messages.push_back(wire);
          chunks += wire.message.has_data() ? kCxlChunksPerLine : 0;
        }
      }
    } else if (chunks > 0 && place_of(form, i) == CxlPlace::kG) {
      slot.kind = Kind::kData;
      slot.chunk.fill(static_cast<std::uint8_t>(random.bits(8)));
      --chunks;
    }
    flit.slots.push_back(slot);
  }
  return flit;
}

// [CXL-2.4] [CXL-4.2]
TEST(CxlFlitCodec, CXL_2_3_EveryFormatComesBackFromEverySlot) {
  test::RandomCxl random(3);
  for (const CxlFlitForm form : kForms) {
    for (const CxlDirection direction : {kDown, kUp}) {
      const CxlSlotFormats formats(CxlWidths(form, 0), direction);
      for (std::size_t at = 0; at < slots_of(form); ++at) {
        for (const CxlFormat& format : formats.in(place_of(form, at))) {
          const CxlFlit flit = flit_of_format(formats, at, format, random);
          CxlFlitCodec sender(form, direction, 0), receiver(form, direction, 0);
          const ByteVector bytes = sender.encode(flit).bytes;
          const CxlFlitCodec::Decoded decoded = receiver.decode(bytes.data(), bytes.size());
          ASSERT_FALSE(decoded.error) << name_of(*decoded.error);
          const CxlSlotContents& slot = decoded.flit.slots[at];
          EXPECT_EQ(slot.format, format.code);
          ASSERT_EQ(slot.messages.size(), flit.slots[at].messages.size());
          for (std::size_t n = 0; n < slot.messages.size(); ++n) {
            EXPECT_TRUE(test::same_fields(slot.messages[n].message,
                                          flit.slots[at].messages[n].message, formats.widths()));
          }
          EXPECT_EQ(receiver.owed().chunks(), sender.owed().chunks());
        }
      }
    }
  }
}

// ---- the frame

TEST(CxlFlitCodec, CXL_2_1_SixtyEightBytesAreProtocolIdSlotsAndCrc) {
  CxlFlitCodec codec(CxlFlitForm::k68, kUp, 0);
  CxlFlit flit;
  flit.header.is_ack = true;
  flit.header.credits[0] = {CxlProtocol::kMem, 3};
  const ByteVector bytes = codec.encode(flit).bytes;
  ASSERT_EQ(bytes.size(), 68U);
  EXPECT_EQ(bytes[0], 0x55);
  EXPECT_EQ(bytes[1], 0x55);
  // Ak, Sz, empty generic slots of format 1, request credits of CXL.mem with code 3.
  EXPECT_EQ(bits_at(bytes.data() + 2, 0, 32), 0x14U | 0b001001001U << 8 | 0xbU << 24);
  EXPECT_EQ(bits_at(bytes.data() + 66, 0, 16), crc_of(kCrc68, bytes.data() + 2, 64));
}

TEST(CxlFlitCodec, CXL_4_1_PartsOf256BytesStandWhereTheTableSays) {
  CxlFlitCodec codec(CxlFlitForm::k256, kDown, 0);
  CxlFlit flit;
  flit.header_256 = 0x1234;
  flit.credits = {CxlProtocol::kCache, {1, 2, 3}};
  flit.slots.resize(15);
  for (CxlSlotContents& slot : flit.slots) {
    slot.format = 4;
  }
  flit.fec = {1, 2, 3, 4, 5, 6};
  const ByteVector bytes = codec.encode(flit).bytes;
  ASSERT_EQ(bytes.size(), 256U);
  EXPECT_EQ(bits_at(bytes.data(), 0, 16), 0x1234U);
  EXPECT_EQ(bytes[2], 4);
  for (std::size_t slot = 1; slot < 15; ++slot) {
    EXPECT_EQ(bytes[16 * slot], 4);
  }
  EXPECT_EQ(bits_at(bytes.data() + 240, 0, 16), word_of(flit.credits));
  EXPECT_EQ(bits_at(bytes.data() + 242, 0, 64), crc_of(kCrc256, bytes.data(), 242));
  EXPECT_EQ(bytes[250], 1);
  EXPECT_EQ(bytes[255], 6);
}

// Each half has 128 bytes and its own CRC, so that the first can be used before the second is
// there; slot 7 is cut by it.
TEST(CxlFlitCodec, CXL_4_4_EachHalfOfALatencyOptimisedFlitHasItsCrc) {
  constexpr auto kForm = CxlFlitForm::k256LatencyOptimised;
  CxlFlitCodec codec(kForm, kUp, 0);
  CxlFlit flit;
  flit.credits = {CxlProtocol::kMem, {1, 1, 1}};
  flit.fec = {1, 2, 3, 4, 5, 6};
  const ByteVector bytes = codec.encode(flit).bytes;
  ASSERT_EQ(bytes.size(), 256U);
  EXPECT_EQ(body_bytes(kForm), 238U);
  EXPECT_EQ(bits_at(bytes.data() + 122, 0, 48), crc_of(kCrcOfHalf, bytes.data(), 122));
  EXPECT_EQ(bits_at(bytes.data() + 250, 0, 48), crc_of(kCrcOfHalf, bytes.data() + 128, 116));
  EXPECT_EQ(bits_at(bytes.data() + 240, 0, 16), word_of(flit.credits));
  EXPECT_EQ(ByteVector(bytes.begin() + 244, bytes.begin() + 250), (ByteVector{1, 2, 3, 4, 5, 6}));
}

// Each byte of the second half by a table of its own: the end of slot 7, slot 8 but for two bytes,
// slots 9 to 14 where the standard form has them, credits, and the two bytes.
TEST(CxlFlitCodec, CXL_4_4_BytesOfTheSecondHalfStandWhereTheTableSays) {
  constexpr auto kForm = CxlFlitForm::k256LatencyOptimised;
  std::vector<std::size_t> places;  // by byte of the body from 122 on
  const auto run = [&](std::size_t first, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      places.push_back(first + i);
    }
  };
  run(128, 6);
  run(134, 10);
  run(242, 2);
  run(144, 6 * 16);
  run(240, 2);
  ASSERT_EQ(places.size(), body_bytes(kForm) - 122);
  for (std::size_t i = 0; i < body_bytes(kForm); ++i) {
    EXPECT_EQ(flit_offset(kForm, i), i < 122 ? i : places[i - 122]) << i;
  }
  EXPECT_EQ(slot_at(kForm, 8), 128U);
  EXPECT_EQ(flit_offset(kForm, slot_at(kForm, 9)), 144U);
}

// [CXL-4.8]
TEST(CxlFlitCodec, CXL_2_13_EveryWrongBitFailsTheCrc) {
  for (const CxlFlitForm form : kForms) {
    const ByteVector good = CxlFlitCodec(form, kDown, 0).encode({}).bytes;
    const std::size_t bits = form == CxlFlitForm::k68    ? 68 * 8
                             : form == CxlFlitForm::k256 ? 250 * 8
                                                         : 256 * 8;
    for (std::size_t bit = form == CxlFlitForm::k68 ? 16 : 0; bit < bits; ++bit) {
      const bool is_fec = form == CxlFlitForm::k256LatencyOptimised && bit / 8 / 2 >= 122 &&
                          bit / 8 < 250;  // 244 to 249
      if (is_fec) {
        continue;
      }
      ByteVector bad = good;
      bad[bit / 8] = static_cast<std::uint8_t>(bad[bit / 8] ^ 1U << bit % 8);
      EXPECT_EQ(CxlFlitCodec(form, kDown, 0).decode(bad.data(), bad.size()).error,
                CxlFlitError::kBadCrc)
          << bit;
    }
  }
}

// ---- control flits

TEST(CxlFlitCodec, CXL_2_11_ControlFlitsHaveNoSlots) {
  for (const CxlControlInfo& info : kCxlControlFlits) {
    CxlFlitCodec codec(CxlFlitForm::k68, kUp, 0);
    CxlFlit flit;
    flit.control = CxlControl{info.type, info.subtype, 0x123456789abcdef0};
    flit.header.is_ack = true;
    const ByteVector bytes = codec.encode(flit).bytes;
    EXPECT_EQ(bytes[2] & 1, 1);
    const CxlFlitCodec::Decoded decoded = codec.decode(bytes.data(), bytes.size());
    ASSERT_TRUE(decoded.flit.control.has_value());
    EXPECT_STREQ(find_cxl_control(decoded.flit.control->type, decoded.flit.control->subtype)->name,
                 info.name);
    EXPECT_EQ(decoded.flit.control->payload, flit.control->payload);
    EXPECT_TRUE(decoded.flit.header.is_ack);
    EXPECT_TRUE(decoded.flit.slots.empty());
  }
}

}  // namespace
}  // namespace flitwise::flit_codec_test
