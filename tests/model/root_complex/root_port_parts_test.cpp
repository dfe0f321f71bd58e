// SPDX-License-Identifier: Apache-2.0
// A root port between stand-ins: its link, the agent and the host are records. Its memory is real.
#include <gtest/gtest.h>

#include <memory>

#include "host/host_memory.h"
#include "port_fakes.h"
#include "root_complex/root_port.h"

namespace flitwise::root_port_parts_test {
namespace {

using namespace test;

constexpr std::uint64_t kMemoryBytes = 1 << 20, kWindow = 0xfee0'0000;

/// What stands at the port instead of a link.
class RecordedLink : public sc_core::sc_module {
 public:
  LinkInitiator<RecordedLink> to_port{"to_port"};
  LinkTarget<RecordedLink> from_port{"from_port"};
  explicit RecordedLink(const sc_core::sc_module_name& name) : sc_module(name) {
    from_port.register_nb_transport_fw(this, &RecordedLink::taken, 0);
    to_port.register_nb_transport_bw(this, &RecordedLink::freed, 0);
  }
  /// True: its receive buffer is free at once.
  bool send(const PacketRef& packet) {
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    return to_port->nb_transport_fw(*packet, phase, delay) == tlm::TLM_COMPLETED;
  }
  std::vector<PacketRef> got;
  std::vector<const Packet*> released;

 private:
  tlm::tlm_sync_enum taken(int /*id*/, Packet& packet, tlm::tlm_phase& /*phase*/,
                           sc_core::sc_time& /*delay*/) {
    got.emplace_back(&packet);
    return tlm::TLM_COMPLETED;
  }
  tlm::tlm_sync_enum freed(int /*id*/, Packet& packet, tlm::tlm_phase& /*phase*/,
                           sc_core::sc_time& /*delay*/) {
    released.push_back(&packet);
    return tlm::TLM_COMPLETED;
  }
};

class RootPortParts : public ::testing::Test {
 protected:
  RootPortParts() {
    config.host.memory.size = kMemoryBytes;
    config.link.identity = Identity::kBdfPasid;
  }
  void make(bool has_agent = false) {
    handles = std::make_unique<HostHandles>(config.host.dhi, config.link.dhi_form, nullptr, pool);
    memory = std::make_unique<HostMemory>("memory", config.host);
    port = std::make_unique<RootPort>("rp0", RootPortConfig::of(config), pool, memory_port,
                                      *handles, tracer);
    memory_port.socket.bind(memory->socket);
    port->to_link.bind(link.from_port);
    link.to_port.bind(port->from_link);
    port->set_host(host);
    if (has_agent) {
      port->attach(agent);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  void run() { sc_core::sc_start(to_sc_time(Time::from_us(1))); }
  bool has_written(std::uint64_t address) { return memory_port.peek_u64(address) != 0; }

  Config config;
  PacketPool pool;
  LatencyTracer tracer{{}};
  FakePortHost host;
  FakeTranslationService agent;
  RecordedLink link{"link"};
  MemoryPort memory_port{"memory_port"};
  std::unique_ptr<HostHandles> handles;
  std::unique_ptr<HostMemory> memory;
  std::unique_ptr<RootPort> port;
};

TEST_F(RootPortParts, WriteReachesMemoryAndReadIsAnswered) {
  make();
  EXPECT_TRUE(link.send(port_request(pool, TlpType::kMWr, 0x1000)));
  EXPECT_TRUE(link.send(port_request(pool, TlpType::kMRd, 0x1000, 9)));
  run();
  ASSERT_EQ(link.got.size(), 1U);
  EXPECT_EQ(link.got[0]->tlp.type, TlpType::kCplD);
  EXPECT_EQ(link.got[0]->tlp.tag, 9U);
  EXPECT_EQ(link.got[0]->payload.at(0), 0x11U);
  EXPECT_TRUE(port->is_quiet());
  for (const CheckResult& check : port->checks()) {
    EXPECT_TRUE(check.ok) << check.name;
  }
}

// [LNK-9.22]
TEST_F(RootPortParts, LNK_9_22_WriteToTheWindowIsAnInterruptForTheHost) {
  make();
  link.send(port_request(pool, TlpType::kMWr, kWindow));
  EXPECT_EQ(port->counters().interrupts, 1U);
}

// [LNK-12.3]
TEST_F(RootPortParts, LNK_12_3_MessagesGoToTheHost) {
  make();
  PacketRef message = port_request(pool, TlpType::kMsg, 0);
  message->tlp.length_dw = 0;
  message->tlp.message_code = msg::kErrCor;
  link.send(message);
  EXPECT_EQ(host.messages, std::vector<std::uint8_t>{msg::kErrCor});
}

TEST_F(RootPortParts, CompletionNobodyWaitsForIsReported) {
  make();
  host.tags = {3};
  for (const std::uint16_t tag : {std::uint16_t{3}, std::uint16_t{4}}) {
    PacketRef completion = port_request(pool, TlpType::kCplD, 0, tag);
    completion->tlp.byte_count = 4;
    link.send(completion);
  }
  EXPECT_EQ(port->counters().completions, 1U);
  EXPECT_EQ(host.errors, std::vector{cfg::aer::Uncorrectable::kUnexpectedCompletion});
}

// The buffer belongs to whoever holds the packet: it is freed once, when the walk has ended.
TEST_F(RootPortParts, WriteThatWaitsForItsTranslationKeepsItsBuffer) {
  make(true);
  const PacketRef write = port_request(pool, TlpType::kMWr, 0x7000);
  EXPECT_FALSE(link.send(write));
  const PacketRef hit = port_request(pool, TlpType::kMRd, 0x8000);
  EXPECT_FALSE(link.send(hit));
  EXPECT_TRUE(link.released.empty());
  EXPECT_FALSE(port->is_quiet());
  agent.now = now();
  agent.answer(0, 0x2000);
  EXPECT_EQ(link.released, std::vector<const Packet*>{write.get()});
  agent.answer(1, 0x3000);
  EXPECT_EQ(link.released.size(), 2U);
  run();
  EXPECT_TRUE(has_written(0x2000));
  EXPECT_FALSE(has_written(0x7000));
}

TEST_F(RootPortParts, HitFreesItsBufferWithinTheCall) {
  make(true);
  agent.at_once = true;
  agent.offset = 0x1000;
  EXPECT_TRUE(link.send(port_request(pool, TlpType::kMWr, 0x4000)));
  EXPECT_TRUE(link.released.empty());
  run();
  EXPECT_TRUE(has_written(0x5000));
}

// What comes faster than memory takes it keeps its buffer, translated or not.
TEST_F(RootPortParts, RequestsBehindASlowMemoryKeepTheirBuffers) {
  config.host.memory.bandwidth_gbps = 0.1;
  make();
  unsigned held = 0;
  for (unsigned i = 0; i < 8; ++i) {
    held += link.send(port_request(pool, TlpType::kMWr, 0x1000)) ? 0 : 1;
  }
  EXPECT_GT(held, 0U);
  run();
  run();
  run();
  EXPECT_EQ(link.released.size(), held);
  EXPECT_TRUE(port->is_quiet());
}

TEST_F(RootPortParts, TranslationFaultRefusesTheRequest) {
  make(true);
  link.send(port_request(pool, TlpType::kMRd, 0x4000));
  agent.answer(0, 0, WalkOutcome::kFault);
  EXPECT_EQ(port->errors().at("translation_fault"), 1U);
  ASSERT_EQ(link.got.size(), 1U);
  EXPECT_EQ(link.got[0]->tlp.status, CplStatus::kUR);
}

TEST_F(RootPortParts, BusMasterDisabledRefusesRequests) {
  make();
  port->set_bus_master(false);
  link.send(port_request(pool, TlpType::kMWr, 0x1000));
  run();
  EXPECT_FALSE(has_written(0x1000));
  EXPECT_EQ(port->errors().at("bus_master_disabled"), 1U);
}

}  // namespace
}  // namespace flitwise::root_port_parts_test
