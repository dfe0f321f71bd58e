// SPDX-License-Identifier: Apache-2.0
// Routing inside a switch and a root complex, corner by corner.
#include "routing/routing_table.h"

#include <gtest/gtest.h>

#include "config_space/capabilities.h"
#include "config_space/registers.h"

namespace flitwise::routing_table_test {
namespace {

constexpr std::uint64_t kBase = std::uint64_t{1} << 40;
constexpr std::uint64_t kMiB = 1 << 20;

Bridge bridge(unsigned primary, unsigned secondary, unsigned subordinate, std::uint64_t base,
              std::uint64_t size) {
  Bridge bridge;
  bridge.primary = static_cast<std::uint8_t>(primary);
  bridge.secondary = static_cast<std::uint8_t>(secondary);
  bridge.subordinate = static_cast<std::uint8_t>(subordinate);
  bridge.memory_enabled = bridge.bus_master = true;
  bridge.prefetchable = {base, size};
  return bridge;
}

/// Upstream port on bus 1, internal bus 2, device buses 3 and 4..5; two windows of 16 MiB.
class SwitchRouting : public testing::Test {
 protected:
  SwitchRouting() {
    table_.update_upstream(bridge(1, 2, 6, kBase, 64 * kMiB));
    table_.update_downstream(0, bridge(2, 3, 3, kBase, 16 * kMiB));
    table_.update_downstream(1, bridge(2, 4, 5, kBase + 16 * kMiB, 16 * kMiB));
  }
  void change(unsigned port, void (*edit)(Bridge&)) {
    Bridge bridge = table_.downstream(port);
    edit(bridge);
    table_.update_downstream(port, bridge);
  }
  void expect(const Tlp& tlp, unsigned ingress, Where where, unsigned port = kUpstreamPort,
              NoRoute reason = NoRoute::kNothing) {
    const Route route = table_.route(tlp, static_cast<std::uint16_t>(ingress));
    EXPECT_EQ(static_cast<int>(route.where), static_cast<int>(where));
    EXPECT_EQ(route.port, port);
    EXPECT_EQ(static_cast<int>(route.reason), static_cast<int>(reason));
  }
  RoutingTable table_{RoutingTable::Kind::kSwitch, 2};
};

Tlp write_to(std::uint64_t address) {
  Tlp tlp;
  tlp.type = TlpType::kMWr;
  tlp.address = address;
  return tlp;
}
Tlp completion_to(Bdf requester) {
  Tlp tlp;
  tlp.type = TlpType::kCplD;
  tlp.requester_id = requester;
  return tlp;
}
Tlp config_to(TlpType type, Bdf target) {
  Tlp tlp;
  tlp.type = type;
  tlp.completer_id = target;
  return tlp;
}
Tlp message(MsgRouting routing, Bdf target = {}) {
  Tlp tlp;
  tlp.type = TlpType::kMsg;
  tlp.routing = routing;
  tlp.message_dw2 = std::uint32_t{target.value} << 16;
  return tlp;
}

TEST_F(SwitchRouting, AddressDownGoesToThePortWhoseWindowHasIt) {
  expect(write_to(kBase), kUpstreamPort, Where::kDown, 0);
  expect(write_to(kBase + 16 * kMiB - 4), kUpstreamPort, Where::kDown, 0);
  expect(write_to(kBase + 16 * kMiB), kUpstreamPort, Where::kDown, 1);
}

TEST_F(SwitchRouting, AddressInNoWindowIsUnsupported) {
  expect(write_to(kBase + 40 * kMiB), kUpstreamPort, Where::kNone, kUpstreamPort,
         NoRoute::kNoWindow);
  expect(write_to(0x1000), kUpstreamPort, Where::kNone, kUpstreamPort, NoRoute::kNoWindow);
  expect(write_to(kBase + 40 * kMiB), 0, Where::kNone, kUpstreamPort, NoRoute::kNoWindow);
}

TEST_F(SwitchRouting, AddressUpIsWhatNoWindowClaims) {
  expect(write_to(0x1000), 0, Where::kUp);
  expect(write_to(~std::uint64_t{0} - 3), 1, Where::kUp);
}

TEST_F(SwitchRouting, AddressBehindItsOwnPortIsUnsupported) {
  expect(write_to(kBase + 8), 0, Where::kNone, kUpstreamPort, NoRoute::kBackToSender);
}

TEST_F(SwitchRouting, LNK_13_5_UpstreamForwardingSendsOnWhatWasRedirectedBelow) {
  change(0, [](Bridge& port) { port.upstream_forwarding = true; });
  expect(write_to(kBase + 8), 0, Where::kUp);
  expect(completion_to(Bdf::of(3, 0, 0)), 0, Where::kUp);
}

TEST_F(SwitchRouting, LNK_13_3_EgressControlDecidesPortByPort) {
  change(1, [](Bridge& port) {
    port.p2p_egress_control = true;
    port.egress_blocked[0] = true;
  });
  expect(write_to(kBase), 1, Where::kNone, kUpstreamPort, NoRoute::kEgressBlocked);
  change(1, [](Bridge& port) { port.p2p_request_redirect = true; });
  expect(write_to(kBase), 1, Where::kUp);
  change(1, [](Bridge& port) { port.egress_blocked[0] = false; });
  expect(write_to(kBase), 1, Where::kDown, 0);
}

TEST_F(SwitchRouting, LNK_9_31_NoAtomicLeavesByAPortThatBlocksThem) {
  for (const TlpType type : {TlpType::kFetchAdd, TlpType::kSwap, TlpType::kCas}) {
    Tlp up = write_to(0x1000), across = write_to(kBase);
    up.type = across.type = type;
    table_.update_upstream(bridge(1, 2, 6, kBase, 64 * kMiB));
    change(0, [](Bridge& port) { port.blocks_atomics = false; });
    expect(up, 1, Where::kUp);
    expect(across, 1, Where::kDown, 0);
    Bridge upstream = table_.upstream();
    upstream.blocks_atomics = true;
    table_.update_upstream(upstream);
    expect(up, 1, Where::kNone, kUpstreamPort, NoRoute::kAtomicsBlocked);
    expect(across, 1, Where::kDown, 0);
    change(0, [](Bridge& port) { port.blocks_atomics = true; });
    expect(across, 1, Where::kNone, kUpstreamPort, NoRoute::kAtomicsBlocked);
    expect(across, kUpstreamPort, Where::kNone, kUpstreamPort, NoRoute::kAtomicsBlocked);
  }
  expect(write_to(kBase), 1, Where::kDown, 0);
}

TEST_F(SwitchRouting, LNK_13_4_TranslatedAddressesGoAcrossWhereThatIsEnabled) {
  change(1, [](Bridge& port) { port.p2p_request_redirect = true; });
  Tlp tlp = write_to(kBase);
  tlp.at = AddressType::kTranslated;
  expect(tlp, 1, Where::kUp);
  change(1, [](Bridge& port) { port.direct_translated_p2p = true; });
  expect(tlp, 1, Where::kDown, 0);
  expect(write_to(kBase), 1, Where::kUp);
}

TEST_F(SwitchRouting, PeerToPeerGoesAcrossOrUpWhenRedirected) {
  expect(write_to(kBase), 1, Where::kDown, 0);
  change(1, [](Bridge& port) { port.p2p_request_redirect = true; });
  expect(write_to(kBase), 1, Where::kUp);
  expect(completion_to(Bdf::of(3, 0, 0)), 1, Where::kDown, 0);
  change(1, [](Bridge& port) { port.p2p_completion_redirect = true; });
  expect(completion_to(Bdf::of(3, 0, 0)), 1, Where::kUp);
}

TEST_F(SwitchRouting, LNK_13_2_MessagesByIdArePeerRequests) {
  const Tlp tlp = message(MsgRouting::kById, Bdf::of(3, 0, 0));
  expect(tlp, 1, Where::kDown, 0);
  change(1, [](Bridge& port) { port.p2p_request_redirect = true; });
  expect(tlp, 1, Where::kUp);
  expect(tlp, kUpstreamPort, Where::kDown, 0);
  change(1, [](Bridge& port) {
    port.p2p_request_redirect = false;
    port.p2p_egress_control = true;
    port.egress_blocked[0] = true;
  });
  expect(tlp, 1, Where::kNone, kUpstreamPort, NoRoute::kEgressBlocked);
}

TEST_F(SwitchRouting, LNK_13_2_WhatIsRedirectedIsMarked) {
  EXPECT_FALSE(table_.route(write_to(kBase), 1).is_redirected);
  change(1, [](Bridge& port) { port.p2p_request_redirect = true; });
  EXPECT_TRUE(table_.route(write_to(kBase), 1).is_redirected);
  EXPECT_FALSE(table_.route(write_to(kBase), 0).is_redirected);
  EXPECT_FALSE(table_.route(completion_to(Bdf::of(3, 0, 0)), 1).is_redirected);
  change(1, [](Bridge& port) { port.p2p_completion_redirect = true; });
  EXPECT_TRUE(table_.route(completion_to(Bdf::of(3, 0, 0)), 1).is_redirected);
}

TEST_F(SwitchRouting, D23_RequestsWithHandlesForRequesterIdsAreRedirectedUp) {
  Tlp tlp = write_to(kBase);
  tlp.id_is_handle = true;
  expect(tlp, 1, Where::kDown, 0);
  table_.set_handle_is_requester_id(true);
  expect(tlp, 1, Where::kUp);
  expect(write_to(kBase), 1, Where::kDown, 0);
}

TEST_F(SwitchRouting, DisabledMemorySpaceClosesTheWindow) {
  change(0, [](Bridge& port) { port.memory_enabled = false; });
  expect(write_to(kBase), kUpstreamPort, Where::kNone, kUpstreamPort, NoRoute::kNoWindow);
  Bridge upstream = table_.upstream();
  upstream.memory_enabled = false;
  table_.update_upstream(upstream);
  expect(write_to(kBase + 16 * kMiB), kUpstreamPort, Where::kNone, kUpstreamPort,
         NoRoute::kNoWindow);
}

TEST_F(SwitchRouting, OverlappingWindowsGoToTheFirstPort) {
  change(1, [](Bridge& port) { port.prefetchable.base = kBase; });
  expect(write_to(kBase), kUpstreamPort, Where::kDown, 0);
}

TEST_F(SwitchRouting, DisabledBusMasterStopsRequestsButNotCompletionsAndMessages) {
  change(0, [](Bridge& port) { port.bus_master = false; });
  expect(write_to(0x1000), 0, Where::kNone, kUpstreamPort, NoRoute::kBusMasterDisabled);
  expect(completion_to(Bdf::of(0, 0, 0)), 0, Where::kUp);
  expect(message(MsgRouting::kToRootComplex), 0, Where::kUp);
  Bridge upstream = table_.upstream();
  upstream.bus_master = false;
  table_.update_upstream(upstream);
  expect(write_to(0x1000), 1, Where::kNone, kUpstreamPort, NoRoute::kBusMasterDisabled);
  expect(write_to(kBase), 1, Where::kDown, 0);
}

TEST_F(SwitchRouting, CompletionsFollowTheRequesterId) {
  expect(completion_to(Bdf::of(3, 0, 0)), kUpstreamPort, Where::kDown, 0);
  expect(completion_to(Bdf::of(5, 7, 1)), kUpstreamPort, Where::kDown, 1);
  expect(completion_to(Bdf::of(6, 0, 0)), kUpstreamPort, Where::kNone, kUpstreamPort,
         NoRoute::kNoBus);
  expect(completion_to(Bdf::of(9, 0, 0)), kUpstreamPort, Where::kNone, kUpstreamPort,
         NoRoute::kNoBus);
  expect(completion_to(Bdf::of(0, 0, 0)), 0, Where::kUp);
  expect(completion_to(Bdf::of(3, 0, 0)), 0, Where::kNone, kUpstreamPort, NoRoute::kBackToSender);
}

TEST_F(SwitchRouting, IdsOfItsOwnPortsEndInside) {
  expect(completion_to(Bdf::of(1, 0, 0)), kUpstreamPort, Where::kLocal, kUpstreamPort);
  expect(completion_to(Bdf::of(2, 1, 0)), kUpstreamPort, Where::kLocal, 1);
  expect(completion_to(Bdf::of(2, 2, 0)), kUpstreamPort, Where::kNone, kUpstreamPort,
         NoRoute::kNoDevice);
}

TEST_F(SwitchRouting, UnassignedBusesForwardNothingById) {
  RoutingTable fresh(RoutingTable::Kind::kSwitch, 2);
  const Route down = fresh.route(completion_to(Bdf::of(3, 0, 0)), kUpstreamPort);
  EXPECT_EQ(down.where, Where::kNone);
  const Route config = fresh.route(config_to(TlpType::kCfgRd1, Bdf::of(0, 0, 0)), kUpstreamPort);
  EXPECT_EQ(config.where, Where::kNone);
  EXPECT_EQ(config.reason, NoRoute::kNoBus);
}

TEST_F(SwitchRouting, Type0EndsAtTheUpstreamPort) {
  expect(config_to(TlpType::kCfgRd0, Bdf::of(1, 0, 0)), kUpstreamPort, Where::kLocal);
  expect(config_to(TlpType::kCfgRd0, Bdf::of(1, 1, 0)), kUpstreamPort, Where::kNone, kUpstreamPort,
         NoRoute::kNoDevice);
}

TEST_F(SwitchRouting, Type1BecomesType0OnTheTargetsLink) {
  const Tlp near = config_to(TlpType::kCfgWr1, Bdf::of(4, 0, 2));
  expect(near, kUpstreamPort, Where::kDown, 1);
  EXPECT_TRUE(table_.route(near, kUpstreamPort).to_type0);
  EXPECT_EQ(as_type0(near).type, TlpType::kCfgWr0);
  EXPECT_EQ(as_type0(near).completer_id, near.completer_id);
  const Tlp far = config_to(TlpType::kCfgRd1, Bdf::of(5, 3, 0));
  expect(far, kUpstreamPort, Where::kDown, 1);
  EXPECT_FALSE(table_.route(far, kUpstreamPort).to_type0);
  expect(config_to(TlpType::kCfgRd1, Bdf::of(2, 1, 0)), kUpstreamPort, Where::kLocal, 1);
}

TEST_F(SwitchRouting, DeviceNumberBehindAPortIsUnsupportedUnlessAri) {
  const Tlp tlp = config_to(TlpType::kCfgRd1, Bdf::of(3, 1, 0));
  expect(tlp, kUpstreamPort, Where::kNone, kUpstreamPort, NoRoute::kNoDevice);
  change(0, [](Bridge& port) { port.ari_forwarding = true; });
  expect(tlp, kUpstreamPort, Where::kDown, 0);
}

TEST_F(SwitchRouting, ConfigurationFromBelowIsUnsupported) {
  expect(config_to(TlpType::kCfgRd1, Bdf::of(3, 0, 0)), 1, Where::kNone, kUpstreamPort,
         NoRoute::kWrongDirection);
  expect(config_to(TlpType::kCfgWr0, Bdf::of(1, 0, 0)), 1, Where::kNone, kUpstreamPort,
         NoRoute::kWrongDirection);
}

TEST_F(SwitchRouting, LNK_1_2_MessagesGoWhereTheirRoutingSays) {
  expect(message(MsgRouting::kToRootComplex), 1, Where::kUp);
  expect(message(MsgRouting::kToRootComplex), kUpstreamPort, Where::kNone, kUpstreamPort,
         NoRoute::kWrongDirection);
  expect(message(MsgRouting::kBroadcast), kUpstreamPort, Where::kBroadcast);
  expect(message(MsgRouting::kBroadcast), 0, Where::kNone, kUpstreamPort, NoRoute::kWrongDirection);
  expect(message(MsgRouting::kLocal), 1, Where::kLocal, 1);
  expect(message(MsgRouting::kGathered), 1, Where::kGather);
  expect(message(MsgRouting::kById, Bdf::of(4, 0, 0)), kUpstreamPort, Where::kDown, 1);
  expect(message(MsgRouting::kById, Bdf::of(0, 0, 0)), 1, Where::kUp);
  expect(message(static_cast<MsgRouting>(7)), 0, Where::kLocal, 0);
}

TEST_F(SwitchRouting, IoHasNoWindow) {
  Tlp tlp = write_to(kBase);
  tlp.type = TlpType::kIOWr;
  expect(tlp, kUpstreamPort, Where::kNone, kUpstreamPort, NoRoute::kNoWindow);
}

class RootRouting : public testing::Test {
 protected:
  RootRouting() {
    table_.update_downstream(0, bridge(0, 1, 3, kBase, 16 * kMiB));
    table_.update_downstream(1, bridge(0, 4, 4, kBase + 16 * kMiB, 16 * kMiB));
  }
  RoutingTable table_{RoutingTable::Kind::kRootComplex, 2};
};

TEST_F(RootRouting, HostReachesPortsByWindowBusAndOwnDevice) {
  EXPECT_EQ(table_.route(write_to(kBase + 20 * kMiB), kUpstreamPort).port, 1);
  EXPECT_EQ(table_.route(write_to(0x1000), kUpstreamPort).where, Where::kNone);
  const Route own = table_.route(config_to(TlpType::kCfgRd0, Bdf::of(0, 2, 0)), kUpstreamPort);
  EXPECT_EQ(own.where, Where::kLocal);
  EXPECT_EQ(own.port, 1);
  EXPECT_EQ(table_.route(config_to(TlpType::kCfgRd0, Bdf::of(0, 0, 0)), kUpstreamPort).reason,
            NoRoute::kNoDevice);
  const Route far = table_.route(config_to(TlpType::kCfgRd1, Bdf::of(1, 0, 0)), kUpstreamPort);
  EXPECT_EQ(far.where, Where::kDown);
  EXPECT_TRUE(far.to_type0);
}

TEST_F(RootRouting, DeviceReachesHostMemoryAndHostIds) {
  EXPECT_EQ(table_.route(write_to(0x1000), 0).where, Where::kUp);
  EXPECT_EQ(table_.route(completion_to(Bdf::of(0, 0, 0)), 1).where, Where::kUp);
  EXPECT_EQ(table_.route(completion_to(Bdf::of(9, 0, 0)), 1).reason, NoRoute::kNoBus);
  EXPECT_EQ(table_.route(write_to(kBase + 20 * kMiB), 0).port, 1);
}

TEST(PortNumbers, EveryPortHasItsOwnBdf) {
  for (const auto kind : {RoutingTable::Kind::kSwitch, RoutingTable::Kind::kRootComplex}) {
    RoutingTable table(kind, 248);
    Bridge upstream;
    upstream.secondary = 7;
    table.update_upstream(upstream);
    for (unsigned port = 0; port < 248; ++port) {
      ASSERT_EQ(table.port_at(table.port_bdf(port)), port);
    }
  }
}

TEST(DecodeBridge, ReadsBusesWindowsEnablesAndAcs) {
  ConfigSpace port = ConfigSpace::type1({});
  PcieOptions options;
  options.type = cfg::pcie::PortType::kDownstreamPort;
  const std::uint16_t pcie = port.add(pcie_capability(options));
  const std::uint16_t acs = port.add(acs_capability());
  port.write(cfg::kBusNumbers, 0x050402);
  port.write(cfg::kMemoryWindow, 0xe010e000);
  port.write(cfg::kPrefetchWindow, 0x00f00000);
  port.write(cfg::kPrefetchBaseUpper, 0x100);
  port.write(cfg::kPrefetchLimitUpper, 0x100);
  port.write(cfg::kCommand, cfg::kCommandMemorySpace | cfg::kCommandBusMaster);
  port.write(static_cast<std::uint16_t>(acs + cfg::acs::kControl),
             cfg::acs::kSourceValidation << 16);
  port.write(static_cast<std::uint16_t>(pcie + cfg::pcie::kDeviceControl2),
             cfg::pcie::kAriForwarding);
  const Bridge bridge = decode_bridge(port);
  EXPECT_EQ(bridge.primary, 2);
  EXPECT_EQ(bridge.secondary, 4);
  EXPECT_EQ(bridge.subordinate, 5);
  EXPECT_EQ(bridge.memory.base, 0xe0000000U);
  EXPECT_EQ(bridge.memory.size, 2 * kMiB);
  EXPECT_EQ(bridge.prefetchable.base, kBase);
  EXPECT_EQ(bridge.prefetchable.size, 16 * kMiB);
  EXPECT_TRUE(bridge.memory_enabled && bridge.bus_master && bridge.ari_forwarding);
  EXPECT_TRUE(bridge.source_validation);
  EXPECT_FALSE(bridge.p2p_request_redirect);
}

TEST(DecodeBridge, BaseAboveLimitClosesTheWindow) {
  ConfigSpace port = ConfigSpace::type1({});
  port.write(cfg::kCommand, cfg::kCommandMemorySpace);
  port.write(cfg::kMemoryWindow, 0x0000fff0);
  port.write(cfg::kPrefetchWindow, 0x0000fff0);
  EXPECT_FALSE(decode_bridge(port).owns_address(0));
  EXPECT_FALSE(decode_bridge(port).owns_address(0xfff00000));
}

TEST(DecodeBridge, AWindowOfAllAddressesIsNotClosed) {
  ConfigSpace port = ConfigSpace::type1({});
  port.write(cfg::kCommand, cfg::kCommandMemorySpace);
  port.write(cfg::kPrefetchWindow, 0xfff0'0000);
  port.write(cfg::kPrefetchLimitUpper, 0xffff'ffff);
  EXPECT_TRUE(decode_bridge(port).owns_address(0));
  EXPECT_TRUE(decode_bridge(port).owns_address(0xffff'ffff'fff0'0000));
}

}  // namespace
}  // namespace flitwise::routing_table_test
