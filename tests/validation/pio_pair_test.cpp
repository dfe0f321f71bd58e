// SPDX-License-Identifier: Apache-2.0
// Devices that send to each other by PIO: rates against closed forms, room at the peer, and what
// two devices of one host have in common, which is nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "validation/simulate_in_child.h"

namespace flitwise::pio_pair_test {
namespace {

using Json = nlohmann::ordered_json;
using Sets = std::vector<std::string>;

const std::string kPair = "examples/pio_two_devices.yaml";
const std::string kPeerOf0 = "system.instances.ep0.device.pio.egress.peer=";
const std::string kPeerOf1 = "system.instances.ep1.device.pio.egress.peer=";

Json run(const Sets& sets) {
  Json result = simulate_in_children({{kPair, sets}})[0];
  EXPECT_FALSE(result.contains("failed")) << result;
  for (const Json& check : result.value("checks", Json::array())) {
    EXPECT_TRUE(check.at("ok")) << check;
  }
  return result;
}

const Json& wait_of(const Json& result, const std::string& at, const std::string& name) {
  for (const Json& one : result.at("waits")) {
    if (one.at("at") == at && one.at("resource") == name) {
      return one;
    }
  }
  throw std::runtime_error("no wait " + name + " at " + at);
}

double window_ns(const Json& result) {
  return result.at("flitwise").at("simulated_ns");
}
/// Bytes that came to a device, in each nanosecond.
double rate_of(const Json& result, std::size_t device) {
  return result.at("pio_receive").at(device).at("bytes").get<double>() / window_ns(result);
}
void expect_all_came(const Json& result) {
  for (std::size_t i = 0; i < 2; ++i) {
    const Json& sent = result.at("pio").at(i);
    const Json& came = result.at("pio_receive").at(1 - i);
    EXPECT_EQ(sent.at("packets"), came.at("packets"));
    EXPECT_EQ(sent.at("bytes"), came.at("bytes"));
    EXPECT_EQ(came.at("header_writes"), came.at("packets"));
  }
}

// [PIO-1.2] Where the wire is the narrowest place its rate is that of the pair.
TEST(PioPair, PIO_1_2_ASlowWireIsTheRateOfThePair) {
  const Json result = run({"device.pio.egress.rate=20Gb/s"});
  expect_all_came(result);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(rate_of(result, i), 20.0 / 8, 0.03 * 20 / 8);
    EXPECT_EQ(result.at("explain").at(i).at("limit").at("resource"), "port");
  }
}

// TLPs of 64 bytes of 88 symbols come down to the sender, by 16 lanes of 16 GT/s and 128b/130b. Of
// 1024 bytes in send memory 1016 are the packet, and the wire adds an ICRC of 4.
TEST(PioPair, PIO_1_2_ElseThatOfTheLinkIs) {
  const Json result = run({"device.pio.egress.rate=800Gb/s", "workload.payload=1016B",
                           "workload.requests=4000", "iommu.translation=off"});
  expect_all_came(result);
  const double most = 16 * 16.0 / 8 * 128 / 130 * 64 / 88 * 1020 / 1024;  // bytes/ns
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_LT(rate_of(result, i), most);
    EXPECT_GT(rate_of(result, i), most * 0.96);  // writes up have Acks and UpdateFCs down
  }
}

// [PIO-1.3] B bytes of room come back a round trip later: B / R, for one VL.
TEST(PioPair, PIO_1_3_ASmallReceiveBufferAndALongWireAreBOverR) {
  const Json result = run({"device.pio.egress.propagation=10us", "device.pio.receive.buffer=16KiB",
                           "host.cores.vls=1", "workload.requests=1000"});
  expect_all_came(result);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_LT(rate_of(result, i), 16'384 / 20'000.0 * 1.02);
    EXPECT_GT(rate_of(result, i), 16'384 / 20'800.0);
    const Json& limit = result.at("explain").at(i).at("limit");
    EXPECT_EQ(limit.at("resource"), "receive_buffer");
    EXPECT_EQ(limit.at("at"), i == 0 ? "ep1_receive" : "ep0_receive");
    EXPECT_EQ(limit.at("key"), "device.pio.receive.buffer");
    EXPECT_EQ(limit.at("larger"), "32KiB");
  }
}
TEST(PioPair, PIO_1_3_TwoVlsHaveABufferEach) {
  const Json result = run({"device.pio.egress.propagation=10us", "device.pio.receive.buffer=16KiB",
                           "host.cores.vls=2", "workload.requests=1000"});
  EXPECT_LT(rate_of(result, 0), 2 * 16'384 / 20'000.0 * 1.02);
  EXPECT_GT(rate_of(result, 0), 2 * 16'384 / 20'900.0);
}

// A receiver whose link is slow stops the sender by the room in its buffer, and the cores by their
// credits; nothing is lost, and the way back is as fast as before.
TEST(PioPair, PIO_087_ASlowReceiverHoldsUpItsSenderAlone) {
  const Json result = run({"system.instances.rp1-ep1.link.preset=gen3x4",
                           "system.instances.ep1.workload.requests=500"});
  expect_all_came(result);
  const Json& room = wait_of(result, "ep1_receive", "receive_buffer");
  EXPECT_GT(room.at("blocked_ns").get<double>(), 0.5 * window_ns(result));
  EXPECT_EQ(wait_of(result, "ep0_receive", "receive_buffer").at("waits"), 0);
  EXPECT_GT(wait_of(result, "ep0_core0", "send_credits").at("blocked_ns").get<double>(), 0);
  EXPECT_EQ(result.at("explain").at(0).at("limit").at("at"), "rp1-ep1");
}

// Translated, by handle, of all sizes, by all VLs, to one domain and to many.
TEST(PioPair, PIO_092_AllPacketsComeWhole) {
  const Sets mixed = {
      "workload.sizes=google_rpc_2008", "workload.size_cap=4000B",      "workload.domains=160",
      "workload.domain_choice=uniform", "device.pio.depth=80",          "host.cores.vls=9",
      "host.cores.store_bytes=8",       "device.pio.early_return=true", "workload.requests=4000"};
  Sets handles = mixed, few = mixed;
  handles.emplace_back("link.identity=dhi");
  few.insert(few.end(), {"system.instances.ep1.workload.domains=1",
                         "system.instances.ep1.device.pio.depth=512"});
  for (const Sets& sets : {mixed, handles, few}) {
    expect_all_came(run(sets));
  }
}

// A device is its own peer where a plug joins both ends of its port.
TEST(PioPair, ALoopIsAPeerToo) {
  const Json result = run({kPeerOf0 + "ep0", kPeerOf1 + "none"});
  ASSERT_EQ(result.at("pio_receive").size(), 1U);
  EXPECT_EQ(result.at("pio_receive").at(0).at("packets"), 5'000);
}

// [PIO-12.35] Without peers each of two devices does what it does alone, whatever the other does.
// One core each: which of several goes first at one instant is open.
TEST(PioPair, PIO_090_TwoDevicesDoWhatEachDoesAlone) {
  const Sets none = {kPeerOf0 + "none", kPeerOf1 + "none", "iommu.translation=off",
                     "host.cores.count=1", "workload.requests=1500"};
  const auto with = [&](const Sets& of_1) {
    Sets sets = none;
    for (const std::string& set : of_1) {
      sets.push_back("system.instances.ep1." + set);
    }
    return run(sets);
  };
  const Json alike = with({});
  const Json unequal =
      with({"workload.requests=700", "device.pio.threshold=1", "device.pio.depth=40"});
  const Json alone = with({"workload.via=dma", "workload.requests=1"});
  EXPECT_TRUE(alike.at("pio_receive").empty());
  for (const Json* const other : {&alike, &unequal}) {
    EXPECT_EQ(other->at("pio").at(0), alone.at("pio").at(0));
    for (const char* name : {"store_buffer", "send_credits", "iio_writes"}) {
      EXPECT_EQ(wait_of(*other, "ep0_core0", name), wait_of(alone, "ep0_core0", name));
    }
  }
  EXPECT_EQ(unequal.at("pio").at(1).at("packets"), 700);
}

TEST(PioPair, TheSameSeedIsTheSameRun) {
  std::vector<Json> results = simulate_in_children({{kPair, {}}, {kPair, {}}});
  for (Json& result : results) {
    result.at("flitwise").erase("host_seconds");
  }
  EXPECT_EQ(results[0].dump(), results[1].dump());
}

}  // namespace
}  // namespace flitwise::pio_pair_test
