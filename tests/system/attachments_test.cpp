// SPDX-License-Identifier: Apache-2.0
// Engines and devices of a library user take the place of the machine's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "config/load.h"
#include "flitwise/error.h"
#include "flitwise/system.h"

namespace flitwise::attachments_test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kBase = 0x1'0000'0000;

Config config_of(const std::string& text) {
  return config_from_text(text, "test", "");
}

void expect_good_run(const RunResult& result) {
  EXPECT_TRUE(result.errors.empty());
  EXPECT_FALSE(result.checks.empty());
  for (const CheckResult& check : result.checks) {
    EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
  }
  EXPECT_TRUE(result.violations.empty()) << text_of(result.violations);
}

/// So many writes of 256 bytes in turn of domains, one by one after `pause`.
class Writer : public DeviceEngine {
 public:
  Writer(std::uint32_t writes, std::uint32_t domains, Time pause = {})
      : writes_(writes), domains_(domains), pause_(pause) {}

  bool next(Time now, EngineRequest& request) override {
    if (given_ == writes_ || is_held || now < next_) {
      return false;
    }
    next_ = now + pause_;
    request.domain = DomainId{given_ % domains_};
    request.address = kBase + std::uint64_t{given_} * 256;
    request.bytes = 256;
    request.token = given_++;
    request.data = data_.data();
    return true;
  }
  Time next_at() const override { return given_ == writes_ || is_held ? Time::never() : next_; }
  void finished(const EngineAnswer& answer) override { answers.push_back(answer); }
  bool is_done() const override { return answers.size() == writes_; }
  std::string waits_for() const override {
    return is_done() ? "" : std::to_string(writes_ - answers.size()) + " writes";
  }

  std::vector<EngineAnswer> answers;
  bool is_held = false;

 private:
  const std::uint32_t writes_, domains_;
  const Time pause_;
  Time next_{};
  std::uint32_t given_ = 0;
  const std::vector<std::uint8_t> data_ = std::vector<std::uint8_t>(256, 0x5a);
};

RunResult run_with(DeviceEngine& engine, const std::string& text) {
  Attachments attached;
  attached.engines["ep0"] = &engine;
  System system(config_of(text), attached);
  RunResult result = system.run();
  EXPECT_EQ(system.peek(kBase + 256, 256), std::vector<std::uint8_t>(256, 0x5a));
  return result;
}

TEST(AttachedEngine, WritesItsBytesUnderTheHandlesOfItsDevice) {
  Writer engine(100, 4);
  const RunResult result = run_with(
      engine, "link: {identity: dhi, mps: 128B}\nworkload: {domains: 4}\nrun: {warmup: 0}\n");
  expect_good_run(result);
  ASSERT_EQ(engine.answers.size(), 100U);
  const DhiResult& handles = result.rows<DhiResult>().at(0);
  EXPECT_EQ(handles.allocs, 4U);
  EXPECT_GE(result.rows<LinkResult>().at(0).up.tlps, 200U) << "cut at MPS";
}

TEST(AttachedEngine, FirstRequestsAreWarmUp) {
  Writer engine(100, 1);
  const RunResult result =
      run_with(engine, "link: {mps: 256B}\nworkload: {domains: 1}\nrun: {warmup: 40}\n");
  expect_good_run(result);
  EXPECT_EQ(result.rows<LinkResult>().at(0).up.payload_bytes, 60U * 256);
}

TEST(AttachedEngine, WhatLimitsItIsFound) {
  Writer engine(2'000, 1);
  const RunResult result =
      run_with(engine, "link: {preset: gen3x8}\nworkload: {domains: 1}\nrun: {warmup: 100}\n");
  expect_good_run(result);
  const ExplainResult& limit = result.rows<ExplainResult>().at(0);
  EXPECT_EQ(limit.kind, "write");
  EXPECT_EQ(limit.requests, 1'900U);
  EXPECT_EQ(limit.limit.resource, "link");
  EXPECT_GT(limit.limit.share, 0.9);
}

TEST(AttachedEngine, IsAskedAgainWhenItSaysSo) {
  Writer engine(50, 1, Time::from_us(100));  // longer than run.deadlock_after
  const RunResult result = run_with(engine, R"(
device: {timing: {completion_timeout: 10us}}
host: {timing: {completion_timeout: 10us}}
workload: {domains: 1}
run: {warmup: 0, deadlock_after: 20us}
)");
  expect_good_run(result);
  EXPECT_NEAR(result.simulated.ns(), 49 * 100'000, 2'000);
}

TEST(AttachedEngine, IsNamedWhereItDoesNotGetOn) {
  Writer engine(10, 1);
  engine.is_held = true;
  try {
    run_with(engine, "workload: {domains: 1}\nrun: {warmup: 0}\n");
    FAIL() << "it ended";
  } catch (const DeadlockError& error) {
    EXPECT_THAT(error.what(), HasSubstr("ep0 engine: 10 writes"));
  }
}

/// Writes 8 bytes into memory again and again, and counts what software writes to BAR 0.
class Hammer : public LinkDevice {
 public:
  Hammer(const sc_core::sc_module_name& name, unsigned writes) : LinkDevice(name), left_(writes) {}
  bool is_done() const override { return left_ == 0 && !has_unsent(); }

  unsigned configured = 0, completions = 0;

 private:
  void begin() override {
    for (; left_ > 0; --left_) {
      PacketRef packet = site().pool->make(PacketKind::kTlp, 8);
      packet->tlp.type = TlpType::kMWr;
      packet->tlp.is_4dw = true;
      packet->tlp.address = kBase + std::uint64_t{left_} * 8;
      packet->tlp.requester_id = site().function;
      packet->tlp.length_dw = 2;
      packet->tlp.first_be = packet->tlp.last_be = 0xf;
      packet->payload_bytes = 8;
      std::memset(packet->payload.data(), static_cast<int>(left_), 8);
      send(packet);
    }
  }
  bool take(const Packet& packet) override {
    configured += is_configuration(packet.tlp.type) ? 1 : 0;
    return false;
  }
  static bool is_configuration(TlpType type) {
    return type == TlpType::kCfgRd0 || type == TlpType::kCfgWr0;
  }

  unsigned left_;
};

void expect_all_written(const std::string& topology) {
  Hammer device("hammer", 2'000);
  Attachments attached;
  attached.devices["ep0"] = &device;
  System system(config_of(topology), attached);
  const RunResult result = system.run();
  expect_good_run(result);
  EXPECT_GT(device.configured, 20U) << "software brings up its functions";
  EXPECT_EQ(device.sent_tlps(), 2'000U);
  EXPECT_EQ(system.peek(kBase + 7 * 8, 8), std::vector<std::uint8_t>(8, 7));
  EXPECT_EQ(result.rows<LinkResult>().at(0).up.payload_bytes, 2'000U * 8);
}

TEST(AttachedDevice, SendsAsFastAsTheLinkTakesAndAllArrives) {
  expect_all_written("link: {preset: gen3x8}\nworkload: {domains: 1}\n");
}

TEST(AttachedDevice, MayStandBelowASwitchBesideOthers) {
  Hammer device("hammer", 100);
  Attachments attached;
  attached.devices["ep1"] = &device;
  System system(config_of("system: {topology: switch, devices: 2}\n"
                          "workload: {domains: 1, requests: 100}\nrun: {warmup: 0}\n"),
                attached);
  const RunResult result = system.run();
  expect_good_run(result);
  EXPECT_EQ(device.sent_tlps(), 100U);
}

void expect_refusal(const std::string& text, const Attachments& attached, const char* message) {
  try {
    System system(config_of(text), attached);
    FAIL() << "taken";
  } catch (const SimulationError& error) {
    EXPECT_THAT(error.what(), HasSubstr(message));
  }
}

TEST(Attachments, OfADeviceThatIsNotThereAreRefused) {
  Writer engine(1, 1);
  Attachments attached;
  attached.engines["ep7"] = &engine;
  expect_refusal("{}", attached, "'ep7', and no device is called so; there are: ep0");
}

TEST(Attachments, OfADeviceWithAnotherEngineAreRefused) {
  Writer engine(1, 1);
  Attachments attached;
  attached.engines["ep0"] = &engine;
  expect_refusal("workload: {kind: hostile}\n", attached, "expected workload.via dma");
}

TEST(Attachments, ANetworkOfPacketsHasNoDevices) {
  Writer engine(1, 1);
  Attachments attached;
  attached.engines["ep0"] = &engine;
  Config config;
  config.network.mode = NetworkMode::kPacket;
  EXPECT_THROW(System(config, attached), SimulationError);
}

}  // namespace
}  // namespace flitwise::attachments_test
