// SPDX-License-Identifier: Apache-2.0
// Packing of TLPs into flits.
#include "link/flit_framer.h"

#include <gtest/gtest.h>

#include "unit/link/link_support.h"

namespace flitwise::flit_packer_test {
namespace {

constexpr std::uint32_t kTlpBits = flit::kTlpBytes * 8;

class FlitPackerTest : public testing::Test {
 protected:
  // A write with `dw` DWs of payload: header of four DWs, and OHC-A with a PASID.
  PacketRef write(unsigned dw, bool has_pasid = false) {
    PacketRef made = test::packet(pool_, TlpType::kMWr, dw);
    made->tlp.first_be = 0xf;
    made->tlp.last_be = dw > 1 ? 0xf : 0;
    made->tlp.has_pasid = has_pasid;
    made->size = flit_mode_size_of(made->tlp, made->payload_bytes);
    return made;
  }
  PacketRef read() {
    PacketRef made = test::packet(pool_, TlpType::kMRd, 16);
    made->tlp.is_4dw = false;
    made->tlp.first_be = made->tlp.last_be = 0xf;
    made->size = flit_mode_size_of(made->tlp, 0);
    return made;
  }
  Flit& fill() {
    size_ = WireSize();
    flit_ = pool_.make(PacketKind::kFlit);
    packer_.fill(Time{}, *flit_->flit, size_);
    return *flit_->flit;
  }

  PacketPool pool_;
  TransactionQueues queues_{64, RelaxedPassing::kNever};
  FlitPacker packer_{queues_};
  PacketRef flit_;
  WireSize size_;
};

TEST_F(FlitPackerTest, LNK_11_2_WhatNoTlpTakesIsIdle) {
  EXPECT_FALSE(packer_.has_work(Time{}));
  Flit& empty = fill();
  EXPECT_FALSE(empty.has_payload);
  EXPECT_EQ(size_.idle, kTlpBits);
  queues_.push(write(16));
  EXPECT_TRUE(packer_.has_work(Time{}));
  Flit& one = fill();
  EXPECT_TRUE(one.has_payload);
  EXPECT_EQ(one.starts.size(), 1U);
  EXPECT_EQ(one.ends.size(), 1U);
  EXPECT_EQ(size_.header, 16U * 8);
  EXPECT_EQ(size_.payload, 64U * 8);
  EXPECT_EQ(size_.idle, kTlpBits - 80 * 8);
  EXPECT_FALSE(packer_.has_work(Time{}));
}

// 80-byte TLPs: two and 76 bytes of the third, whose last DW is payload.
TEST_F(FlitPackerTest, LNK_11_2_ATlpIsCutByTheEndOfAFlit) {
  for (int i = 0; i < 3; ++i) {
    queues_.push(write(16));
  }
  Flit& first = fill();
  EXPECT_EQ(first.starts.size(), 3U);
  EXPECT_EQ(first.ends.size(), 2U);
  EXPECT_EQ(size_.idle, 0U);
  EXPECT_EQ(size_.total(), kTlpBits);
  EXPECT_EQ(size_.header, 3U * 128);
  EXPECT_EQ(size_.payload, 3U * 512 - 32);
  EXPECT_TRUE(packer_.has_rest());
  const PacketRef cut = first.starts[2];
  Flit& second = fill();
  EXPECT_TRUE(second.starts.empty());
  ASSERT_EQ(second.ends.size(), 1U);
  EXPECT_EQ(second.ends[0], cut);
  EXPECT_EQ(size_.payload, 32U);
  EXPECT_FALSE(packer_.has_rest());
}

// 4112 bytes in flits of 236.
TEST_F(FlitPackerTest, LNK_11_2_ALongTlpTakesManyFlits) {
  queues_.push(write(1024));
  unsigned flits = 0;
  std::uint32_t payload = 0;
  std::size_t ends = 0;
  while (packer_.has_work(Time{})) {
    Flit& flit = fill();
    EXPECT_TRUE(flit.has_payload);
    ++flits;
    payload += size_.payload;
    ends += flit.ends.size();
  }
  EXPECT_EQ(flits, 18U);
  EXPECT_EQ(payload, 4096U * 8);
  EXPECT_EQ(ends, 1U);
}

// Reads of three DWs: eight of them are 96 bytes, and the second half begins at 128.
TEST_F(FlitPackerTest, LNK_11_3_EightTlpsBeginInEachHalf) {
  for (int i = 0; i < 20; ++i) {
    queues_.push(read());
  }
  Flit& first = fill();
  EXPECT_EQ(first.starts.size(), 16U);
  EXPECT_EQ(first.ends.size(), 16U);
  EXPECT_EQ(size_.header, 16U * 96);
  EXPECT_EQ(size_.idle, kTlpBits - 16 * 96);
  EXPECT_FALSE(packer_.has_rest());
  EXPECT_EQ(fill().starts.size(), 4U);
}

// A TLP that goes on from the flit before does not begin here.
TEST_F(FlitPackerTest, LNK_11_3_TheRestOfATlpDoesNotCount) {
  queues_.push(write(62));  // 264 bytes: 28 are left
  for (int i = 0; i < 9; ++i) {
    queues_.push(read());
  }
  fill();
  Flit& second = fill();
  EXPECT_EQ(second.ends.size(), 10U);
  EXPECT_EQ(second.starts.size(), 9U);
  EXPECT_EQ(size_.idle, (128U - 28 - 96) * 8 + (108 - 12) * 8);
}

TEST_F(FlitPackerTest, LNK_11_10_APasidIsIdentityOnlyWhereByteEnablesNeedNoOhc) {
  queues_.push(write(4, true));
  fill();
  EXPECT_EQ(size_.identity, 32U);
  EXPECT_EQ(size_.header, 128U);
  PacketRef odd = write(4, true);
  odd->tlp.last_be = 0x7;
  odd->payload_bytes = 15;
  odd->size = flit_mode_size_of(odd->tlp, 15);
  queues_.push(odd);
  fill();
  EXPECT_EQ(size_.identity, 0U);
  EXPECT_EQ(size_.header, 160U);
  EXPECT_EQ(size_.payload, 120U);
  EXPECT_EQ(size_.padding, 8U);
}

TEST_F(FlitPackerTest, LNK_10_4_AResetForgetsTheRest) {
  queues_.push(write(100));
  fill();
  EXPECT_TRUE(packer_.has_rest());
  packer_.reset();
  EXPECT_FALSE(packer_.has_work(Time{}));
  flit_.reset();
  EXPECT_EQ(pool_.in_use(), 0U);
}

}  // namespace
}  // namespace flitwise::flit_packer_test
