// SPDX-License-Identifier: Apache-2.0
// The home of host memory between links of two caches and a memory of the test. docs/coherence.md
#include "cxl/home.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>

#include "model/cxl/fake_cxl_link.h"

namespace flitwise::home_test {
namespace {

constexpr std::uint64_t kLine = 0x4000;

/// Bytes of one value; each access takes 100 ns.
class FlatMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<FlatMemory> socket{"socket"};
  std::vector<std::uint64_t> written;  ///< addresses

  explicit FlatMemory(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_nb_transport_fw(this, &FlatMemory::request);
  }

 private:
  tlm::tlm_sync_enum request(tlm::tlm_generic_payload& payload, tlm::tlm_phase& /*phase*/,
                             sc_core::sc_time& delay) {
    if (payload.is_read()) {
      std::memset(payload.get_data_ptr(), 0x5a, payload.get_data_length());
    } else {
      written.push_back(payload.get_address());
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    delay += sc_core::sc_time(100, sc_core::SC_NS);
    return tlm::TLM_COMPLETED;
  }
};

Config config_of_home() {
  Config config;
  config.host.cxl_cache.bridge = Time::from_ns(20);
  config.host.cxl_cache.lookup = Time::from_ns(10);
  config.host.timing.clock = Time::from_ns(1);
  return config;
}

class HomeTest : public testing::Test {
 protected:
  HomeTest() {
    port_.socket.bind(memory_.socket);
    for (std::uint8_t cache = 0; cache < 2; ++cache) {
      links_[cache].to_agent.bind(home_.port(cache).from_link);
      home_.port(cache).to_link.bind(links_[cache].from_agent);
    }
    run(0);
  }
  static void run(double ns) { sc_core::sc_start(ns, sc_core::SC_NS); }
  void request(unsigned cache, cxl::D2hReq opcode, std::uint16_t cqid) {
    CxlMessage message;
    message.channel = CxlChannel::kD2hReq;
    message.opcode = static_cast<std::uint8_t>(opcode);
    message.id = cqid;
    message.address = kLine;
    links_[cache].deliver(pool_, message);
  }

  const Config config_ = config_of_home();
  PacketPool pool_;
  FlatMemory memory_{"memory"};
  MemoryPort port_{"port"};
  std::array<test::FakeCxlLink, 2> links_{test::FakeCxlLink("link0"), test::FakeCxlLink("link1")};
  CxlHome home_{"home", config_.host, {}, 2, pool_, port_};
};

// In through the bridge and the directory, memory, and out through the bridge.
TEST_F(HomeTest, AReadGetsTheLineOfMemoryAndAState_COH_2_2) {
  request(0, cxl::D2hReq::kRdShared, 3);
  EXPECT_FALSE(home_.is_quiet());
  run(1000);
  ASSERT_EQ(links_[0].sent.size(), 2U) << "GO and data";
  for (const test::FakeCxlLink::Sent& sent : links_[0].sent) {
    EXPECT_EQ(sent.packet->cxl->id, 3U);
    if (sent.packet->cxl->channel == CxlChannel::kH2dData) {
      EXPECT_EQ(sent.ready, Time::from_ns(20 + 10 + 100 + 20));
      EXPECT_EQ(sent.packet->payload.at(0), 0x5a);
    } else {
      EXPECT_EQ(sent.packet->cxl->opcode, static_cast<std::uint8_t>(cxl::H2dRsp::kGo));
    }
  }
  EXPECT_EQ(home_.copies(), 1U);
  EXPECT_TRUE(home_.is_quiet());
}

TEST_F(HomeTest, AnotherCacheIsSnoopedBeforeOneMayOwnTheLine_COH_1_2) {
  request(0, cxl::D2hReq::kRdShared, 3);
  run(1000);
  request(1, cxl::D2hReq::kRdOwn, 4);
  run(1000);
  ASSERT_EQ(links_[0].sent.size(), 3U);
  const CxlMessage snoop = links_[0].message(2);
  EXPECT_EQ(snoop.channel, CxlChannel::kH2dReq);
  EXPECT_EQ(snoop.opcode, static_cast<std::uint8_t>(cxl::H2dReq::kSnpInv));
  for (const test::FakeCxlLink::Sent& sent : links_[1].sent) {
    EXPECT_NE(sent.packet->cxl->channel, CxlChannel::kH2dRsp) << "not before the answer";
  }
  CxlMessage answer;
  answer.channel = CxlChannel::kD2hRsp;
  answer.opcode = static_cast<std::uint8_t>(cxl::D2hRsp::kRspIHitSE);
  answer.id = snoop.id;
  links_[0].deliver(pool_, answer);
  run(1000);
  EXPECT_EQ(links_[1].sent.size(), 2U);
  EXPECT_EQ(home_.copies(), 1U);
  EXPECT_TRUE(home_.is_quiet());
}

TEST_F(HomeTest, ACacheWhoseLinkIsDownHoldsNothingAndDelaysNoOther_CXL_7_5) {
  request(0, cxl::D2hReq::kRdShared, 3);
  run(1000);
  request(1, cxl::D2hReq::kRdOwn, 4);
  run(10);
  home_.link_lost(0);
  run(1000);
  EXPECT_EQ(links_[1].sent.size(), 2U);
  EXPECT_EQ(home_.copies(), 1U);
  EXPECT_TRUE(home_.is_quiet());
}

TEST_F(HomeTest, AMessageThatNoCacheMaySendIsCounted) {
  CxlMessage message;
  message.channel = CxlChannel::kD2hRsp;
  message.id = 77;
  links_[0].deliver(pool_, message);
  EXPECT_EQ(home_.errors()["unexpected_cxl_message"], 1U);
  EXPECT_TRUE(home_.is_quiet());
}

}  // namespace
}  // namespace flitwise::home_test
