// SPDX-License-Identifier: Apache-2.0
/// Two ends of a connection and the packets between them, as tests drive them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "rdma/rdma_end.h"

namespace flitwise::test {

inline RdmaEndSetup rdma_setup(unsigned end) {
  RdmaEndSetup setup;
  setup.pair.number = 0x11 + end;
  setup.pair.peer = 0x12 - end;
  setup.pair.mtu = 256;
  setup.pair.rights = kAllRdmaRights;
  setup.pair.first_psn = end == 0 ? 0xff'fffe : 0x100;
  setup.pair.peer_first_psn = end == 0 ? 0x100 : 0xff'fffe;
  return setup;
}

/// End 0 asks, end 1 answers, unless a test says otherwise. Each has one region for all of its
/// memory.
class RdmaBench {
 public:
  using Change = std::function<void(RdmaEndSetup&)>;
  explicit RdmaBench(const Change& change = nullptr)
      : ends{RdmaEnd(changed(0, change)), RdmaEnd(changed(1, change))} {
    for (unsigned end = 0; end < 2; ++end) {
      keys[end] = *ends[end].add_region({0, 0, ends[end].memory().size(), kAllRdmaRights});
      std::iota(ends[end].memory().begin(), ends[end].memory().end(),
                static_cast<std::uint8_t>(end * 100));
    }
  }
  void connect() {
    for (RdmaEnd& end : ends) {
      for (const QpState state : {QpState::kInit, QpState::kRtr, QpState::kRts}) {
        ASSERT_TRUE(end.pair().modify(state));
      }
    }
  }
  SendWork work(WorkOpcode opcode, std::uint32_t bytes, std::uint64_t id = 1) const {
    SendWork work;
    work.id = id;
    work.opcode = opcode;
    work.is_signaled = true;
    work.local = view_of({0x1000, bytes, keys[0]});
    work.remote_address = 0x2000;
    work.remote_key = keys[1];
    return work;
  }
  PostResult post(const SendWork& work) { return ends[0].pair().post_send(work); }
  PostResult post(WorkOpcode opcode, std::uint32_t bytes, std::uint64_t id = 1) {
    return post(work(opcode, bytes, id));
  }
  PostResult receive(std::uint32_t bytes, std::uint64_t id = 100) {
    return ends[1].pair().post_receive({id, view_of({0x4000, bytes, keys[1]})});
  }
  /// All that the end may send goes to its peer's wire.
  void send(unsigned end) {
    RdmaWirePacket packet;
    while (ends[end].next(packet, now)) {
      ends[end].pair().leaves(packet.fields, now);
      wire[1 - end].push_back(packet);
      seen.push_back(packet.fields);
    }
  }
  void drop(unsigned end) { wire[end].pop_front(); }
  void deliver(unsigned end) {
    const RdmaWirePacket packet = wire[end].front();
    wire[end].pop_front();
    ends[end].receive(packet, now);
  }
  /// The packet at that place of those on the way, before the others.
  void deliver_at(unsigned end, std::size_t place) {
    const auto at = wire[end].begin() + static_cast<std::ptrdiff_t>(place);
    const RdmaWirePacket packet = *at;
    wire[end].erase(at);
    ends[end].receive(packet, now);
  }
  void deliver_all(unsigned end) {
    while (!wire[end].empty()) {
      deliver(end);
    }
  }
  /// Until nothing moves.
  void run() {
    do {
      send(0);
      deliver_all(1);
      send(1);
      deliver_all(0);
      send(0);
    } while (!wire[0].empty() || !wire[1].empty());
  }
  /// "1 SUCCESS, 2 WR_FLUSH_ERR"
  std::string polled(unsigned end) {
    std::string text;
    while (const auto done = ends[end].completions().poll()) {
      last = *done;
      text += (text.empty() ? "" : ", ") + std::to_string(done->id) + " " + name_of(done->status);
    }
    return text;
  }
  std::uint64_t count(unsigned end, QpCounter counter) { return ends[end].pair().count(counter); }
  QpState state(unsigned end) { return ends[end].pair().state(); }
  bool is_equal(std::uint64_t a, std::uint64_t b, std::size_t bytes) {
    return std::equal(&ends[0].memory()[a], &ends[0].memory()[a] + bytes, &ends[1].memory()[b]);
  }
  /// A request as somebody may forge it, to end 1, which comes at once.
  void inject(RdmaOpcode opcode, std::uint32_t bytes, std::uint32_t length = 0,
              std::uint64_t address = 0x2000, std::uint32_t ahead = 0) {
    RdmaWirePacket packet;
    packet.fields.opcode = opcode;
    packet.fields.queue_pair = 0x12;
    packet.fields.psn = psn_plus(ends[1].pair().responder().expected(), ahead);
    packet.fields.asks_for_ack = true;
    packet.fields.address = address;
    packet.fields.key = keys[1];
    packet.fields.length = length;
    packet.fields.payload_bytes = bytes;
    packet.fields.pad = pad_of(bytes);
    packet.bytes.assign(bytes, 0xee);
    ends[1].receive(packet);
  }
  /// The syndrome of the only answer of end 1; 0: there is none.
  unsigned answer() {
    RdmaWirePacket packet;
    const bool is_there = ends[1].next(packet);
    EXPECT_FALSE(is_there && ends[1].next(packet));
    return is_there ? packet.fields.syndrome : 0;
  }

  Time now{};  // of all that happens
  std::array<RdmaEnd, 2> ends;
  std::array<std::uint32_t, 2> keys{};
  std::array<std::deque<RdmaWirePacket>, 2> wire;  // to each end
  std::vector<RdmaPacket> seen;
  WorkCompletion last;

 private:
  static RdmaEndSetup changed(unsigned end, const Change& change) {
    RdmaEndSetup setup = rdma_setup(end);
    if (change) {
      change(setup);
    }
    return setup;
  }
};

}  // namespace flitwise::test
