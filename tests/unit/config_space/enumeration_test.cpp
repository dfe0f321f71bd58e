// SPDX-License-Identifier: Apache-2.0
// Host software against a root port, a switch and endpoints with VFs, every access routed as a TLP.
#include "config_space/enumeration.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "config_space/functions.h"
#include "routing/routing_table.h"

namespace flitwise::enumeration_test {
namespace {

using cfg::pcie::PortType;

struct Answer {
  std::uint32_t value = 0;
  bool unsupported_request = true;
};

Answer access(ConfigSpace& space, const CfgAccess& wanted) {
  if (wanted.write) {
    space.write(wanted.offset, wanted.value, wanted.byte_enables);
    return {0, false};
  }
  return {space.read(wanted.offset), false};
}

/// An endpoint with its VFs; it learns its bus from configuration requests that reach it.
struct Device {
  explicit Device(const EndpointSpaceOptions& options)
      : pf(endpoint_space(options)), vfs(options.total_vfs, virtual_function_space(options)) {}

  Answer configure(const Tlp& tlp, const CfgAccess& wanted) {
    const bool is_type0 = tlp.type == TlpType::kCfgRd0 || tlp.type == TlpType::kCfgWr0;
    if (is_type0 && wanted.write && wanted.target.value % 256 == 0) {
      id = wanted.target;
    }
    if (is_type0 && wanted.target.value % 256 == 0) {
      return access(pf, wanted);
    }
    const auto vf = virtual_functions(pf).index_of(id, wanted.target);
    return vf ? access(vfs[*vf], wanted) : Answer{};
  }

  ConfigSpace pf;
  std::vector<ConfigSpace> vfs;
  Bdf id;
};

/// Root port, switch with two downstream ports, a device (or nothing) behind each.
class Machine {
 public:
  Machine() {
    for (unsigned port = 0; port < 2; ++port) {
      downstream.push_back(port_space(PortType::kDownstreamPort, {}, port & 1U));
    }
  }

  Answer perform(const CfgAccess& wanted) {
    Tlp tlp;
    const bool is_bus0 = wanted.target.bus() == 0;
    tlp.type = wanted.write ? (is_bus0 ? TlpType::kCfgWr0 : TlpType::kCfgWr1)
                            : (is_bus0 ? TlpType::kCfgRd0 : TlpType::kCfgRd1);
    tlp.completer_id = wanted.target;
    const Route route = root.route(tlp, kUpstreamPort);
    if (route.where == Where::kLocal) {
      const Answer answer = access(root_port, wanted);
      root.update_downstream(0, decode_bridge(root_port));
      return answer;
    }
    return route.where == Where::kDown ? in_switch(route.to_type0 ? as_type0(tlp) : tlp, wanted)
                                       : Answer{};
  }

  EnumerationResult enumerate(const EnumeratorOptions& options) {
    Enumerator enumerator(options);
    while (const auto wanted = enumerator.next()) {
      const Answer answer = perform(*wanted);
      enumerator.answer(answer.value, answer.unsupported_request);
    }
    return enumerator.result();
  }

  RoutingTable root{RoutingTable::Kind::kRootComplex, 1};
  RoutingTable fabric{RoutingTable::Kind::kSwitch, 2};
  ConfigSpace root_port = port_space(PortType::kRootPort, {}, 0);
  ConfigSpace upstream = port_space(PortType::kUpstreamPort, {}, 0);
  std::vector<ConfigSpace> downstream;
  std::array<std::optional<Device>, 2> devices;

 private:
  Answer in_switch(const Tlp& tlp, const CfgAccess& wanted) {
    const Route route = fabric.route(tlp, kUpstreamPort);
    if (route.where == Where::kLocal) {
      const bool is_up = route.port == kUpstreamPort;
      const Answer answer = access(is_up ? upstream : downstream[route.port], wanted);
      fabric.update_upstream(decode_bridge(upstream));
      for (unsigned port = 0; port < 2; ++port) {
        fabric.update_downstream(port, decode_bridge(downstream[port]));
      }
      return answer;
    }
    if (route.where != Where::kDown || !devices[route.port]) {
      return {};
    }
    return devices[route.port]->configure(route.to_type0 ? as_type0(tlp) : tlp, wanted);
  }
};

EndpointSpaceOptions device_with(std::uint16_t vfs) {
  EndpointSpaceOptions options;
  options.total_vfs = vfs;
  return options;
}

class Enumeration : public testing::Test {
 protected:
  Enumeration() {
    machine_.devices[0].emplace(device_with(300));
    EndpointSpaceOptions second = device_with(3);
    second.bar_size = std::uint64_t{4} << 20;
    second.max_mps = 512;
    machine_.devices[1].emplace(second);
  }
  const FoundFunction& at(const EnumerationResult& result, Bdf bdf) {
    for (const FoundFunction& function : result.functions) {
      if (function.bdf == bdf) {
        return function;
      }
    }
    ADD_FAILURE() << "nothing found at " << bdf.value;
    return result.functions.front();
  }
  Machine machine_;
  EnumeratorOptions options_;
};

TEST_F(Enumeration, NumbersBusesDepthFirstAndLeavesRoomForVfs) {
  const EnumerationResult result = machine_.enumerate(options_);
  EXPECT_TRUE(result.problems.empty()) << result.problems.front();
  ASSERT_EQ(result.functions.size(), 6U);
  EXPECT_EQ(at(result, Bdf::of(0, 1, 0)).subordinate, 5);
  EXPECT_EQ(at(result, Bdf::of(1, 0, 0)).type, PortType::kUpstreamPort);
  EXPECT_EQ(at(result, Bdf::of(1, 0, 0)).secondary, 2);
  EXPECT_EQ(at(result, Bdf::of(2, 0, 0)).secondary, 3);
  EXPECT_EQ(at(result, Bdf::of(2, 0, 0)).subordinate, 4);
  EXPECT_EQ(at(result, Bdf::of(2, 1, 0)).secondary, 5);
  EXPECT_EQ(at(result, Bdf::of(3, 0, 0)).num_vfs, 300);
  EXPECT_EQ(at(result, Bdf::of(5, 0, 0)).num_vfs, 3);
  EXPECT_EQ(machine_.root.downstream(0).subordinate, 5);
  EXPECT_EQ(machine_.fabric.downstream(0).subordinate, 4);
}

TEST_F(Enumeration, EveryBarIsReachedThroughTheWindowsAndNoTwoOverlap) {
  const EnumerationResult result = machine_.enumerate(options_);
  std::vector<std::pair<AddressRange, unsigned>> ranges;
  for (unsigned device = 0; device < 2; ++device) {
    const ConfigSpace& pf = machine_.devices[device]->pf;
    ranges.emplace_back(pf.bar(0), device);
    ranges.emplace_back(vf_bar(pf, 0), device);
  }
  for (const auto& [range, device] : ranges) {
    ASSERT_NE(range.size, 0U);
    for (const std::uint64_t address : {range.base, range.base + range.size - 4}) {
      Tlp tlp;
      tlp.type = TlpType::kMWr;
      tlp.address = address;
      EXPECT_EQ(machine_.root.route(tlp, kUpstreamPort).where, Where::kDown);
      const Route route = machine_.fabric.route(tlp, kUpstreamPort);
      EXPECT_EQ(route.where, Where::kDown);
      EXPECT_EQ(route.port, device);
    }
    for (const auto& [other, other_device] : ranges) {
      EXPECT_TRUE(range.base == other.base || range.base + range.size <= other.base ||
                  other.base + other.size <= range.base);
    }
  }
  EXPECT_EQ(vf_bar(machine_.devices[0]->pf, 0).size, 300U * (64 << 10));
  EXPECT_EQ(at(result, Bdf::of(5, 0, 0)).bars.at(0).range.base,
            machine_.devices[1]->pf.bar(0).base);
  EXPECT_EQ(machine_.devices[1]->pf.bar(0).base % (4 << 20), 0U);
}

TEST_F(Enumeration, LNK_9_15_MpsIsTheSmallestOfAllFunctions) {
  options_.mrrs_of = [](const FoundFunction&) { return 1024U; };
  machine_.enumerate(options_);
  for (const ConfigSpace* space : {&machine_.root_port, &machine_.upstream, &machine_.downstream[1],
                                   &machine_.devices[0]->pf, &machine_.devices[1]->pf}) {
    EXPECT_EQ(device_control(*space).mps, 512U);
    EXPECT_EQ(device_control(*space).mrrs, 1024U);
  }
}

TEST_F(Enumeration, LNK_9_8_TagsAreAsWideAsSupported) {
  EndpointSpaceOptions eight;
  eight.tag_bits = 8;
  machine_.devices[1].emplace(eight);
  const EnumerationResult result = machine_.enumerate(options_);
  EXPECT_EQ(device_control(machine_.devices[0]->pf).tag_bits, 10U);
  EXPECT_EQ(device_control(machine_.devices[1]->pf).tag_bits, 8U);
  EXPECT_EQ(at(result, Bdf::of(5, 0, 0)).tag_bits, 8U);
}

TEST_F(Enumeration, FunctionsPortsAndVfsAreEnabled) {
  options_.acs_of = [](const FoundFunction&) {
    return AccessControl{cfg::acs::kSourceValidation | cfg::acs::kP2pRequestRedirect, {}};
  };
  machine_.enumerate(options_);
  for (const ConfigSpace* space :
       {&machine_.root_port, &machine_.upstream, &machine_.downstream[0], &machine_.downstream[1],
        &machine_.devices[0]->pf, &machine_.devices[1]->pf}) {
    EXPECT_TRUE(space->memory_space_enabled() && space->bus_master_enabled());
  }
  EXPECT_EQ(virtual_functions(machine_.devices[0]->pf).count, 300U);
  EXPECT_TRUE(virtual_functions(machine_.devices[0]->pf).memory_space_enabled);
  EXPECT_TRUE(device_control(machine_.devices[0]->pf).relaxed_ordering);
  EXPECT_TRUE(device_control(machine_.devices[0]->pf).id_based_ordering);
  EXPECT_TRUE(machine_.fabric.downstream(0).ari_forwarding);
  EXPECT_TRUE(machine_.fabric.downstream(0).source_validation);
  EXPECT_TRUE(machine_.fabric.downstream(0).p2p_request_redirect);
}

TEST_F(Enumeration, AnEmptyPortHasClosedWindows) {
  machine_.devices[0].reset();
  const EnumerationResult result = machine_.enumerate(options_);
  EXPECT_EQ(result.functions.size(), 5U);
  EXPECT_FALSE(machine_.fabric.downstream(0).owns_address(0));
  EXPECT_EQ(machine_.fabric.downstream(0).prefetchable.size, 0U);
  EXPECT_EQ(machine_.fabric.downstream(0).memory.size, 0U);
}

TEST_F(Enumeration, TooLittleAddressSpaceIsAProblemInWords) {
  options_.mmio.size = 1 << 20;
  const EnumerationResult result = machine_.enumerate(options_);
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_NE(result.problems[0].find("address space"), std::string::npos);
}

TEST_F(Enumeration, RefusedWritesAreProblems) {
  Enumerator enumerator(options_);
  while (const auto access = enumerator.next()) {
    const bool is_there = access->target == Bdf::of(0, 0, 0);
    enumerator.answer(is_there ? 0x0002'f17dU : 0xffff'ffffU, !is_there || access->write);
  }
  ASSERT_FALSE(enumerator.result().problems.empty());
  EXPECT_NE(enumerator.result().problems.back().find("was refused"), std::string::npos);
}

TEST_F(Enumeration, TheSameAccessIsAskedUntilItIsAnswered) {
  Enumerator enumerator(options_);
  const auto first = enumerator.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(enumerator.next()->target, first->target);
  enumerator.answer(0, true);
  EXPECT_NE(enumerator.next()->target, first->target);
}

TEST(EnumerationAlone, NothingThereEndsAfterOneBus) {
  Enumerator enumerator{EnumeratorOptions{}};
  unsigned accesses = 0;
  while (enumerator.next()) {
    enumerator.answer(0, true);
    ++accesses;
  }
  EXPECT_EQ(accesses, 32U);
  EXPECT_TRUE(enumerator.result().functions.empty());
}

TEST(EnumerationAlone, GarbageFromEveryRegisterEnds) {
  for (const std::uint32_t garbage : {0xffffffffU, 0x0U, 0x50505050U, 0x00018086U, 0x10410041U}) {
    Enumerator enumerator{EnumeratorOptions{}};
    std::uint64_t accesses = 0;
    while (enumerator.next() && accesses < 5'000'000) {
      enumerator.answer(garbage, false);
      ++accesses;
    }
    EXPECT_FALSE(enumerator.next()) << std::hex << garbage;
  }
}

}  // namespace
}  // namespace flitwise::enumeration_test
