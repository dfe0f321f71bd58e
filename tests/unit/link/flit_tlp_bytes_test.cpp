// SPDX-License-Identifier: Apache-2.0
// TLPs packed into the bytes of flits, and found there again.
#include "link/flit_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "common/byte_vector.h"
#include "link/flit_framer.h"
#include "tlp/flit_tlp_codec.h"
#include "unit/link/link_support.h"
#include "unit/tlp/random_tlp.h"

namespace flitwise::flit_tlp_bytes_test {
namespace {

Tlp write(unsigned dw) {
  Tlp tlp;
  tlp.type = TlpType::kMWr;
  tlp.is_4dw = true;
  tlp.length_dw = static_cast<std::uint16_t>(dw);
  tlp.first_be = 0xf;
  tlp.last_be = dw > 1 ? 0xf : 0;
  return tlp;
}
Tlp read() {
  Tlp tlp = write(16);
  tlp.type = TlpType::kMRd;
  tlp.is_4dw = false;
  return tlp;
}

// Payload bytes that no TLP begins with.
ByteVector bytes_of(const Tlp& tlp) {
  ByteVector bytes;
  const ByteVector payload(data_bytes(tlp), 0xee);
  encode_flit_mode(tlp, false, payload.data(), payload.size(), bytes);
  return bytes;
}

ByteVector packed(TlpBytePacker& packer) {
  ByteVector stream;
  while (packer.has_work()) {
    const TlpBytePacker::Filled filled = packer.fill();
    stream.insert(stream.end(), filled.bytes.begin(), filled.bytes.end());
  }
  return stream;
}

TEST(TlpBytePacker, LNK_11_2_WhatNoTlpTakesIsNopTlps) {
  TlpBytePacker packer;
  EXPECT_EQ(packer.fill().taken, 0U);
  const ByteVector tlp = bytes_of(write(16));
  packer.push(tlp);
  const TlpBytePacker::Filled filled = packer.fill();
  EXPECT_EQ(filled.taken, 80U);
  EXPECT_TRUE(std::equal(tlp.begin(), tlp.end(), filled.bytes.begin()));
  EXPECT_TRUE(std::all_of(filled.bytes.begin() + 80, filled.bytes.end(),
                          [](std::uint8_t byte) { return byte == 0; }));
  EXPECT_FALSE(packer.has_work());
}

TEST(TlpBytePacker, LNK_11_2_ATlpIsCutByTheEndOfAFlit) {
  TlpBytePacker packer;
  const ByteVector tlp = bytes_of(write(100));  // 416 bytes
  packer.push(tlp);
  const TlpBytePacker::Filled first = packer.fill();
  EXPECT_EQ(first.taken, flit::kTlpBytes);
  const TlpBytePacker::Filled second = packer.fill();
  EXPECT_EQ(second.taken, 416U - 236U);
  EXPECT_TRUE(std::equal(tlp.begin() + 236, tlp.end(), second.bytes.begin()));
}

// Twelve bytes each: eight fill 96 bytes, the ninth begins at 128, the seventeenth in another flit.
TEST(TlpBytePacker, LNK_11_3_EightBeginInAHalf) {
  TlpBytePacker packer;
  for (int i = 0; i < 17; ++i) {
    packer.push(bytes_of(read()));
  }
  const ByteVector stream = packed(packer);
  const FoundTlps found = find_tlps(stream, 0);
  EXPECT_FALSE(found.error);
  EXPECT_FALSE(found.ninth_at);
  ASSERT_EQ(found.tlps.size(), 17U);
  EXPECT_EQ(found.tlps[7].start, 84U);
  EXPECT_EQ(found.tlps[8].start, 128U);
  EXPECT_EQ(found.tlps[15].start, 212U);
  EXPECT_EQ(found.tlps[16].start, std::size_t{flit::kTlpBytes});
}

// The bytes stand where the timed packer says that they do.
TEST(TlpBytePacker, LNK_11_2_PacksAsTheTimedPackerDoes) {
  test::RandomTlp random(21);
  PacketPool pool;
  TransactionQueues queues(512, RelaxedPassing::kNever);
  FlitPacker timed(queues);
  TlpBytePacker packer;
  for (int i = 0; i < 200; ++i) {
    const Tlp tlp = write(1 + random.below(random.flip() ? 4 : 200));
    PacketRef packet = test::packet(pool, TlpType::kMWr, tlp.length_dw);
    packet->tlp = tlp;
    packet->size = flit_mode_size_of(tlp, packet->payload_bytes);
    queues.push(std::move(packet));
    packer.push(bytes_of(tlp));
  }
  const FoundTlps found = find_tlps(packed(packer), 0);
  ASSERT_EQ(found.tlps.size(), 200U);
  std::size_t next = 0;
  for (std::size_t number = 0; timed.has_work(Time{}); ++number) {
    Flit flit;
    WireSize size;
    timed.fill(Time{}, flit, size);
    for (const PacketRef& begun : flit.starts) {
      ASSERT_EQ(found.tlps[next].start / flit::kTlpBytes, number) << next;
      ASSERT_EQ(found.tlps[next].bytes.size(), flit_mode_tlp_bytes(begun->tlp));
      ++next;
    }
  }
  EXPECT_EQ(next, 200U);
}

TEST(FindTlps, LNK_11_22_PartsOfTlpsAreFoundAtBothEnds) {
  TlpBytePacker packer;
  const ByteVector whole = bytes_of(write(100));
  packer.push_rest(ByteVector(whole.end() - 40, whole.end()));
  packer.push(bytes_of(read()));
  packer.push(whole);
  const TlpBytePacker::Filled filled = packer.fill();
  const ByteVector stream(filled.bytes.begin(), filled.bytes.end());
  const FoundTlps found = find_tlps(stream, 40);
  ASSERT_FALSE(found.error);
  ASSERT_EQ(found.tlps.size(), 3U);
  EXPECT_TRUE(found.tlps[0].began_before && !found.tlps[0].ends_beyond);
  EXPECT_EQ(found.tlps[0].bytes, ByteVector(whole.end() - 40, whole.end()));
  EXPECT_TRUE(!found.tlps[1].began_before && !found.tlps[1].ends_beyond);
  EXPECT_TRUE(!found.tlps[2].began_before && found.tlps[2].ends_beyond);
  EXPECT_EQ(found.tlps[2].bytes, ByteVector(whole.begin(), whole.begin() + 236 - 52));
  const FoundTlps rest = find_tlps(stream, 240);
  ASSERT_EQ(rest.tlps.size(), 1U);
  EXPECT_TRUE(rest.tlps[0].began_before && rest.tlps[0].ends_beyond);
}

TEST(FindTlps, LNK_11_3_ANinthTlpInAHalfIsToldOf) {
  ByteVector stream;
  for (int i = 0; i < 9; ++i) {
    const ByteVector tlp = bytes_of(read());
    stream.insert(stream.end(), tlp.begin(), tlp.end());
  }
  stream.resize(flit::kTlpBytes);
  const FoundTlps found = find_tlps(stream, 0);
  EXPECT_EQ(found.tlps.size(), 9U);
  EXPECT_EQ(found.ninth_at, std::optional<std::size_t>(96));
}

TEST(FindTlps, LNK_11_22_BehindWhatIsNoTlpNothingIsFound) {
  ByteVector stream = bytes_of(read());
  stream.resize(flit::kTlpBytes);
  stream[16] = 0xff;
  stream[24] = 0x03;
  const FoundTlps found = find_tlps(stream, 0);
  EXPECT_EQ(found.error, FlitTlpError::kUnknownType);
  EXPECT_EQ(found.error_at, 16U);
  EXPECT_EQ(found.tlps.size(), 1U);
}

TEST(FindTlps, LNK_11_22_RandomTlpsOfEveryKindAreFoundAsTheyWere) {
  test::RandomTlp random(22);
  for (int round = 0; round < 200; ++round) {
    TlpBytePacker packer;
    std::vector<ByteVector> sent;
    for (std::uint32_t count = 1 + random.below(30); count > 0; --count) {
      Tlp tlp = random.make(static_cast<TlpType>(random.below(kTlpTypes)));
      tlp.length_dw = static_cast<std::uint16_t>(std::min<unsigned>(tlp.length_dw, 80));
      if (find_flit_mode_gap(tlp)) {
        continue;
      }
      sent.push_back(bytes_of(tlp));
      packer.push(sent.back());
    }
    const FoundTlps found = find_tlps(packed(packer), 0);
    ASSERT_FALSE(found.error || found.ninth_at);
    ASSERT_EQ(found.tlps.size(), sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      ASSERT_EQ(found.tlps[i].bytes, sent[i]);
    }
  }
}

}  // namespace
}  // namespace flitwise::flit_tlp_bytes_test
