// SPDX-License-Identifier: Apache-2.0
// What an RDMA adapter may touch, and that somebody sees when it touches more.
#include "rdma/rdma_guard.h"

#include <gtest/gtest.h>

#include "flitwise/packet.h"
#include "rdma/verbs_config.h"

namespace flitwise::rdma_guard_test {
namespace {

class RdmaGuardTest : public ::testing::Test {
 protected:
  RdmaGuardTest() {
    config_.hca.geometry = {std::uint64_t{64} << 10, 16, 64, 32, 256};
    config_.hca.buffer_base = kBase;
    config_.hca.pairs = 2;
    config_.peer_sends = true;
  }
  // True: nobody minds.
  bool may(TlpType type, std::uint64_t address, std::uint16_t dwords = 1, std::uint32_t pair = 1) {
    RdmaGuard guard("ep1", config_);
    const PacketRef packet = pool_.make(PacketKind::kTlp);
    packet->tlp.type = type;
    packet->domain = DomainId{pair};
    packet->tlp.address = address & ~std::uint64_t{3};
    packet->tlp.length_dw = dwords;
    packet->tlp.first_be = 0xf;
    packet->tlp.last_be = dwords > 1 ? 0xf : 0;
    guard.see(*packet, address);
    return guard.checks().at(0).ok;
  }
  RdmaArea area(std::uint32_t pair) const { return config_.hca.area(pair); }

  static constexpr std::uint64_t kBase = 0x10'0000;
  VerbsDriverConfig config_;
  PacketPool pool_;
};

TEST_F(RdmaGuardTest, HP_7_WhatSoftwareGrantedIsAllThatTheAdapterMayTouch) {
  for (const TlpType type : {TlpType::kMRd, TlpType::kMWr}) {
    const bool is_read = type == TlpType::kMRd;
    EXPECT_TRUE(may(type, area(1).state()));
    EXPECT_TRUE(may(type, area(1).word()));
    EXPECT_TRUE(may(type, area(1).exposed(3)));
    EXPECT_EQ(may(type, area(1).receive_entry(2)), is_read);
    EXPECT_EQ(may(type, area(1).buffer(2)), !is_read);
    EXPECT_EQ(may(type, area(0).completion(true, 5), 1, 0), !is_read);
    EXPECT_FALSE(may(type, area(1).exposed(3), 1, 0));  // of another queue pair
    EXPECT_FALSE(may(type, area(1).send_entry(2)));     // it posts none
    EXPECT_FALSE(may(type, area(1).own(2)));
    EXPECT_FALSE(may(type, kBase - 4));
    EXPECT_FALSE(may(type, kBase + 2 * area(0).bytes()));
    EXPECT_FALSE(may(type, area(1).exposed(0) - 4, 2));  // one byte of it is enough
    EXPECT_FALSE(may(type, area(1).exposed(0) + area(1).exposed_bytes() - 4, 2));
  }
}

TEST_F(RdmaGuardTest, HP_7_WhereSoftwarePostsTheAdapterReadsItsRing) {
  config_.posts = true;
  config_.peer_sends = false;
  EXPECT_TRUE(may(TlpType::kMRd, area(1).send_entry(2)));
  EXPECT_FALSE(may(TlpType::kMWr, area(1).send_entry(2)));
  EXPECT_TRUE(may(TlpType::kMWr, area(1).own(2)));
  EXPECT_FALSE(may(TlpType::kMRd, area(1).receive_entry(2)));
  EXPECT_FALSE(may(TlpType::kMWr, area(1).buffer(2)));
}

}  // namespace
}  // namespace flitwise::rdma_guard_test
