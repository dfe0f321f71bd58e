// SPDX-License-Identifier: Apache-2.0
// Messages of a domain that go down: the host names it by its handle, the device hands them to the
// function of the entry. [DHI D21] [DHI D22]
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/load.h"
#include "config_space/registers.h"
#include "machine_bench.h"

namespace flitwise::downstream_handles_test {
namespace {

/// What the wire carries down in Invalidate Requests.
class InvalidateRequests : public TraceSink {
 public:
  void record(const TraceEvent& event) override {
    const Tlp& tlp = event.packet->tlp;
    if (event.packet->kind == PacketKind::kTlp && !event.is_up && tlp.type == TlpType::kMsgD &&
        tlp.message_code == msg::kInvalidateRequest) {
      seen.push_back(tlp);
    }
  }
  std::vector<Tlp> seen;
};

/// Two functions and four domains, all of which have handles; domain 1 is the VF with PASID 0.
class DownstreamHandles : public ::testing::Test {
 protected:
  void make(const std::vector<std::string>& sets = {}) {
    LoadOptions options;
    options.sets = sets;
    bench = std::make_unique<MachineBench>(config_from_text(R"(
link: {identity: dhi}
device: {functions: {count: 2}, dhi: {bits: 4}}
workload: {kind: posted_write, domains: 4, payload: 64B, requests: 40}
)",
                                                            "downstream.yaml", "", options));
    bench->machine.fabric().links[0].link->watch(&wire);
    ASSERT_TRUE(bench->bring_up());
    ASSERT_TRUE(bench->run_workload());
  }
  void invalidate(const DeviceIdentity& identity) {
    PacketRef packet = bench->machine.pool.make(PacketKind::kTlp);
    Tlp& tlp = packet->tlp;
    tlp.type = TlpType::kMsgD;
    tlp.routing = MsgRouting::kById;
    tlp.message_code = msg::kInvalidateRequest;
    tlp.length_dw = 2;
    tlp.message_dw2 = std::uint32_t{identity.bdf.value} << 16;
    tlp.has_pasid = true;
    tlp.pasid = *identity.pasid;
    packet->payload.assign(8, 0);
    packet->payload_bytes = 8;
    bench->machine.fabric().root_ports[0]->send(std::move(packet), Time{});
    sc_core::sc_start(to_sc_time(Time::from_us(5)));
  }
  Endpoint& endpoint() { return *bench->machine.endpoint("ep0"); }
  const DeviceIdentity& domain(unsigned index) { return endpoint().identity_of(DomainId{index}); }
  std::uint64_t device_errors(const std::string& kind) {
    const auto errors = endpoint().errors();
    const auto found = errors.find(kind);
    return found == errors.end() ? 0 : found->second;
  }
  bool has_unsupported_request(unsigned function) {
    const ConfigSpace& space = endpoint().target().space(function);
    const std::uint16_t at = space.find_extended(cfg::kExtAer).value();
    const auto bit = static_cast<unsigned>(cfg::aer::Uncorrectable::kUnsupportedRequest);
    return (space.read(static_cast<std::uint16_t>(at + cfg::aer::kUncorrectableStatus)) >> bit &
            1U) != 0;
  }

  InvalidateRequests wire;
  std::unique_ptr<MachineBench> bench;
};

// There is no ATC yet: the function that gets the message books it as unsupported.
// [DHI D21] [DHI D22] [DHI-23]
TEST_F(DownstreamHandles, D21_MessageCarriesTheHandleAndReachesTheFunctionOfTheEntry) {
  make();
  const Dhi dhi = *endpoint().dhi().table()->find(DomainId{1});
  invalidate(domain(1));
  ASSERT_EQ(wire.seen.size(), 1U);
  EXPECT_TRUE(wire.seen[0].id_is_handle);
  EXPECT_FALSE(wire.seen[0].has_pasid);
  EXPECT_EQ(wire.seen[0].message_dw2 >> 16, to_int(dhi));
  EXPECT_EQ(device_errors("unsupported_request"), 1U);
  EXPECT_TRUE(has_unsupported_request(1));
  EXPECT_FALSE(has_unsupported_request(0));
}

// [DHI D21] [DHI-24]
TEST_F(DownstreamHandles, D21_UnknownDomainIsNamedInFull) {
  make();
  DeviceIdentity stranger = domain(1);
  stranger.pasid = Pasid{77};
  invalidate(stranger);
  ASSERT_EQ(wire.seen.size(), 1U);
  EXPECT_FALSE(wire.seen[0].id_is_handle);
  EXPECT_TRUE(wire.seen[0].has_pasid);
  EXPECT_EQ(wire.seen[0].message_dw2 >> 16, stranger.bdf.value);
  EXPECT_TRUE(has_unsupported_request(1));
}

// [DHI D21] [DHI-24]
TEST_F(DownstreamHandles, D21_UnknownDomainIsAnErrorWhereThatIsChosen) {
  make({"host.dhi.unknown_domain=error"});
  DeviceIdentity stranger = domain(1);
  stranger.pasid = Pasid{77};
  invalidate(stranger);
  EXPECT_TRUE(wire.seen.empty());
  EXPECT_EQ(bench->machine.root_port("ep0").errors().at("unknown_domain"), 1U);
  invalidate(domain(1));
  EXPECT_EQ(wire.seen.size(), 1U);
}

// The device has lost its entry. [DHI D22] [DHI-25]
TEST_F(DownstreamHandles, D22_HandleWithoutEntryIsReportedAndHandedToNobody) {
  make();
  endpoint().dhi().reset_function(domain(1).bdf);
  const std::uint64_t messages = bench->machine.root_port("ep0").counters().messages;
  invalidate(domain(1));
  ASSERT_EQ(wire.seen.size(), 1U);
  EXPECT_EQ(device_errors("invalid_handle"), 1U);
  EXPECT_EQ(device_errors("unsupported_request"), 0U);
  EXPECT_FALSE(has_unsupported_request(1));
  EXPECT_EQ(bench->machine.root_port("ep0").counters().messages, messages + 1) << "ERR_NONFATAL";
}

}  // namespace
}  // namespace flitwise::downstream_handles_test
