// SPDX-License-Identifier: Apache-2.0
// The order in which software recovers a send context.
#include "pio/context_recovery.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace flitwise::context_recovery_test {
namespace {

using Registers = SendRegisters;
constexpr unsigned kContext = 7;
constexpr std::uint64_t kBase = 0x1000'0000, kShadow = 0x4438;

using Outcome = ContextRecovery::Outcome;
constexpr std::uint64_t kOnes = ~std::uint64_t{0};

/// Registers with values that the test gives, and a line for each access. Reads and waits are over
/// at once.
class Host final : public HostAccess {
 public:
  void config(const CfgAccess& /*access*/, Done /*done*/) override {}
  void read(std::uint64_t address, unsigned bytes, Done done) override {
    const std::string name = name_of(address);
    seen.push_back("read " + name);
    std::vector<std::uint64_t>& answers = values[name];
    const std::uint64_t value = answers.empty() ? 0 : answers.front();
    if (value == kReset) {
      recovery->device_was_reset();
    }
    if (answers.size() > 1) {
      answers.erase(answers.begin());
    }
    done(value == kOnes ? HostAnswer::failed(CplStatus::kUR) : HostAnswer::of(value, bytes));
  }
  bool write(std::uint64_t address, const std::uint8_t* bytes, std::size_t size,
             bool /*counts*/) override {
    EXPECT_EQ(size, 8U);
    seen.push_back(name_of(address) + " = " +
                   std::to_string(boost::endian::load_little_u64(bytes)));
    return true;
  }
  void after(Time delay, std::function<void()> what) override {
    seen.push_back("wait " + std::to_string(delay.fs / 1'000'000) + " ns");
    what();
  }
  void grant_handles(unsigned /*block*/, BusRange /*buses*/, HandleRange /*range*/) override {}

  static std::string name_of(std::uint64_t address) {
    const std::uint64_t offset = address - kBase;
    if (offset == Registers::kInitContext) {
      return "init";
    }
    EXPECT_EQ(offset / Registers::kContextBytes, kContext);
    const std::map<std::uint64_t, std::string> names = {{Registers::kControl, "control"},
                                                        {Registers::kStatus, "status"},
                                                        {Registers::kEgressStatus, "egress"},
                                                        {Registers::kCreditForce, "force"}};
    return names.at(offset % Registers::kContextBytes);
  }

  static constexpr std::uint64_t kReset = 77;  // the device is reset while it is read
  ContextRecovery* recovery = nullptr;
  std::map<std::string, std::vector<std::uint64_t>> values;
  std::vector<std::string> seen;
};

/// What happened, in order, and how it ended.
std::vector<std::string> recover(Host& host, Outcome& outcome, bool was_reset = false) {
  ContextRecovery recovery({&host, [] { return kBase; },
                            [&host](std::uint64_t address) {
                              EXPECT_EQ(address, kShadow);
                              host.seen.push_back("shadow = 0");
                            },
                            Time::from_ns(50)});
  unsigned ends = 0;
  host.recovery = &recovery;
  recovery.start(kContext, kShadow, was_reset, [&](Outcome how) {
    outcome = how;
    ++ends;
  });
  EXPECT_EQ(ends, 1U);
  EXPECT_FALSE(recovery.is_active());
  return host.seen;
}

// [PIO-9.7, 12.40]
TEST(ContextRecovery, PIO_9_7_GoesStepForStep) {
  Host host;
  host.values = {{"status", {Registers::kHalted}}, {"egress", {2, 1, 0}}, {"control", {0, 1}}};
  Outcome outcome{};
  const std::vector<std::string> expected = {
      "read status", "read egress",  "wait 50 ns", "read egress", "wait 50 ns",  "read egress",
      "control = 0", "init = 1793",  "read init",  "shadow = 0",  "control = 1", "read control",
      "wait 50 ns",  "read control", "force = 1",  "force = 0"};
  EXPECT_EQ(recover(host, outcome), expected);
  EXPECT_EQ(outcome, Outcome::kBegunAnew);
}

// Memory had a return of before the last initialisation: nothing is changed.
TEST(ContextRecovery, PIO_12_40_LeavesAContextAloneThatIsNotHalted) {
  Host host;
  Outcome outcome{};
  EXPECT_EQ(recover(host, outcome), std::vector<std::string>{"read status"});
  EXPECT_EQ(outcome, Outcome::kNotHalted);
}

const std::vector<std::string> kFromTheStart = {
    "read status", "read egress", "control = 0",  "init = 1793", "read init",
    "shadow = 0",  "control = 1", "read control", "force = 1",   "force = 0"};

// A context that was reset is not halted, and begins anew all the same.
TEST(ContextRecovery, PIO_9_9_AContextThatWasReset) {
  Host host;
  host.values = {{"control", {1}}};
  Outcome outcome{};
  EXPECT_EQ(recover(host, outcome, true), kFromTheStart);
  EXPECT_EQ(outcome, Outcome::kBegunAnew);
}

// It is not there twice, and is reset once more while its registers are read.
TEST(ContextRecovery, PIO_9_9_BeginsAgainWithTheDevice) {
  Host host;
  host.values = {{"status", {kOnes, kOnes, 0}}, {"egress", {0, Host::kReset, 0}}, {"control", {1}}};
  host.values["init"] = {Host::kReset, 0};
  Outcome outcome{};
  std::vector<std::string> expected = {"read status", "wait 50 ns",  "read status", "wait 50 ns",
                                       "read status", "read egress", "control = 0", "init = 1793",
                                       "read init",   "read status", "read egress"};
  expected.insert(expected.end(), kFromTheStart.begin(), kFromTheStart.end());
  EXPECT_EQ(recover(host, outcome, true), expected);
  EXPECT_EQ(outcome, Outcome::kBegunAnew);
}

}  // namespace
}  // namespace flitwise::context_recovery_test
