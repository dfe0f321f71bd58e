// SPDX-License-Identifier: Apache-2.0
// Agents under messages that nobody meant: counted, and work goes on. [COH-7.1]
#include <gtest/gtest.h>

#include <random>

#include "coherence/device_memory.h"
#include "coherence/host_lines.h"
#include "coherence/memory_expander.h"
#include "unit/coherence/coherence_support.h"
#include "unit/coherence/memory_master.h"

namespace flitwise::test::hostile_messages_test {
namespace {

constexpr int kMessages = 200'000;

/// Mostly plausible: few ids and lines, so that it often hits something.
CxlMessage any_message(std::mt19937_64& random) {
  CxlMessage message;
  message.channel = static_cast<CxlChannel>(random() % kCxlChannels);
  message.opcode = static_cast<std::uint8_t>(random() % 0x20);
  message.id = static_cast<std::uint16_t>(random() % 16 == 0 ? random() : random() % 6);
  message.address = random() % 16 == 0 ? random() : random() % 6 * kCxlLineBytes;
  message.rsp_data = static_cast<std::uint16_t>(random() % 8);
  message.snp_type = static_cast<std::uint8_t>(random() % 8);
  message.meta_field = static_cast<std::uint8_t>(random() % 4);
  message.meta_value = static_cast<std::uint8_t>(random() % 4);
  message.byte_enables = random();
  message.bogus = random() % 2 == 0;
  message.go_err = random() % 8 == 0;
  return message;
}

template <class Core>
void ask_something(Core& core, std::mt19937_64& random, CxlOutput& out, CoreResults& done) {
  CoreRequest request;
  request.op = static_cast<CoreOp>(random() % (static_cast<unsigned>(CoreOp::kEvict) + 1));
  request.address = random() % 6 * kCxlLineBytes;
  request.byte_enables = random() % 2 == 0 ? kAllBytes : enables_of(1);
  if (core.obstacle(request) == CoreObstacle::kNone) {
    core.request(request, out, done);
  }
}

template <class Agent>
void run_core(Agent& agent, const char* name) {
  std::mt19937_64 random(1);
  CxlOutput out;
  CoreResults done;
  std::size_t results = 0;
  for (int i = 0; i < kMessages; ++i) {
    ask_something(agent, random, out, done);
    agent.receive(any_message(random), {}, out, done);
    results += done.size();
    out.clear();
    done.clear();
  }
  EXPECT_GT(agent.bad_messages().total(), 1000U) << name;
  EXPECT_GT(results, 500U) << name << " stands still";
}

TEST(HostileMessages, ADeviceCacheStands) {
  DeviceCache cache({2, 2, 4, 0, true});
  run_core(cache, "device cache");
}

TEST(HostileMessages, HostLinesStand) {
  HostLines host({2, 2, 4});
  run_core(host, "host lines");
}

TEST(HostileMessages, AHomeStands) {
  std::mt19937_64 random(1);
  SlowMemory memory;
  HomeAgent home({3, 6, true}, memory);
  CxlOutput out;
  std::size_t sent = 0;
  for (int i = 0; i < kMessages; ++i) {
    home.receive(static_cast<std::uint8_t>(random() % 3), any_message(random), {}, out);
    if (!memory.empty()) {
      const SlowMemory::Request done = memory.complete(0);
      done.is_read ? home.memory_read(done.token, done.data, out)
                   : home.memory_written(done.token, out);
    }
    sent += out.size();
    out.clear();
  }
  EXPECT_GT(home.bad_messages().total(), 1000U);
  EXPECT_GT(sent, 1000U);
}

TEST(HostileMessages, DeviceMemoryStands) {
  std::mt19937_64 random(1);
  SlowMemory memory;
  DeviceMemory device({2, 2, 4, 4096}, memory);
  CxlOutput out;
  CoreResults done;
  std::size_t results = 0;
  for (int i = 0; i < kMessages; ++i) {
    ask_something(device, random, out, done);
    device.receive(any_message(random), {}, out, done);
    if (!memory.empty()) {
      const SlowMemory::Request one = memory.complete(0);
      one.is_read ? device.memory_read(one.token, one.data, out, done)
                  : device.memory_written(one.token, out, done);
    }
    results += done.size();
    out.clear();
    done.clear();
  }
  EXPECT_GT(device.bad_messages().total(), 1000U);
  EXPECT_GT(results, 1000U);
}

TEST(HostileMessages, ThePlainMemoryAndItsMasterStand) {
  std::mt19937_64 random(1);
  MemoryExpander expander(256);
  CxlOutput out, master_out;
  MemoryMaster master(4, master_out);
  std::size_t ended = 0;
  for (int i = 0; i < kMessages; ++i) {
    expander.receive(any_message(random), {}, out);
    if (master.outstanding() < 4) {
      master.read(0, 0);
    }
    ended += master.receive(any_message(random)) ? 1U : 0U;
    out.clear();
    master_out.clear();
  }
  EXPECT_GT(expander.bad_messages().total(), 1000U);
  EXPECT_GT(master.bad_messages().total(), 1000U);
  EXPECT_GT(ended, 500U);
}

}  // namespace
}  // namespace flitwise::test::hostile_messages_test
