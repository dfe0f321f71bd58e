// SPDX-License-Identifier: Apache-2.0
// Each monitor notices when the model breaks its rule on purpose, names both packets and the time,
// and says nothing about the same run with the rule kept.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "config/load.h"
#include "flitwise/system.h"

namespace flitwise::monitors_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Case {
  const char* knob;
  const char* rule;
  const char* config;
  const char* packet;  // part of the text of the packet that breaks the rule
  const char* other;   // and of the one that it goes against
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.knob;
}

constexpr const char* kFewCredits = R"(
link: {identity: bdf, credits: {posted_headers: 8, posted_data: 32}}
workload: {kind: posted_write, payload: 64B, requests: 400}
)";
constexpr const char* kWrites = R"(
link: {identity: bdf_pasid}
workload: {kind: posted_write, payload: 64B, requests: 400}
)";
constexpr const char* kReads = R"(
device: {timing: {completion_timeout: 100us}}
workload: {kind: read, payload: 512B, requests: 200}
)";
constexpr const char* kMixed = R"(
device: {timing: {completion_timeout: 100us}}
workload: {kind: read_write, payload: 256B, requests: 400}
)";
constexpr const char* kHandles = R"(
link: {identity: dhi}
workload: {kind: posted_write, payload: 64B, requests: 400, domains: 8}
)";

constexpr const char* kMessages = R"(
link: {preset: cxl68_gen5x8}
device: {cxl: {memory: 8GiB}}
workload: {via: cxl_mem, kind: read, payload: 64B, requests: 400}
)";

constexpr Case kCases[] = {
    {"credits", "LNK-8.3", kFewCredits, "MWr", "headers"},
    {"sequence", "LNK-7.15", kWrites, "Ack", "with sequence"},
    {"ordering", "LNK-9.4", kMixed, "MRd", "MWr"},
    {"tags", "LNK-9.8", kReads, "MRd", "MRd"},
    {"completion", "LNK-9.12", kReads, "CplD", "MRd"},
    {"boundary_4k", "LNK-9.14", kWrites, "MWr", "page ends"},
    {"byte_enables", "LNK-2.8", kWrites, "enables 0/f", "First BE 0"},
    {"at", "LNK-1.5", kWrites, "AT 3", "AT 3"},
    {"handles", "DHI S2", kHandles, "with a handle", "PASID"},
    {"cxl_messages", "COH-1.4", kMessages, "M2S Req MemRd", "M2S Req MemRd"},
};

RunResult run(const Case& one, const std::string& more) {
  Config config = config_from_text(one.config + more, "monitors.yaml", "");
  config.run.deadlock_after = Time::from_us(300);
  System system(config);
  return system.run();
}

const CheckResult& monitor_check(const RunResult& result) {
  const auto found = std::find_if(
      result.checks.begin(), result.checks.end(),
      [](const CheckResult& check) { return check.name == "rp0-ep0: protocol monitors"; });
  return found == result.checks.end() ? result.checks.at(0) : *found;
}

class Monitors : public ::testing::TestWithParam<Case> {};

TEST_P(Monitors, NoticeABrokenRuleWithPacketsAndTime) {
  const Case& one = GetParam();
  const RunResult result = run(one, std::string("faults: {break: [") + one.knob + "]}\n");
  const auto seen =
      std::find_if(result.violations.begin(), result.violations.end(),
                   [&](const Violation& violation) { return violation.rule == one.rule; });
  ASSERT_NE(seen, result.violations.end()) << text_of(result.violations);
  EXPECT_EQ(seen->link, "rp0-ep0");
  EXPECT_GT(seen->time, Time{});
  EXPECT_THAT(seen->packet, HasSubstr("#"));
  EXPECT_THAT(seen->packet, HasSubstr(one.packet));
  EXPECT_THAT(seen->other, HasSubstr(one.other));
  EXPECT_FALSE(monitor_check(result).ok);
  EXPECT_THAT(monitor_check(result).detail, HasSubstr("violations"));
}

TEST_P(Monitors, SayNothingOfTheSameRunWithTheRuleKept) {
  const RunResult result = run(GetParam(), "");
  EXPECT_THAT(result.violations, IsEmpty()) << text_of(result.violations);
  EXPECT_EQ(monitor_check(result).name, "rp0-ep0: protocol monitors");
  EXPECT_TRUE(monitor_check(result).ok);
}

INSTANTIATE_TEST_SUITE_P(EachRule, Monitors, ::testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.knob); });

TEST(MonitorSwitch, OffIsOff) {
  const RunResult result = run(kCases[5], "faults: {break: [at]}\nrun: {monitors: off}\n");
  EXPECT_THAT(result.violations, IsEmpty());
  EXPECT_EQ(result.errors.at("address_type"), 1U);
  for (const CheckResult& check : result.checks) {
    EXPECT_THAT(check.name, ::testing::Not(HasSubstr("monitors")));
  }
}

TEST(MonitorObserver, HearsOfEachViolation) {
  System system(config_from_text(std::string(kWrites) + "faults: {break: [at, byte_enables]}\n",
                                 "monitors.yaml", ""));
  std::vector<std::string> heard;
  system.observe([&](const Observation& seen) {
    if (std::string(seen.what) == "violation") {
      heard.push_back(std::string(seen.place) + " " + seen.detail + " " +
                      name_of(seen.packet->tlp.type));
    }
  });
  system.run();
  EXPECT_THAT(heard, ::testing::ElementsAre("rp0-ep0 LNK-2.8 MWr", "rp0-ep0 LNK-1.5 MWr"));
}

// What a hostile device makes as it stands is its own breach; the link below it is still watched.
TEST(MonitorOfRawPackets, LeavesHostileTlpsToTheReceiver) {
  System system(
      config_from_text("workload: {kind: hostile, requests: 5000}\n", "hostile.yaml", ""));
  const RunResult result = system.run();
  EXPECT_GT(result.errors.at("malformed_tlp"), 0U);
  EXPECT_THAT(result.violations, IsEmpty()) << text_of(result.violations);
}

}  // namespace
}  // namespace flitwise::monitors_test
