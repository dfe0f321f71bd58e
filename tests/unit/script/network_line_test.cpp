// SPDX-License-Identifier: Apache-2.0
// Lines of the switches of a network: how they are read, what they do, and what is refused.
#include "script/network_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flitwise/error.h"
#include "script/network_script.h"

namespace flitwise::network_line_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string network_problems(const std::string& text) {
  std::string all;
  try {
    parse_network_line(json_value::parse(text), 7);
  } catch (const ConfigError& error) {
    for (const Problem& problem : error.problems()) {
      all += problem.text() + "\n";
    }
  }
  return all;
}

struct Played {
  Json play(const char* text) {
    Json last;
    script.run(parse_network_line(json_value::parse(text), 1), [&](const Json& event) {
      last = event;
      details.push_back(event.value("detail", event["event"].get<std::string>()));
    });
    return last;
  }
  NetworkScript script;
  std::vector<std::string> details;
};

TEST(NetworkLine, ArgumentsAreRead) {
  const NetworkLine line = parse_network_line(
      json_value::parse(R"(["sessions", {"from": "h3", "tos": "0x8a", "payload": "00ff"}, 8, 9])"),
      1);
  EXPECT_EQ(line.packet.from, "h3");
  EXPECT_EQ(line.packet.tos, 0x8a);
  EXPECT_EQ(line.packet.payload, (ByteVector{0, 0xff}));
  EXPECT_THAT(line.numbers, ElementsAre(8U, 9U));
  const NetworkLine port = parse_network_line(json_value::parse(R"(["queue", "leaf0-h1", 5])"), 1);
  EXPECT_EQ(port.from + port.to, "leaf0h1");
  const NetworkScriptSetup setup =
      parse_network_line(json_value::parse(R"(["network", {"topology": "fat_tree", "k": 6,
          "hash": "xor_fold", "bth_ar": true, "ar_levels": 8, "ar_tie": "lowest",
          "flowlet_ns": 700, "queue": 5000, "ecn_low": 1, "ecn_high": 2, "ecn_percent": 50,
          "detect_ns": 3, "gbps": 25, "delay_ns": 9, "seed": 4, "symmetric": true}])"),
                         1)
          .setup;
  EXPECT_EQ(setup.plan.hosts, 54U);
  EXPECT_EQ(setup.plan.edges[3].rate.gbps, 25);
  EXPECT_EQ(setup.plan.edges[3].rate.delay, Time::from_ns(9));
  EXPECT_EQ(setup.view.hash, FlowHash::kXorFold);
  EXPECT_TRUE(setup.view.is_symmetric);
  EXPECT_EQ(setup.view.bth_mask, 0x20);
  EXPECT_EQ(setup.paths.adaptive.level, 626U);
  EXPECT_EQ(setup.paths.adaptive.tie, AdaptiveTie::kLowest);
  EXPECT_TRUE(setup.paths.adaptive.is_by_flowlet);
  EXPECT_EQ(setup.paths.adaptive.flowlet_gap, Time::from_ns(700));
  EXPECT_EQ(setup.red.most, .5);
  EXPECT_EQ(setup.detect_delay, Time::from_ns(3));
  EXPECT_EQ(setup.seed, 4U);
}

TEST(NetworkLine, WhatIsWrongIsSaidWithWhatWasExpected) {
  EXPECT_THAT(network_problems(R"(["sent"])"), HasSubstr("nearest verb 'send'"));
  EXPECT_THAT(network_problems(R"(["queue", "leaf0-h1"])"),
              HasSubstr("1 argument seen; expected [\"queue\", from-to, number]"));
  EXPECT_THAT(network_problems(R"(["down", "leaf0"])"),
              HasSubstr("expected a port such as \"leaf0-spine1\""));
  EXPECT_THAT(network_problems(R"(["send", {"tos": 256, "form": "h0"}])"),
              AllOf(HasSubstr("256"), HasSubstr("nearest key 'from'")));
  EXPECT_THAT(network_problems(R"(["network", {"topology": "dumbell"}])"),
              HasSubstr("nearest value 'dumbbell'"));
  EXPECT_THAT(network_problems(R"(["network", {"topology": "fat_tree", "k": 5}])"),
              HasSubstr("5 seen; expected an even number"));
  EXPECT_THAT(network_problems(R"(["network", {"topology": "direct", "spines": 2}])"),
              HasSubstr("spines"));
  EXPECT_THAT(network_problems(R"(["network", {"edges": [["h0", "s"], ["h2", "s"]]}])"),
              HasSubstr("h1 has no edge, and h2 has"));
  EXPECT_THAT(network_problems(R"(["network", {"edges": [["h0", "s"], "h1"]}])"),
              HasSubstr("expected an edge such as [\"h0\", \"s0\"]"));
  EXPECT_THAT(network_problems(R"(["network", {"edges": [["h0", "s"], ["h1", "t"]]}])"),
              HasSubstr("no way leads from h0 to h1"));
  EXPECT_THAT(network_problems(R"(["network", {"leaves": 64, "hosts": 64}])"),
              HasSubstr("4096 hosts seen; expected 256 at most in a script"));
  EXPECT_THAT(network_problems(R"(["network", {"ar_value": 255, "ecn_low": 9, "ecn_high": 8}])"),
              AllOf(HasSubstr("fits no packet"), HasSubstr("a lower threshold of 9 bytes")));
}

TEST(NetworkLine, APacketGoesItsWay) {
  Played lines;
  lines.play(R"(["network", {"seed": 2}])");
  const Json first = lines.play(R"(["send", {"from": "h0", "to": "h3"}])");
  EXPECT_EQ(first["outcome"], "delivered");
  EXPECT_THAT(first["way"].get<std::string>(), HasSubstr("h0 leaf0 spine"));
  EXPECT_EQ(first["ttl"], 61);
  EXPECT_EQ(first["checksum"], "good");
  EXPECT_EQ(lines.play(R"(["send", {"from": "h0", "to": "h1"}])")["way"], "h0 leaf0 h1");
  const Json spread = lines.play(R"(["packets", {"from": "h0", "to": "h3", "tos": 136}, 400])");
  EXPECT_EQ(spread["ways"], 4);
  EXPECT_EQ(spread["delivered"], 400);
  const Json counts = lines.play(R"(["counts"])");
  EXPECT_EQ(counts["delivered"], 402);
  EXPECT_EQ(counts["adaptive"], 1200);
  EXPECT_EQ(counts["ecmp"], 4);
  EXPECT_EQ(lines.play(R"(["port", "h0-leaf0"])")["packets"], 402);
  EXPECT_EQ(lines.play(R"(["port", "leaf0-h0"])")["packets"], 0);
}

TEST(NetworkLine, WhatIsRefusedChangesNothing) {
  Played lines;
  lines.play(R"(["send", {"from": "h0", "to": "h4"}])");  // nothing is set up but by default
  lines.play(R"(["send", {"from": "leaf0", "to": "h1"}])");
  lines.play(R"(["send", {"from": "h1", "to": "h1"}])");
  lines.play(R"(["down", "spine0-spine1"])");
  lines.play(R"(["packets", {}, 0])");
  lines.play(R"(["sessions", {}, 1000, 1000])");
  lines.play(R"(["network", {"topology": "dumbbell", "hosts": 30, "pfc": true}])");
  EXPECT_THAT(
      lines.details,
      ElementsAre("send: from h0 to h4 seen; expected two hosts, h0 to h3",
                  "send: from leaf0 to h1 seen; expected two hosts, h0 to h3",
                  "send: from h1 to h1 seen; expected two hosts, h0 to h3",
                  "down: no edge joins spine0 and spine1",
                  "packets: 0 packets seen; expected 1 to 20000",
                  "sessions: 1000 sessions in 1000 rounds seen; expected 1 to 20000 packets",
                  HasSubstr("network: left: XOFF of ")));
  EXPECT_EQ(lines.play(R"(["send", {"from": "h0", "to": "h1"}])")["outcome"], "delivered");
  for (unsigned i = 0; i < 838; ++i) {
    lines.play(R"(["wait", 4294967295])");
  }
  lines.details.clear();
  lines.play(R"(["wait", 4294967295])");
  EXPECT_THAT(lines.details, ElementsAre("wait: expected one hour in all at most"));
}

}  // namespace
}  // namespace flitwise::network_line_test
