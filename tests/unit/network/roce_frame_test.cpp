// SPDX-License-Identifier: Apache-2.0
// RoCEv2 frames: frames that others have made, every opcode, and every flaw.
#include "network/roce_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "codec/roce_json.h"
#include "unit/network/roce_vectors.h"
#include "unit/tlp/random_tlp.h"

namespace flitwise::roce_frame_test {
namespace {

using test::from_hex;
using test::roce_vectors;
using test::RoceVector;
using ::testing::HasSubstr;

RoceRead read(const ByteVector& bytes) {
  return read_roce(bytes.data(), bytes.size());
}

ByteVector vector_of(const std::string& id) {
  for (const RoceVector& vector : roce_vectors()) {
    if (id == vector.id) {
      return from_hex(vector.hex);
    }
  }
  ADD_FAILURE() << id;
  return {};
}

TEST(RoceFrame, ROCE_4_FramesOfOthersHaveTheIcrcThatIsWorkedOut) {
  for (const RoceVector& vector : roce_vectors()) {
    ByteVector bytes = from_hex(vector.hex);
    const RoceRead frame = read(bytes);
    ASSERT_FALSE(frame.flaw) << vector.id << ": " << frame.flaw->sentence();
    EXPECT_TRUE(frame.is_icrc_good) << vector.id;
    EXPECT_EQ(frame.parts.end(), bytes.size()) << vector.id;
    bytes.back() ^= 1U;
    EXPECT_FALSE(read(bytes).is_icrc_good) << vector.id;
  }
}

// What switches change leaves the ICRC as it is; a port, an address, a PSN do not.
TEST(RoceFrame, ROCE_4_OnlyFieldsThatVaryAreLeftOut) {
  const ByteVector bytes = vector_of("V4");
  const RoceParts parts = read(bytes).parts;
  const std::uint32_t icrc = icrc_of(bytes.data(), parts);
  const std::vector<std::size_t> masked = {15, 22, 24, 25, 40, 41, 46};
  for (std::size_t i = parts.ip; i < parts.icrc; ++i) {
    ByteVector changed = bytes;
    changed[i] ^= 0xffU;
    const bool is_masked = std::count(masked.begin(), masked.end(), i) > 0;
    EXPECT_EQ(icrc_of(changed.data(), parts) == icrc, is_masked) << i;
  }
}

TEST(RoceFrame, ROCE_4_Ipv6LeavesOutTrafficClassFlowLabelAndHopLimit) {
  ByteVector bytes;
  const RoceParts parts = make_roce({roce_opcode(0x04), true, false, 8, {}}, bytes);
  const std::uint32_t icrc = icrc_of(bytes.data(), parts);
  const std::vector<std::size_t> masked = {15, 16, 17, 21, 60, 61, 66};
  for (std::size_t i = parts.ip + 1; i < parts.icrc; ++i) {
    ByteVector changed = bytes;
    changed[i] ^= 0xffU;
    const bool is_masked = std::count(masked.begin(), masked.end(), i) > 0;
    EXPECT_EQ(icrc_of(changed.data(), parts) == icrc, is_masked) << i;
  }
}

TEST(RoceFrame, ROCE_2_FieldsOfEachHeaderFillItWithoutAGap) {
  for (std::size_t id = 0; id < kRoceHeaders; ++id) {
    const RoceHeader& header = header_of(static_cast<RoceHeaderId>(id));
    unsigned bit = 0;
    for (const RoceField& field : header.fields) {
      EXPECT_EQ(field.bit, bit) << header.key << '.' << field.key;
      bit += field.width;
    }
    EXPECT_EQ(bit, 8U * header.bytes) << header.key;
  }
}

TEST(RoceFrame, ROCE_2_EachFieldKeepsItsValueAndLeavesOthersAlone) {
  std::mt19937_64 random(1);
  for (std::size_t id = 0; id < kRoceHeaders; ++id) {
    const RoceHeader& header = header_of(static_cast<RoceHeaderId>(id));
    for (const RoceField& field : header.fields) {
      if (field.width > 64) {
        continue;
      }
      ByteVector bytes(header.bytes);
      std::generate(bytes.begin(), bytes.end(),
                    [&] { return static_cast<std::uint8_t>(random()); });
      const ByteVector before = bytes;
      const std::uint64_t value = random() & field.most();
      put(bytes.data(), field, value);
      EXPECT_EQ(get(bytes.data(), field), value) << header.key << '.' << field.key;
      for (unsigned bit = 0; bit < 8U * header.bytes; ++bit) {
        if (bit < field.bit || bit >= field.bit + field.width) {
          EXPECT_EQ((bytes[bit / 8] ^ before[bit / 8]) >> (7 - bit % 8) & 1U, 0U) << field.key;
        }
      }
    }
  }
}

// Bytes of Ethernet, IPv4, UDP, BTH, extension headers and ICRC, as the tables of the standard sum
// them up.
TEST(RoceFrame, ROCE_1_OverheadsOfPackets) {
  const auto bytes_of = [](std::uint8_t code, bool is_ipv6 = false, bool has_vlan = false) {
    ByteVector bytes;
    make_roce({roce_opcode(code), is_ipv6, has_vlan, 0, {}}, bytes);
    return bytes.size();
  };
  EXPECT_EQ(bytes_of(0x04), 58U);
  EXPECT_EQ(bytes_of(0x0a), 74U);
  EXPECT_EQ(bytes_of(0x06), 74U);
  EXPECT_EQ(bytes_of(0x11), 62U);
  EXPECT_EQ(bytes_of(0x81), 74U);
  EXPECT_EQ(bytes_of(0x13), 86U);
  EXPECT_EQ(bytes_of(0x12), 70U);
  EXPECT_EQ(bytes_of(0x0b), 78U);
  EXPECT_EQ(bytes_of(0x65), 70U);
  EXPECT_EQ(bytes_of(0x04, true), 78U);
  EXPECT_EQ(bytes_of(0x04, false, true), 62U);
}

TEST(RoceFrame, ROCE_3_OpcodesAndTheirHeaders) {
  EXPECT_EQ(roce_opcodes().size(), 25U + 12U + 2U + 1U);
  EXPECT_EQ(roce_opcode(0x15), nullptr);
  EXPECT_EQ(roce_opcode(0x40), nullptr);
  EXPECT_EQ(roce_opcode(0x2c), nullptr);  // UC reads nothing
  EXPECT_EQ(roce_opcode(0x17)->name, "RC_SEND_ONLY_WITH_INVALIDATE");
  EXPECT_EQ(roce_opcode(0x2b)->name, "UC_RDMA_WRITE_ONLY_WITH_IMMEDIATE");
  EXPECT_EQ(roce_opcode(0x65)->headers, (std::vector{RoceHeaderId::kDeth, RoceHeaderId::kImmDt}));
  EXPECT_EQ(roce_opcode(0x1c)->headers, (std::vector{RoceHeaderId::kFeth, RoceHeaderId::kReth}));
  EXPECT_EQ(roce_opcode(0x81)->name, "CNP");
}

// Every opcode, each version of IP, with and without a tag, random fields: JSON and back.
TEST(RoceFrame, ROCE_1_RandomFramesOfEveryOpcodeComeBackFromJson) {
  std::mt19937_64 random(7);
  for (unsigned turn = 0; turn < 10; ++turn) {
    for (const RoceOpcode& opcode : roce_opcodes()) {
      const unsigned span = std::min<unsigned>(opcode.most_payload - opcode.least_payload, 70);
      const std::size_t payload = opcode.least_payload + random() % (span + 1);
      ByteVector bytes;
      const RoceParts parts =
          make_roce({&opcode, random() % 2 == 0, random() % 4 == 0, payload, {}}, bytes);
      std::generate_n(bytes.begin() + static_cast<std::ptrdiff_t>(parts.payload), payload,
                      [&] { return static_cast<std::uint8_t>(random()); });
      for (std::size_t i = 0; i < parts.count; ++i) {
        const auto [id, at] = parts.headers[i];
        for (const RoceField& field : header_of(id).fields) {
          const std::string key = field.key;
          if (field.width <= 64 && field.format != RoceField::Format::kDerived &&
              field.format != RoceField::Format::kOpcode && key != "version" && key != "length" &&
              key != "pad" && key != "tver") {
            put(&bytes[at], field, random());
          }
        }
      }
      seal_roce(bytes.data(), parts);
      const RoceRead frame = read(bytes);
      ASSERT_FALSE(frame.flaw) << opcode.name << ": " << frame.flaw->sentence();
      EXPECT_TRUE(frame.is_icrc_good) << opcode.name;
      EXPECT_EQ(frame.parts.payload_bytes, payload) << opcode.name;
      const PacketRead json = read_roce_frame(bytes, true);
      EXPECT_EQ(roce_from_json(json.json, {}), bytes) << json.json;
    }
  }
}

TEST(RoceFrame, ROCE_6_PayloadAndPadAreAMultipleOfFour) {
  ByteVector bytes;
  const RoceParts parts = make_roce({roce_opcode(0x04), false, false, 11, 0}, bytes);
  seal_roce(bytes.data(), parts);
  const auto flaw = read(bytes).flaw;
  ASSERT_TRUE(flaw);
  EXPECT_EQ(flaw->error, RoceError::kPad);
  EXPECT_EQ(flaw->sentence(), "pad count 0 seen; expected 1, up to a multiple of 4 bytes");
}

TEST(RoceFrame, ROCE_6_APayloadIsAsLongAsItsOpcodeHasIt) {
  struct Row {
    std::uint8_t code;
    std::size_t bytes;
    const char* sentence;
  };
  for (const Row& row : {Row{0x11, 4, "4 bytes of payload seen; expected 0 with this opcode"},
                         Row{0x00, 0, "0 bytes of payload seen; expected 1 with this opcode"},
                         Row{0x1d, 16, "16 bytes of payload seen; expected 8 with this opcode"},
                         Row{0x04, 4100, "4100 bytes of payload seen; expected 4096 with"}}) {
    ByteVector bytes;
    const RoceParts parts = make_roce({roce_opcode(row.code), false, false, row.bytes, {}}, bytes);
    seal_roce(bytes.data(), parts);
    const auto flaw = read(bytes).flaw;
    ASSERT_TRUE(flaw) << row.sentence;
    EXPECT_EQ(flaw->offset, parts.payload);
    EXPECT_THAT(flaw->sentence(), HasSubstr(row.sentence));
  }
}

struct Flaw {
  const char* name;
  std::size_t offset;
  std::size_t at;  // of V3 that which byte
  unsigned value;  // becomes what
  const char* sentence;
};

TEST(RoceFrame, ROCE_5_EachFlawIsNamedWithItsPlaceWhatIsThereAndWhatShouldBe) {
  const std::vector<Flaw> flaws = {
      {"ether_type", 12, 13, 0x06, "type 0x0806 seen; expected 0x0800"},
      {"ip_version", 14, 14, 0x65, "IP version 6 seen; expected 4"},
      {"ip_options", 14, 14, 0x46, "6 words seen; expected 5"},
      {"fragment", 20, 20, 0x20, "offset 0x2000 seen; expected 0"},
      {"not_udp", 23, 23, 6, "protocol 6 seen; expected 17"},
      {"ip_length", 16, 17, 0x39, "length 57 seen; expected at most 56"},
      {"ip_length", 16, 17, 0x27, "length 39 seen; expected at most 56"},
      {"udp_length", 38, 39, 0x25, "length 37 seen; expected 36"},
      {"unknown_opcode", 42, 42, 0x15, "opcode 0x15 seen"},
      {"too_short", 70, 42, 0x13, "56 bytes in IP seen; expected 73 at least"},
      {"ip_checksum", 24, 25, 0xb2, "0x26b2 seen; expected 0x26b1"},
      {"udp_checksum", 40, 41, 0x01, "0x0001 seen; expected 0x"},
      {"transport_version", 43, 43, 0x11, "TVer 1 seen; expected 0"},
      {"pad_bytes", 65, 65, 0x07, "a byte 0x07 of padding seen; expected 0"},
  };
  const ByteVector good = vector_of("V3");
  for (const Flaw& flaw : flaws) {
    ByteVector bytes = good;
    bytes[flaw.at] = static_cast<std::uint8_t>(flaw.value);
    const auto seen = read(bytes).flaw;
    ASSERT_TRUE(seen) << flaw.name;
    EXPECT_STREQ(name_of(seen->error), flaw.name);
    EXPECT_EQ(seen->offset, flaw.offset) << flaw.name;
    EXPECT_THAT(seen->sentence(), HasSubstr(flaw.sentence));
  }
}

TEST(RoceFrame, ROCE_5_AFrameCutShortIsRefusedAtItsEndWhereverThatIs) {
  for (const RoceVector& vector : roce_vectors()) {
    const ByteVector bytes = from_hex(vector.hex);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const auto flaw =
          read(ByteVector(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))).flaw;
      ASSERT_TRUE(flaw) << vector.id << ' ' << size;
      EXPECT_LE(flaw->offset, size);
    }
  }
}

// 0 says that there is no checksum, so that one which comes out as 0 is sent as ones.
TEST(RoceFrame, ROCE_7_AChecksumOfIpv6IsNeverZero) {
  constexpr std::uint64_t kPsnOfZero = 8620;
  const RoceField psn{"psn", 72, 24};
  for (std::uint64_t number = kPsnOfZero - 100; number <= kPsnOfZero; ++number) {
    ByteVector bytes;
    const RoceParts parts = make_roce({roce_opcode(0x04), true, false, 0, {}}, bytes);
    put(&bytes[parts.bth], psn, number);
    seal_roce(bytes.data(), parts);
    EXPECT_FALSE(read(bytes).flaw) << number;
    const std::uint64_t checksum = get(&bytes[parts.udp], roce_field::kUdpChecksum);
    EXPECT_EQ(checksum == 0xffff, number == kPsnOfZero) << number;
    EXPECT_NE(checksum, 0U);
  }
}

TEST(RoceFrame, ROCE_7_TheUdpChecksumOfScapysOwnTestFits) {
  ByteVector bytes = vector_of("V2");
  EXPECT_FALSE(read(bytes).flaw);
  bytes[41] = 0xa3;
  const auto flaw = read(bytes).flaw;
  ASSERT_TRUE(flaw);
  EXPECT_THAT(flaw->sentence(), HasSubstr("0xaca3 seen; expected 0xaca2, or 0"));
}

}  // namespace
}  // namespace flitwise::roce_frame_test
