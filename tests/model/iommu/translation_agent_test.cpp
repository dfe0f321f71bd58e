// SPDX-License-Identifier: Apache-2.0
// The translation agent as a whole, between a memory, devices and host software that are stand-ins.
#include "iommu/translation_agent.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <map>
#include <utility>
#include <vector>

#include "agent_fakes.h"
#include "flitwise/link_socket.h"
#include "iommu/table_builder.h"

namespace flitwise::translation_agent_test {
namespace {

using namespace test;
using namespace iommu_register;

constexpr Bdf kFunction = Bdf::of(1, 0, 0);
constexpr std::uint64_t kPage = 0x40'0000, kPhysical = 0x1000'0000, kScalable = 1 << 10;
constexpr std::uint64_t kQueue = 0x9000, kRequests = 0xa000, kStatus = 0xb000;

/// Does each access at once, and answers it 50 ns later.
class FakeMemory : public sc_core::sc_module {
 public:
  explicit FakeMemory(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_nb_transport_fw(this, &FakeMemory::request);
    socket.register_transport_dbg(this, &FakeMemory::serve);
  }
  tlm_utils::simple_target_socket<FakeMemory> socket{"socket"};
  void put(std::uint64_t address, const std::uint8_t* data, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      bytes_[address + i] = data[i];
    }
  }
  std::uint64_t word(std::uint64_t address) {
    std::array<std::uint8_t, 8> data{};
    for (unsigned i = 0; i < data.size(); ++i) {
      data[i] = bytes_[address + i];
    }
    return load_u64(data.data());
  }

 private:
  tlm::tlm_sync_enum request(tlm::tlm_generic_payload& payload, tlm::tlm_phase& /*phase*/,
                             sc_core::sc_time& delay) {
    serve(payload);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    delay += sc_core::sc_time(50, sc_core::SC_NS);
    return tlm::TLM_COMPLETED;
  }
  unsigned serve(tlm::tlm_generic_payload& payload) {
    if (payload.is_write()) {
      put(payload.get_address(), payload.get_data_ptr(), payload.get_data_length());
    } else {
      for (unsigned i = 0; i < payload.get_data_length(); ++i) {
        payload.get_data_ptr()[i] = bytes_[payload.get_address() + i];
      }
    }
    return payload.get_data_length();
  }

  std::map<std::uint64_t, std::uint8_t> bytes_;
};

struct FakeDevices final : DeviceWay {
  bool send_message(PacketRef packet, Time /*delay*/) override {
    sent.push_back(std::move(packet));
    return true;
  }
  std::vector<PacketRef> sent;
};

class TranslationAgentTest : public ::testing::Test {
 protected:
  TranslationAgentTest() {
    port.socket.bind(memory.socket);
    agent.reach_devices(devices);
    agent.reach_handles(handles);
    agent.attach(client);
    TranslationAgent::Hooks hooks;
    hooks.fault = [this](const FaultRecord& record, std::uint32_t token) {
      faults.emplace_back(record.code, token);
    };
    hooks.interrupt = [this](const IommuInterrupt& one) { interrupts.push_back(one.event); };
    hooks.status = [this] { ++statuses; };
    agent.add_hooks(std::move(hooks));
    TableBuilder tables([this](std::uint64_t address, std::uint64_t value) {
      std::array<std::uint8_t, 8> bytes{};
      store_u64(bytes.data(), value);
      memory.put(address, bytes.data(), bytes.size());
      return true;
    });
    Mapping mapping;
    mapping.function = kFunction;
    mapping.address = kPage;
    mapping.to = kPhysical;
    mapping.bytes = 0x1000;
    root_table = tables.map(mapping).root_table;
  }
  /// Nothing is asked of the agent before the start.
  void SetUp() override { sc_core::sc_start(sc_core::SC_ZERO_TIME); }
  void switch_on() {
    agent.write_register(kRtaddr, 8, root_table | kScalable);
    agent.write_register(kGcmd, 4, global_bit::kRootTable);
    agent.write_register(kGcmd, 4, global_bit::kTranslation);
    for (const std::uint32_t control : {kFectl, kIectl, kPectl}) {
      agent.write_register(control, 4, 0);
    }
  }
  void translate(std::uint64_t ticket, std::uint64_t address) {
    WalkRequest request;
    request.source = kFunction;
    request.address = address;
    request.wish.read = true;
    agent.translate(client, ticket, request, 77, Time{});
  }
  static void run() { sc_core::sc_start(10, sc_core::SC_US); }
  IommuResult counted() const {
    RunResult result;
    agent.report(result);
    return result.rows<IommuResult>().back();
  }

  PacketPool pool;
  FakeMemory memory{"memory"};
  MemoryPort port{"port"};
  IommuConfig config;
  FakeDevices devices;
  FakeHandleTables handles;
  FakeWalkClient client;
  std::uint64_t root_table = 0;
  std::vector<std::pair<unsigned, std::uint32_t>> faults;
  std::vector<IommuEvent> interrupts;
  unsigned statuses = 0;
  TranslationAgent agent{"agent", config, 1, pool, port};
};

TEST_F(TranslationAgentTest, WalksTablesInMemoryAndKeepsWhatItFinds) {
  EXPECT_FALSE(agent.is_enabled());
  switch_on();
  EXPECT_TRUE(agent.is_enabled());
  translate(1, kPage + 8);
  EXPECT_FALSE(agent.is_quiet());
  EXPECT_NE(agent.waiting(), "");
  run();
  EXPECT_EQ(client.outcomes.at(1).first.address, kPhysical + 8);
  EXPECT_TRUE(agent.is_quiet());
  translate(2, kPage + 16);
  EXPECT_EQ(client.outcomes.at(2).first.address, kPhysical + 16);  // within the call
  const IommuResult result = counted();
  EXPECT_EQ(result.walks, 1U);
  EXPECT_EQ(result.iotlb_hits, 1U);
  Progress progress;
  agent.add_progress(progress);
  EXPECT_GT(progress.steps, 0U);
  for (const CheckResult& check : agent.checks()) {
    EXPECT_TRUE(check.ok) << check.name;
  }
}

TEST_F(TranslationAgentTest, RecordsFaultsAndInterruptsOnce) {
  switch_on();
  translate(1, kPage + 0x1000);
  run();
  translate(2, kPage + 0x2000);
  run();
  const std::pair<unsigned, std::uint32_t> fault{
      static_cast<unsigned>(FaultReason::kFirstStageNotPresent), 77};
  EXPECT_EQ(faults, (std::vector{fault, fault}));
  EXPECT_EQ(interrupts, std::vector{IommuEvent::kFault});
  EXPECT_EQ(agent.read_register(kFaultRecords, 8), kPage + 0x1000);
}

TEST_F(TranslationAgentTest, AWaitEndsWhenTheDeviceHasAnswered) {
  switch_on();
  DeviceTlbInvalidation order;
  order.source = kFunction;
  order.address = kPage;
  InvalidationWait wait;
  wait.writes_status = wait.interrupts = true;
  wait.status = 5;
  wait.status_address = kStatus;
  const DescriptorBytes first = encode(order), second = encode(wait);
  memory.put(kQueue, first.data(), first.size());
  memory.put(kQueue + first.size(), second.data(), second.size());
  agent.write_register(kIqa, 8, kQueue | 1 << 11);
  agent.write_register(kGcmd, 4, global_bit::kTranslation | global_bit::kQueue);
  agent.write_register(kIqt, 8, 2 * first.size());
  run();
  ASSERT_EQ(devices.sent.size(), 1U);
  EXPECT_EQ(statuses, 0U);
  EXPECT_EQ(memory.word(kStatus), 0U);
  const InvalidateRequest asked =
      invalidate_request_of(devices.sent[0]->tlp, devices.sent[0]->payload.data());
  EXPECT_EQ(asked.range, (PageRange{kPage, 12}));
  PacketRef answer = pool.make(PacketKind::kTlp);
  answer->tlp =
      invalidate_completion_tlp({asked.agent, kFunction, 0, 1, std::uint32_t{1} << asked.itag});
  agent.receive(*answer);
  run();
  EXPECT_EQ(statuses, 1U);
  EXPECT_EQ(memory.word(kStatus), 5U);
  EXPECT_EQ(interrupts, std::vector{IommuEvent::kInvalidation});
  EXPECT_TRUE(agent.is_quiet());
}

TEST_F(TranslationAgentTest, PageRequestsAreRecordedInMemory) {
  switch_on();
  agent.write_register(kPqa, 8, kRequests);
  PageRequest request;
  request.function = kFunction;
  request.page = kPage + 0x3000;
  request.read = request.is_last = true;
  request.prg_index = 9;
  PacketRef message = pool.make(PacketKind::kTlp);
  message->tlp = page_request_tlp(request);
  agent.receive(*message);
  run();
  std::array<std::uint8_t, kPageRequestRecordBytes> record{};
  port.peek(kRequests, record.data(), record.size());
  const std::optional<PageRequest> recorded = decode_page_request(record.data());
  ASSERT_TRUE(recorded);
  EXPECT_EQ(recorded->page, request.page);
  EXPECT_EQ(recorded->prg_index, 9U);
  EXPECT_EQ(agent.read_register(kPqt, 8), kPageRequestRecordBytes);
  EXPECT_EQ(interrupts, std::vector{IommuEvent::kPageRequest});
  EXPECT_EQ(counted().page_requests, 1U);
}

}  // namespace
}  // namespace flitwise::translation_agent_test
