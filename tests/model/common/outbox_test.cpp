// SPDX-License-Identifier: Apache-2.0
// What waits for room at a link, and for how long.
#include "common/outbox.h"

#include <gtest/gtest.h>

#include <systemc>
#include <vector>

namespace flitwise::outbox_test {
namespace {

void run_until(Time end) {
  sc_core::sc_start(to_sc_time(end - now()));
}

// The link goes down: what waits is dropped, its wait is over, and those of before are not
// forgotten. [CXL-3.9]
TEST(Outbox, CXL_3_9_WaitsAreKeptWhenAllIsDropped) {
  PacketPool pool;
  Outbox outbox(4);
  bool has_room = false;
  std::vector<Time> ready;
  const auto go = [&](const Outbox::Entry& entry) {
    if (has_room) {
      ready.push_back(entry.ready);
    }
    return has_room;
  };
  const auto send = [&](Time when) { outbox.send({pool.make(PacketKind::kCxl), when, {}}, go); };
  send(Time::from_ns(2));
  run_until(Time::from_ns(10));
  has_room = true;
  outbox.drain(go);
  EXPECT_EQ(outbox.waits().total(), Time::from_ns(8));
  has_room = false;
  send(Time::from_ns(12));
  send(Time::from_ns(90));  // in the pipeline: it has not waited yet
  run_until(Time::from_ns(30));
  outbox.clear();
  EXPECT_TRUE(outbox.empty());
  EXPECT_EQ(outbox.waits().count(), 2U);
  EXPECT_EQ(outbox.waits().total(), Time::from_ns(8 + 18));
  has_room = true;
  send(Time::from_ns(31));
  EXPECT_EQ(ready.back(), Time::from_ns(31)) << "nothing is before it any more";
}

}  // namespace
}  // namespace flitwise::outbox_test
