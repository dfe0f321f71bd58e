// SPDX-License-Identifier: Apache-2.0
// What the root port lets into memory, TLP by TLP: grants, interrupts, poison, locked reads.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "config/load.h"
#include "machine_bench.h"

namespace flitwise::root_port_test {
namespace {

constexpr std::uint64_t kAddress = std::uint64_t{1} << 20;
constexpr std::uint64_t kWindow = 0xfee0'0000;

/// A device whose engine rests; the test makes its TLPs.
class RootPortTest : public ::testing::Test {
 protected:
  static Config config(const std::string& more) {
    return config_from_text("workload: {requests: 1}\nlink: {identity: bdf_pasid}\n" + more,
                            "root_port.yaml", "");
  }
  void make(const std::string& more) {
    bench = std::make_unique<MachineBench>(config(more));
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    bench->machine.set_up_at_once();
  }
  PacketRef request(TlpType type, std::uint64_t address, std::optional<std::uint32_t> pasid = {}) {
    PacketRef packet = bench->machine.pool.make(PacketKind::kTlp);
    Tlp& tlp = packet->tlp;
    tlp.type = type;
    tlp.requester_id = bench->machine.endpoint("ep0")->base();
    tlp.address = address;
    tlp.length_dw = 1;
    tlp.first_be = 0xf;
    tlp.has_pasid = pasid.has_value();
    tlp.pasid = Pasid{pasid.value_or(0)};
    if (has_data(type)) {
      packet->payload = {0x11, 0x22, 0x33, 0x44};
      packet->payload_bytes = 4;
    }
    return packet;
  }
  void send(PacketRef packet) {
    bench->machine.endpoint("ep0")->inject(std::move(packet));
    const std::uint64_t before = port().counters().received;
    ASSERT_TRUE(
        bench->run_until([&] { return port().counters().received > before && port().is_quiet(); }));
    sc_core::sc_start(to_sc_time(Time::from_us(2)));
  }
  const RootPort& port() { return bench->machine.root_port("ep0"); }
  std::uint64_t errors(const std::string& kind) {
    const auto errors = port().errors();
    const auto found = errors.find(kind);
    return found == errors.end() ? 0 : found->second;
  }
  std::uint32_t memory(std::uint64_t address) {
    std::uint32_t value = 0;
    std::uint8_t bytes[4];
    EXPECT_TRUE(bench->machine.memory().peek(address, bytes, 4));
    std::memcpy(&value, bytes, 4);
    return value;
  }

  std::unique_ptr<MachineBench> bench;
};

// ---- [DHI S2] [DHI S3]

TEST_F(RootPortTest, S3_FullIdentityBeyondTheGrantReachesNoMemory) {
  make("host: {dhi: {grant: configured, granted: {last_pasid: 3, without_pasid: false}}}");
  send(request(TlpType::kMWr, kAddress, 3));
  EXPECT_NE(memory(kAddress), 0U);
  send(request(TlpType::kMWr, kAddress + 64, 4));
  send(request(TlpType::kMWr, kAddress + 64));
  EXPECT_EQ(memory(kAddress + 64), 0U);
  EXPECT_EQ(errors("not_granted"), 2U);
  EXPECT_EQ(port().counters().writes, 1U);
}

TEST_F(RootPortTest, S3_ReadBeyondTheGrantIsUnsupported) {
  make("host: {dhi: {grant: configured, granted: {last_pasid: 3}}}");
  send(request(TlpType::kMRd, kAddress, 4));
  EXPECT_EQ(bench->wire.down(TlpType::kCpl), 1U);
  EXPECT_EQ(bench->wire.down(TlpType::kCplD), 0U);
  EXPECT_EQ(errors("not_granted"), 1U);
  send(request(TlpType::kMRd, kAddress));
  EXPECT_EQ(bench->wire.down(TlpType::kCplD), 1U);
}

TEST_F(RootPortTest, S3_FunctionThatTheDeviceDoesNotHaveIsNotGranted) {
  make("host: {dhi: {grant: configured}}");
  PacketRef packet = request(TlpType::kMWr, kAddress, 0);
  packet->tlp.requester_id.value += 1;
  send(std::move(packet));
  EXPECT_EQ(memory(kAddress), 0U);
  EXPECT_EQ(errors("not_granted"), 1U);
}

TEST_F(RootPortTest, S3_WithoutConfiguredGrantsEveryPasidIsServed) {
  make("");
  send(request(TlpType::kMWr, kAddress, 0xf'ffff));
  EXPECT_NE(memory(kAddress), 0U);
  EXPECT_TRUE(port().errors().empty());
}

// An interrupt names no PASID and reaches no memory.
TEST_F(RootPortTest, S3_InterruptNeedsNoGrantOfGoingWithoutPasid) {
  make("host: {dhi: {grant: configured, granted: {without_pasid: false}}}");
  send(request(TlpType::kMWr, kWindow + 0x1000));
  EXPECT_EQ(port().counters().interrupts, 1U);
  EXPECT_TRUE(port().errors().empty());
}

// ---- interrupts [LNK-9.22]

TEST_F(RootPortTest, LNK_9_22_OnlyAPlainWriteOfOneWholeDwIsAnInterrupt) {
  make("");
  const std::uint64_t inside = kWindow + 0x2000;
  send(request(TlpType::kMWr, inside));
  EXPECT_EQ(port().counters().interrupts, 1U);

  PacketRef longer = request(TlpType::kMWr, inside);
  longer->tlp.length_dw = 2;
  longer->tlp.last_be = 0xf;
  longer->payload.resize(8, 0x55);
  longer->payload_bytes = 8;
  PacketRef part = request(TlpType::kMWr, inside);
  part->tlp.first_be = 0x3;
  PacketRef translated = request(TlpType::kMWr, inside);
  translated->tlp.at = AddressType::kTranslated;
  for (PacketRef& other : {std::ref(longer), std::ref(part), std::ref(translated)}) {
    send(std::move(other));
  }
  send(request(TlpType::kMWr, inside, 5));
  send(request(TlpType::kMRd, inside));
  EXPECT_EQ(errors("not_an_interrupt"), 5U);
  EXPECT_EQ(port().counters().interrupts, 1U);
  EXPECT_EQ(memory(inside), 0U);
  EXPECT_EQ(bench->wire.down(TlpType::kCpl), 1U);
}

TEST_F(RootPortTest, LNK_9_22_WindowEndsAfterOneMiB) {
  make("");
  send(request(TlpType::kMWr, kWindow - 4));
  send(request(TlpType::kMWr, kWindow + 0xf'fffc));
  send(request(TlpType::kMWr, kWindow + 0x10'0000));
  EXPECT_EQ(port().counters().interrupts, 1U);
  EXPECT_NE(memory(kWindow - 4), 0U);
  EXPECT_EQ(memory(kWindow + 0xf'fffc), 0U);
  EXPECT_NE(memory(kWindow + 0x10'0000), 0U);
}

// ---- refusals: each request is over once, whatever became of it. [LNK-9.17] [LNK-9.19]

TEST_F(RootPortTest, LNK_9_17_RefusedRequestIsSettledOnce) {
  make("host: {dhi: {grant: configured, granted: {last_pasid: 3}}}");
  const std::uint64_t before = port().counters().settled;
  PacketRef malformed = request(TlpType::kMWr, kAddress, 3);
  malformed->malformed = TlpViolation::kCrosses4KiB;
  send(std::move(malformed));
  EXPECT_EQ(errors("malformed_tlp"), 1U);
  EXPECT_EQ(port().counters().settled, before + 1);
  send(request(TlpType::kMWr, kAddress, 4));
  EXPECT_EQ(errors("not_granted"), 1U);
  EXPECT_EQ(port().counters().settled, before + 2);
}

// ---- poison [LNK-9.23], locked reads [LNK-9.21]

TEST_F(RootPortTest, LNK_9_23_PoisonedWriteIsDroppedAndCounted) {
  make("");
  PacketRef packet = request(TlpType::kMWr, kAddress);
  packet->tlp.is_poisoned = true;
  send(std::move(packet));
  EXPECT_EQ(memory(kAddress), 0U);
  EXPECT_EQ(errors("poisoned_tlp"), 1U);
  EXPECT_EQ(port().counters().dropped_bytes, 4U);
}

TEST_F(RootPortTest, LNK_9_21_RefusedLockedReadIsAnsweredByCplLk) {
  make("");
  send(request(TlpType::kMRdLk, kAddress));
  EXPECT_EQ(bench->wire.down(TlpType::kCplLk), 1U);
  EXPECT_EQ(bench->wire.down(TlpType::kCpl), 0U);
  EXPECT_EQ(errors("unsupported_request"), 1U);
}

}  // namespace
}  // namespace flitwise::root_port_test
