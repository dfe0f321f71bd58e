// SPDX-License-Identifier: Apache-2.0
// What a home asks before it serves a request: the handle, and the permission of the page; and how
// it takes a page back. [CXL-7.7] [CXL-7.10] [CXL-7.11] [COH-3.14]
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstring>

#include "cxl/home.h"
#include "model/cxl/fake_cxl_link.h"
#include "model/host/host_fakes.h"
#include "model/root_complex/port_fakes.h"

namespace flitwise::line_gate_test {
namespace {

constexpr std::uint64_t kPage = 0x4000;
constexpr BusRange kBuses{1, 1};

/// Each access takes 100 ns.
class StillMemory : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<StillMemory> socket{"socket"};

  explicit StillMemory(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_nb_transport_fw(this, &StillMemory::request);
  }

 private:
  tlm::tlm_sync_enum request(tlm::tlm_generic_payload& payload, tlm::tlm_phase& /*phase*/,
                             sc_core::sc_time& delay) {
    if (payload.is_read()) {
      std::memset(payload.get_data_ptr(), 0x5a, payload.get_data_length());
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    delay += sc_core::sc_time(100, sc_core::SC_NS);
    return tlm::TLM_COMPLETED;
  }
};

Config config_of_home() {
  Config config;
  config.host.timing.clock = Time::from_ns(1);
  config.host.cxl_cache.bridge = Time::from_ns(20);
  config.host.cxl_cache.lookup = Time::from_ns(10);
  config.link.cxl.identity = CxlIdentity::kDhiAdded;
  config.host.dhi.storage.timing.by_handle = Time::from_ns(7);
  return config;
}

class LineGateTest : public testing::Test {
 protected:
  LineGateTest() {
    memory_port_.socket.bind(memory_.socket);
    link_.to_agent.bind(home_.port(0).from_link);
    home_.port(0).to_link.bind(link_.from_agent);
    port_.set_buses(kBuses);
    handles_.table().add_partition({kBuses, HandleRange::of_bits(4), 0});
    home_.port(0).gate =
        std::make_unique<LineGate>(CxlDomainField::of(config_), config_.host, handles_, port_);
    AllocMessage alloc;
    alloc.dhi = Dhi{3};
    alloc.identity = DeviceIdentity(Bdf::of(1, 0, 0), Pasid{5});
    EXPECT_EQ(handles_.table().allocate(kBuses, alloc.identity.bdf, alloc), HandleStatus::kOk);
    run(0);
  }
  static void run(double ns) { sc_core::sc_start(ns, sc_core::SC_NS); }
  void request(cxl::D2hReq opcode, std::uint16_t cqid, std::uint64_t handle = 3,
               std::uint64_t address = kPage) {
    CxlMessage message;
    message.channel = CxlChannel::kD2hReq;
    message.opcode = static_cast<std::uint8_t>(opcode);
    message.id = cqid;
    message.address = address;
    message.identity = handle;
    link_.deliver(pool_, message);
  }
  /// Of the GO that was sent last.
  std::optional<cxl::GoState> granted() const {
    std::optional<cxl::GoState> state;
    for (const test::FakeCxlLink::Sent& sent : link_.sent) {
      if (sent.packet->cxl->channel == CxlChannel::kH2dRsp) {
        state = static_cast<cxl::GoState>(sent.packet->cxl->rsp_data);
      }
    }
    return state;
  }
  std::optional<std::uint16_t> snoop() const {
    for (const test::FakeCxlLink::Sent& sent : link_.sent) {
      if (sent.packet->cxl->channel == CxlChannel::kH2dReq) {
        return sent.packet->cxl->id;
      }
    }
    return std::nullopt;
  }
  void answer_snoop() {
    CxlMessage message;
    message.channel = CxlChannel::kD2hRsp;
    message.opcode = static_cast<std::uint8_t>(cxl::D2hRsp::kRspIHitSE);
    message.id = *snoop();
    link_.deliver(pool_, message);
  }

  const Config config_ = config_of_home();
  PacketPool pool_;
  StillMemory memory_{"memory"};
  MemoryPort memory_port_{"port"};
  test::FakeCxlLink link_{"link"};
  test::FakeDownstreamPort port_;
  HostHandles handles_{config_.host.dhi, DhiForm::kRidDirect, {}, pool_};
  test::FakeTranslationService agent_;
  CxlHome home_{"home", config_.host, {}, 1, pool_, memory_port_};
};

TEST_F(LineGateTest, ALookUpTakesItsTimeInFrontOfTheDirectory_CXL_7_7) {
  request(cxl::D2hReq::kRdShared, 1);
  run(1000);
  EXPECT_EQ(granted(), cxl::GoState::kShared);
  EXPECT_EQ(link_.sent.back().ready, Time::from_ns(20 + 10 + 7 + 100 + 20));
}

TEST_F(LineGateTest, AHandleThatNobodyHasIsRefusedAndReported_CXL_7_7) {
  request(cxl::D2hReq::kRdShared, 1, 4);
  run(1000);
  EXPECT_EQ(granted(), cxl::GoState::kError);
  EXPECT_EQ(home_.errors().at("invalid_handle"), 1U);
  ASSERT_EQ(port_.sent.size(), 1U) << "ERROR";
  EXPECT_EQ(handles_.table().statistics().rejected(), 1U);
}

TEST_F(LineGateTest, AForgedHandleWiderThanAnyIsRefusedWithoutAReport_CXL_7_7) {
  request(cxl::D2hReq::kRdShared, 1, 0x12345);
  run(1000);
  EXPECT_EQ(granted(), cxl::GoState::kError);
  EXPECT_TRUE(port_.sent.empty());
}

struct PermissionsTest : LineGateTest {
  PermissionsTest() { home_.attach(agent_); }
  void permit(std::size_t index, bool may_read, bool may_write) {
    WalkResult result;
    result.outcome = may_read || may_write ? WalkOutcome::kTranslated : WalkOutcome::kFault;
    result.read = may_read;
    result.write = may_write;
    agent_.client->translated(agent_.asked.at(index).ticket, result, now());
  }
};

TEST_F(PermissionsTest, TheAgentIsAskedForTheDomainOfTheHandle_CXL_7_10) {
  request(cxl::D2hReq::kRdOwn, 1);
  run(1000);
  EXPECT_TRUE(link_.sent.empty());
  EXPECT_FALSE(home_.is_quiet());
  ASSERT_EQ(agent_.asked.size(), 1U);
  const WalkRequest& asked = agent_.asked[0].request;
  EXPECT_EQ(asked.source, Bdf::of(1, 0, 0));
  EXPECT_EQ(asked.pasid, OptionalId<Pasid>(Pasid{5}));
  EXPECT_EQ(asked.address, kPage);
  EXPECT_TRUE(asked.is_translated());
  EXPECT_TRUE(asked.wish.read && asked.wish.write);
  permit(0, true, true);
  run(1000);
  EXPECT_EQ(granted(), cxl::GoState::kExclusive);
}

TEST_F(PermissionsTest, APageToReadGivesAtMostASharedCopy_COH_3_12) {
  request(cxl::D2hReq::kRdAny, 1);
  permit(0, true, false);
  run(1000);
  EXPECT_EQ(granted(), cxl::GoState::kShared);
}

TEST_F(PermissionsTest, ARefusalIsCounted_CXL_7_10) {
  request(cxl::D2hReq::kRdAny, 1);
  permit(0, false, false);
  run(1000);
  EXPECT_EQ(granted(), cxl::GoState::kError);
  EXPECT_EQ(home_.errors().at("translation_fault"), 1U);
  EXPECT_TRUE(home_.is_quiet());
}

TEST_F(PermissionsTest, EvictionsAskNobody_COH_3_12) {
  request(cxl::D2hReq::kCleanEvict, 1, 0);
  run(1000);
  EXPECT_TRUE(agent_.asked.empty());
  EXPECT_EQ(link_.sent.size(), 1U);
}

// The request was granted before, and is at memory: a snoop now would find nothing.
TEST_F(PermissionsTest, AGrantedRequestIsDrainedBeforeItsLineIsSnooped_COH_3_14) {
  request(cxl::D2hReq::kRdOwn, 1);
  permit(0, true, true);
  agent_.client->invalidated({kPage, 0x1000});
  EXPECT_FALSE(agent_.client->is_drained());
  run(10);
  EXPECT_FALSE(snoop());
  run(1000);
  EXPECT_EQ(granted(), cxl::GoState::kExclusive);
  ASSERT_TRUE(snoop());
  EXPECT_FALSE(agent_.client->is_drained()) << "the cache has not answered";
  answer_snoop();
  run(1000);
  EXPECT_TRUE(agent_.client->is_drained());
  EXPECT_EQ(agent_.times_drained, 1U);
  EXPECT_EQ(home_.copies(), 0U);
}

/// What a home tells of its recalls.
struct Heard final : CxlHome::RecallListener {
  std::vector<std::uint64_t> granted_for, over_before;
  void granted(std::uint8_t /*port*/, std::uint64_t /*line*/, std::uint64_t arrival) override {
    granted_for.push_back(arrival);
  }
  void recalled(const PhysicalPages& /*pages*/, std::uint64_t before) override {
    over_before.push_back(before);
  }
};

TEST_F(PermissionsTest, ItTellsOfGrantsAndOfRecallsThatAreOver_COH_3_14) {
  Heard heard;
  home_.watch(heard);
  request(cxl::D2hReq::kRdOwn, 1);
  permit(0, true, true);
  agent_.client->invalidated({kPage, 0x1000});
  run(1000);
  EXPECT_THAT(heard.granted_for, testing::ElementsAre(0U));
  EXPECT_TRUE(heard.over_before.empty());
  answer_snoop();
  run(1000);
  EXPECT_THAT(heard.over_before, testing::ElementsAre(1U)) << "the request was the only one before";
}

TEST_F(PermissionsTest, ARecallGoesAheadOfGrantsWhereItIsBroken_COH_3_14) {
  Heard heard;
  home_.watch(heard);
  home_.set_hook([] { return true; });
  request(cxl::D2hReq::kRdOwn, 1);
  permit(0, true, true);
  agent_.client->invalidated({kPage, 0x1000});
  run(1000);
  EXPECT_FALSE(snoop()) << "nobody had the line when they were asked";
  EXPECT_TRUE(agent_.client->is_drained());
  EXPECT_EQ(home_.copies(), 1U);
  EXPECT_EQ(heard.over_before.size(), 1U);
}

TEST_F(PermissionsTest, ARequestAtTheAgentIsWaitedFor_COH_3_14) {
  request(cxl::D2hReq::kRdShared, 1);
  agent_.client->invalidated({kPage, 0x1000});
  run(1000);
  EXPECT_FALSE(agent_.client->is_drained());
  permit(0, true, false);  // by what stood there before
  run(1000);
  ASSERT_TRUE(snoop());
  answer_snoop();
  run(10);
  EXPECT_TRUE(agent_.client->is_drained());
}

TEST_F(PermissionsTest, LaterRequestsDoNotHoldUpARecall_COH_3_14) {
  request(cxl::D2hReq::kRdShared, 1);
  permit(0, true, false);
  run(1000);
  agent_.client->invalidated({kPage, 0x1000});
  request(cxl::D2hReq::kRdShared, 2, 3, kPage + 0x1000);  // at the agent, and stays there
  ASSERT_TRUE(snoop());
  answer_snoop();
  run(10);
  EXPECT_TRUE(agent_.client->is_drained());
}

TEST_F(PermissionsTest, ACacheThatIsGoneHoldsNothingUp_CXL_7_5) {
  request(cxl::D2hReq::kRdShared, 1);
  permit(0, true, false);
  run(1000);
  request(cxl::D2hReq::kRdOwn, 2, 3, kPage + 0x1000);  // at the agent
  agent_.client->invalidated({kPage, 0x2000});
  home_.link_lost(0);
  permit(1, true, true);
  run(1000);
  EXPECT_TRUE(agent_.client->is_drained());
  EXPECT_TRUE(home_.is_quiet());
}

TEST_F(PermissionsTest, TranslationsAloneRecallNothing_CXL_7_11) {
  request(cxl::D2hReq::kRdShared, 1);
  permit(0, true, false);
  run(1000);
  agent_.client->invalidated({});
  EXPECT_TRUE(agent_.client->is_drained());
  EXPECT_FALSE(snoop());
}

}  // namespace
}  // namespace flitwise::line_gate_test
