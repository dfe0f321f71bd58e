// SPDX-License-Identifier: Apache-2.0
// What a device writes and reads, byte by byte: random addresses and lengths under every
// combination of MPS, MRRS and RCB, against a plain array.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "common/random.h"
#include "endpoint/endpoint.h"
#include "host/host_memory.h"
#include "link/link.h"
#include "root_complex/root_port.h"

namespace flitwise::read_back_test {
namespace {

constexpr std::uint64_t kMemoryBytes = 1 << 20;
constexpr unsigned kTransfers = 60;

/// One transfer after the other; what was written and what is read is compared with an array.
class ByteEngine : public Engine {
 public:
  ByteEngine(std::vector<std::uint8_t> contents, unsigned transfers, std::uint64_t seed)
      : expected_(std::move(contents)), left_(transfers), random_(seed) {}

  bool next(Time now, Transfer& transfer) override {
    if (left_ == 0 || is_busy_) {
      return false;
    }
    --left_;
    is_busy_ = true;
    const std::uint64_t most = random_.chance(0.3) ? 16 : std::uint64_t{64} << 10;
    bytes_ = static_cast<std::uint32_t>(1 + random_.below(most));
    address_ = random_.below(kMemoryBytes - bytes_);
    arrived_.assign(bytes_, false);
    transfer = Transfer{};
    transfer.address = address_;
    transfer.bytes = bytes_;
    transfer.issue = now;
    transfer.op = random_.chance(0.4) ? Op::kWrite : Op::kRead;
    if (transfer.op == Op::kWrite) {
      written_.resize(bytes_);
      for (std::uint8_t& byte : written_) {
        byte = static_cast<std::uint8_t>(random_.next());
      }
      std::copy(written_.begin(), written_.end(),
                expected_.begin() + static_cast<std::ptrdiff_t>(address_));
      transfer.data = written_.data();
    }
    return true;
  }
  Time next_at() const override { return Time::never(); }
  void finished(const TransferEnd& end) override {
    is_busy_ = false;
    EXPECT_EQ(end.status, TransferStatus::kDone);
    if (end.op == Op::kRead) {
      ++reads;
      missing += static_cast<unsigned>(std::count(arrived_.begin(), arrived_.end(), false));
    }
  }
  void data(std::uint32_t /*token*/, std::uint64_t offset, const std::uint8_t* bytes,
            std::size_t size) override {
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t at = offset + i;
      ASSERT_LT(at, arrived_.size());
      twice += arrived_[at] ? 1 : 0;
      arrived_[at] = true;
      wrong += bytes[i] == expected_[address_ + at] ? 0 : 1;
    }
  }
  bool is_done() const override { return left_ == 0 && !is_busy_; }
  std::string waits_for() const override { return ""; }
  const std::vector<std::uint8_t>& expected() const { return expected_; }

  unsigned reads = 0, missing = 0, twice = 0, wrong = 0;

 private:
  std::vector<std::uint8_t> expected_;
  unsigned left_;
  Random random_;
  bool is_busy_ = false;
  std::uint64_t address_ = 0;
  std::uint32_t bytes_ = 0;
  std::vector<std::uint8_t> written_;
  std::vector<bool> arrived_;
};

/// A host, a link and a device of its own for one combination.
struct Machine {
  Machine(const std::string& name, const Config& config, PacketPool& pool, std::uint64_t seed)
      : tracer({}),
        handles(config.host.dhi, config.link.dhi_form, nullptr, pool),
        memory((name + "_memory").c_str(), config.host),
        memory_port((name + "_memory_port").c_str()),
        root_port((name + "_rp").c_str(), RootPortConfig::of(config), pool, memory_port, handles,
                  tracer),
        link((name + "_link").c_str(), config.link, config.message, config.faults, Random(seed),
             pool, {config.link.credits, config.link.credits}),
        endpoint((name + "_ep").c_str(), EndpointConfig::of(config), pool, tracer) {
    Random random(seed);
    std::vector<std::uint8_t> contents(kMemoryBytes);
    for (std::uint8_t& byte : contents) {
      byte = static_cast<std::uint8_t>(random.next());
    }
    memory.poke(0, contents.data(), contents.size());
    engine = std::make_unique<ByteEngine>(std::move(contents), kTransfers, seed);
    memory_port.socket.bind(memory.socket);
    root_port.to_link.bind(*link.port.from[0]);
    link.port.to[0]->bind(root_port.from_link);
    endpoint.shell().to_link.bind(*link.port.from[1]);
    link.port.to[1]->bind(endpoint.shell().from_link);
    endpoint.attach(*engine);
    endpoint.set_base(Bdf::of(1, 0, 0));
    endpoint.set_bus_master(true);
  }

  LatencyTracer tracer;
  HostHandles handles;
  HostMemory memory;
  MemoryPort memory_port;
  RootPort root_port;
  Link link;
  Endpoint endpoint;
  std::unique_ptr<ByteEngine> engine;
};

// [LNK-9.10] to [LNK-9.15], and [LNK-7.10] where bits go wrong.
void expect_every_byte(double error_rate) {
  PacketPool pool;
  std::deque<Machine> machines;
  std::uint64_t seed = 0;
  for (const Bytes mps : {128U, 256U, 1024U, 4096U}) {
    for (const Bytes mrrs : {128U, 512U, 4096U}) {
      for (const Bytes rcb : {64U, 128U}) {
        Config config;
        config.host.memory.size = kMemoryBytes;
        config.link.mps = mps;
        config.link.mrrs = mrrs;
        config.link.rcb = rcb;
        config.link.error_rate = error_rate;
        machines.emplace_back("m" + std::to_string(++seed), config, pool, seed);
      }
    }
  }
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (Machine& machine : machines) {
    machine.endpoint.wake();
  }
  sc_core::sc_start(20, sc_core::SC_MS);
  std::uint64_t replays = 0;
  for (Machine& machine : machines) {
    const ByteEngine& engine = *machine.engine;
    EXPECT_TRUE(engine.is_done());
    EXPECT_GE(engine.reads, kTransfers / 4);
    EXPECT_EQ(engine.missing, 0U);
    EXPECT_EQ(engine.twice, 0U);
    EXPECT_EQ(engine.wrong, 0U);
    EXPECT_TRUE(machine.endpoint.errors().empty());
    EXPECT_TRUE(machine.root_port.errors().empty());
    std::vector<std::uint8_t> memory(kMemoryBytes);
    ASSERT_TRUE(machine.memory_port.peek(0, memory.data(), memory.size()));
    EXPECT_EQ(memory, engine.expected());
    replays += machine.link.result().up.replays + machine.link.result().down.replays;
  }
  EXPECT_EQ(replays > 0, error_rate > 0);
}

TEST(ReadBack, LNK_9_10_EveryByteIsThatOfTheMemoryUnderEveryMpsMrrsAndRcb) {
  expect_every_byte(0);
}

TEST(ReadBack, LNK_7_10_EveryByteIsRightUnderBitErrorsToo) {
  expect_every_byte(1e-6);
}

}  // namespace
}  // namespace flitwise::read_back_test
