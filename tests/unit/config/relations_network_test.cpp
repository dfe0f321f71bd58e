// SPDX-License-Identifier: Apache-2.0
// Networks of packets and session groups: what is refused, and what is warned of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.h"
#include "unit/config/support.h"

namespace flitwise::relations_network_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kPackets = "workload: {flows: {bytes: 1000B}}\nnetwork: {mode: packet";

std::string with_sessions(const std::string& srdma, const std::string& network = "") {
  return kPackets + ", topology: leaf_spine" + network + "}\ndevice: {srdma: {enabled: true, " +
         srdma + "}}\n";
}

std::vector<std::string> warnings_with(const std::string& yaml) {
  return config_warnings(config_from_text(yaml, "test.yaml", ""));
}

TEST(NetworkRelations, NW_9_ACircleIsNotAllowedWherePfcStopsSenders) {
  const auto ring = [](const std::string& more) {
    return kPackets + ", topology: graph, hosts: 4, graph: {switches: [a, b, c, d], edges: [" +
           "{from: h0, to: a}, {from: h1, to: b}, {from: h2, to: c}, {from: h3, to: d}, "
           "{from: a, to: b}, {from: b, to: c}, {from: c, to: d}, {from: d, to: a}]}" +
           more + "}\n";
  };
  EXPECT_THAT(problems_of(ring("")),
              ElementsAre(HasSubstr("expected none, or network.allow_cycles [NW-9]")));
  EXPECT_THAT(problems_of(ring(", allow_cycles: true")), IsEmpty());
  EXPECT_THAT(problems_of(ring(", allow_cycles: true, pfc: {enabled: true}")),
              ElementsAre(HasSubstr("expected none with network.pfc.enabled [NW-9]")));
}

TEST(NetworkWarnings, CC_2_RatesByMarksWithoutAnyAreWarnedOf) {
  const std::string unmarked = ", ecn: {enabled: false}";
  EXPECT_THAT(warnings_with(with_sessions("congestion: {kind: dcqcn_qp}")), IsEmpty());
  for (const std::string kind : {"dcqcn_qp", "dcqcn_session"}) {
    EXPECT_THAT(warnings_with(with_sessions("congestion: {kind: " + kind + "}", unmarked)),
                ElementsAre(StartsWith("network.ecn.enabled: false, but rates by "
                                       "device.srdma.congestion.kind " +
                                       kind)));
  }
  for (const std::string kind : {"none", "window", "window_group"}) {
    EXPECT_THAT(warnings_with(with_sessions("congestion: {kind: " + kind + "}", unmarked)),
                IsEmpty());
  }
}

TEST(NetworkWarnings, StaticWeightsThatAreNotThereAreWarnedOf) {
  EXPECT_THAT(warnings_with(with_sessions("algorithm: static, policy: lowest_weight")),
              ElementsAre(StartsWith("device.srdma.weights: none by algorithm static")));
  EXPECT_THAT(warnings_with(with_sessions("algorithm: static, weights: [10, 20]")), IsEmpty());
  EXPECT_THAT(warnings_with(with_sessions("algorithm: static, policy: oblivious")), IsEmpty());
}

}  // namespace
}  // namespace flitwise::relations_network_test
