// SPDX-License-Identifier: Apache-2.0
// The switch's own functions, and configuration requests on their way to what is below.
#include <map>

#include "config_space/enumeration.h"
#include "config_space/functions.h"
#include "model/switch/switch_fixture.h"

namespace flitwise::configuration_test {
namespace {

std::uint32_t word(const Packet& packet) {
  std::uint32_t value = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    value |= std::uint32_t{packet.payload.at(byte)} << (8 * byte);
  }
  return value;
}

TEST(SwitchConfiguration, TheUpstreamPortAnswersAType0Request) {
  SwitchBench bench;
  bench.up.send(bench.configuration(TlpType::kCfgRd0, Bdf::of(1, 0, 0), cfg::kVendorId));
  bench.run();
  ASSERT_EQ(bench.up.types(), std::vector<TlpType>{TlpType::kCplD});
  EXPECT_EQ(word(*bench.up.got[0]), bench.sw.config_space(kUpstreamPort).read(cfg::kVendorId));
  EXPECT_EQ(bench.up.got[0]->tlp.completer_id, Bdf::of(1, 0, 0));
}

TEST(SwitchConfiguration, AWriteToADownstreamPortMovesItsBuses) {
  SwitchBench bench;
  bench.up.send(
      bench.configuration(TlpType::kCfgWr1, Bdf::of(2, 1, 0), cfg::kBusNumbers, 0x0009'0902));
  bench.run();
  EXPECT_EQ(bench.up.types(), std::vector<TlpType>{TlpType::kCpl});
  EXPECT_EQ(bench.sw.routing().downstream(1).secondary, 9);
}

TEST(SwitchConfiguration, Type1BecomesType0OnTheTargetsOwnLinkAndStaysType1Beyond) {
  SwitchBench bench;
  bench.sw.configure(1, cfg::kBusNumbers, 0x0005'0402, 0x7);
  bench.sw.configure(kUpstreamPort, cfg::kBusNumbers, 0x0005'0201, 0x7);
  bench.up.send(bench.configuration(TlpType::kCfgRd1, Bdf::of(4, 0, 0), 0));
  bench.up.send(bench.configuration(TlpType::kCfgRd1, Bdf::of(5, 0, 0), 0));
  bench.run();
  EXPECT_EQ(bench.down[1]->types(), (std::vector<TlpType>{TlpType::kCfgRd0, TlpType::kCfgRd1}));
  EXPECT_EQ(bench.up.freed_packets.size(), 2U);
}

TEST(SwitchConfiguration, ADeviceNumberAboveZeroBelowAPortIsAnsweredWithUr) {
  SwitchBench bench;
  bench.up.send(bench.configuration(TlpType::kCfgRd1, Bdf::of(3, 1, 0), 0));
  bench.run();
  EXPECT_TRUE(bench.down[0]->got.empty());
  ASSERT_EQ(bench.up.types(), std::vector<TlpType>{TlpType::kCpl});
  EXPECT_EQ(bench.up.got[0]->tlp.status, CplStatus::kUR);
  EXPECT_EQ(bench.sw.errors().at("unsupported_request.no_device"), 1U);
}

TEST(SwitchConfiguration, ADeviceMayNotConfigure) {
  SwitchBench bench;
  bench.down[0]->send(
      bench.configuration(TlpType::kCfgWr1, Bdf::of(2, 1, 0), cfg::kBusNumbers, 0x0009'0902));
  bench.run();
  EXPECT_EQ(bench.sw.routing().downstream(1).secondary, 4);
}

/// Performs the accesses of an enumeration as TLPs through the switch; root port and endpoints
/// answer from their own configuration spaces.
class Walk {
 public:
  explicit Walk(SwitchBench& bench) : bench_(bench) {}

  EnumerationResult run() {
    EnumeratorOptions options;
    options.acs_of = [](const FoundFunction&) {
      return AccessControl{cfg::acs::kSourceValidation | cfg::acs::kP2pRequestRedirect, {}};
    };
    Enumerator enumerator{options};
    while (const std::optional<CfgAccess> access = enumerator.next()) {
      const std::optional<std::uint32_t> value = perform(*access);
      enumerator.answer(value.value_or(0xffff'ffff), !value.has_value());
    }
    return enumerator.result();
  }

 private:
  static std::uint32_t apply(ConfigSpace& space, const CfgAccess& access) {
    if (access.write) {
      space.write(access.offset, access.value, access.byte_enables);
      return 0;
    }
    return space.read(access.offset);
  }
  std::optional<std::uint32_t> perform(const CfgAccess& access) {
    if (access.target.bus() == 0) {
      return access.target == Bdf::of(0, 1, 0) ? std::optional(apply(root_, access)) : std::nullopt;
    }
    const bool is_next = access.target.bus() == decode_bridge(root_).secondary;
    const TlpType type = access.write ? (is_next ? TlpType::kCfgWr0 : TlpType::kCfgWr1)
                                      : (is_next ? TlpType::kCfgRd0 : TlpType::kCfgRd1);
    const PacketRef request =
        bench_.configuration(type, access.target, access.offset, access.value);
    request->tlp.first_be = access.byte_enables;
    bench_.up.got.clear();
    bench_.up.send(request);
    bench_.run(Time::from_ns(100));
    for (std::size_t i = 0; i < 2; ++i) {
      answer_below(i, access);
    }
    if (bench_.up.got.size() != 1 || bench_.up.got[0]->tlp.status != CplStatus::kSC) {
      return std::nullopt;
    }
    return access.write ? 0 : word(*bench_.up.got[0]);
  }
  void answer_below(std::size_t port, const CfgAccess& access) {
    FakeLink& link = *bench_.down[port];
    if (link.got.empty()) {
      return;
    }
    const Tlp request = link.got[0]->tlp;
    link.got.clear();
    const bool exists = request.completer_id.function() == 0;
    const PacketRef answer =
        bench_.make(access.write || !exists ? TlpType::kCpl : TlpType::kCplD, request.requester_id);
    answer->tlp.status = exists ? CplStatus::kSC : CplStatus::kUR;
    answer->tlp.completer_id = request.completer_id;
    if (exists) {
      const std::uint32_t value = apply(endpoints_[port], access);
      for (unsigned byte = 0; byte < answer->payload.size(); ++byte) {
        answer->payload[byte] = static_cast<std::uint8_t>(value >> (8 * byte));
      }
    }
    link.send(answer);
    bench_.run(Time::from_ns(100));
  }

  SwitchBench& bench_;
  ConfigSpace root_ = port_space(cfg::pcie::PortType::kRootPort, {}, 0);
  std::array<ConfigSpace, 2> endpoints_ = {endpoint_space({}), endpoint_space({})};
};

TEST(SwitchConfiguration, AWholeTopologyIsEnumeratedThroughTheSwitch) {
  SwitchBench bench;
  for (const std::uint16_t port : {kUpstreamPort, std::uint16_t{0}, std::uint16_t{1}}) {
    bench.sw.configure(port, cfg::kBusNumbers, 0, 0x7);  // as after a reset
    bench.sw.configure(port, cfg::kCommand, 0, 0x3);
  }
  const EnumerationResult result = Walk(bench).run();
  EXPECT_TRUE(result.problems.empty());
  ASSERT_EQ(result.functions.size(), 6U);  // root port, upstream, downstream and endpoint twice
  std::map<cfg::pcie::PortType, int> kinds;
  for (const FoundFunction& function : result.functions) {
    ++kinds[function.type];
  }
  EXPECT_EQ(kinds[cfg::pcie::PortType::kUpstreamPort], 1);
  EXPECT_EQ(kinds[cfg::pcie::PortType::kDownstreamPort], 2);
  EXPECT_EQ(kinds[cfg::pcie::PortType::kEndpoint], 2);
  for (unsigned port = 0; port < 2; ++port) {
    const Bridge& bridge = bench.sw.routing().downstream(port);
    EXPECT_TRUE(bridge.bus_master);
    EXPECT_TRUE(bridge.source_validation);
    EXPECT_TRUE(bridge.p2p_request_redirect);
    EXPECT_EQ(bridge.secondary, 3 + port);
  }
}

}  // namespace
}  // namespace flitwise::configuration_test
