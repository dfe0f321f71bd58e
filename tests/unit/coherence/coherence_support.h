// SPDX-License-Identifier: Apache-2.0
/// A tiny language for tests of coherence: messages in one line, and one agent with what it sends.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "coherence/device_cache.h"
#include "coherence/home_agent.h"
#include "unit/coherence/line_history.h"
#include "unit/coherence/slow_memory.h"

namespace flitwise::test {

template <class Opcode>
CxlMessage message_of(CxlChannel channel, Opcode opcode, std::uint16_t id,
                      std::uint64_t address = 0) {
  CxlMessage message;
  message.channel = channel;
  message.opcode = static_cast<std::uint8_t>(opcode);
  message.id = id;
  message.address = address;
  return message;
}

/// Was there one message of this channel and opcode? Takes what was sent out of the list.
template <class Opcode>
bool takes(CxlOutput& out, CxlChannel channel, Opcode opcode, CxlOut* taken = nullptr) {
  for (auto sent = out.begin(); sent != out.end(); ++sent) {
    if (sent->message.channel == channel &&
        sent->message.opcode == static_cast<std::uint8_t>(opcode)) {
      if (taken != nullptr) {
        *taken = *sent;
      }
      out.erase(sent);
      return true;
    }
  }
  return false;
}

/// One cache and the host's end of its link.
class CacheBench {
 public:
  explicit CacheBench(const DeviceCacheConfig& config = {4, 2, 8, 0, true}) : cache(config) {}

  /// The core asks; returns the CQID of the request that was sent for it, or 0xffff for none.
  std::uint16_t ask(CoreOp op, std::uint64_t address, std::uint64_t value = 0,
                    std::uint64_t byte_enables = kAllBytes) {
    CoreRequest request{op, ++tokens_, address, byte_enables, line_of_value(value)};
    EXPECT_EQ(cache.obstacle(request), CoreObstacle::kNone);
    cache.request(request, out, done);
    return out.empty() ? 0xffff : out.back().message.id;
  }
  bool accepts(CoreOp op, std::uint64_t address) const {
    return cache.obstacle({op, 0, address, kAllBytes, {}}) == CoreObstacle::kNone;
  }
  void go(std::uint16_t cqid, cxl::GoState state) {
    CxlMessage message = message_of(CxlChannel::kH2dRsp, cxl::H2dRsp::kGo, cqid);
    message.rsp_data = static_cast<std::uint16_t>(state);
    cache.receive(message, {}, out, done);
  }
  void respond(cxl::H2dRsp response, std::uint16_t cqid, std::uint16_t uqid = 0) {
    CxlMessage message = message_of(CxlChannel::kH2dRsp, response, cqid);
    message.rsp_data = uqid;
    cache.receive(message, {}, out, done);
  }
  void data(std::uint16_t cqid, std::uint64_t value) {
    cache.receive(message_of(CxlChannel::kH2dData, 0, cqid), line_of_value(value), out, done);
  }
  void snoop(cxl::H2dReq snoop, std::uint64_t address, std::uint16_t uqid = 77) {
    cache.receive(message_of(CxlChannel::kH2dReq, snoop, uqid, address), {}, out, done);
  }
  /// The cache holds the line in this state, with this value in all words.
  void hold(std::uint64_t address, LineState state, std::uint64_t value) {
    const CoreOp op = state == LineState::kShared      ? CoreOp::kRead
                      : state == LineState::kExclusive ? CoreOp::kReadAny
                                                       : CoreOp::kWrite;
    const std::uint16_t cqid = ask(op, address, value, enables_of(1));
    go(cqid, state == LineState::kShared ? cxl::GoState::kShared : cxl::GoState::kExclusive);
    data(cqid, value);
    EXPECT_EQ(cache.state(address), state);
    out.clear();
    done.clear();
  }
  bool sent(cxl::D2hReq opcode, CxlOut* taken = nullptr) {
    return takes(out, CxlChannel::kD2hReq, opcode, taken);
  }
  bool sent(cxl::D2hRsp opcode, CxlOut* taken = nullptr) {
    return takes(out, CxlChannel::kD2hRsp, opcode, taken);
  }
  /// The value of the one line of data that was sent for this UQID.
  std::uint64_t sent_data(std::uint16_t uqid, bool is_bogus = false) {
    CxlOut taken;
    EXPECT_TRUE(takes(out, CxlChannel::kD2hData, 0, &taken));
    EXPECT_EQ(taken.message.id, uqid);
    EXPECT_EQ(taken.message.bogus, is_bogus);
    return words_of(taken.line)[0];
  }
  bool sent_nothing_more() const { return out.empty(); }
  /// The one result, whose first word is returned.
  std::uint64_t result(bool is_error = false) {
    EXPECT_EQ(done.size(), 1U);
    if (done.empty()) {
      return 0;
    }
    EXPECT_EQ(done.back().is_error, is_error);
    const std::uint64_t value = words_of(done.back().line)[0];
    done.clear();
    return value;
  }

  DeviceCache cache;
  CxlOutput out;
  CoreResults done;

 private:
  std::uint32_t tokens_ = 0;
};

/// What a home tells beside its messages: requests that wait for room, and writes that are over.
class HomeNotes final : public HomeListener {
 public:
  struct Write {
    std::uint8_t port;
    std::uint64_t line;
    bool is_written;
    bool operator==(const Write& other) const {
      return port == other.port && line == other.line && is_written == other.is_written;
    }
  };
  void has_turn(std::uint32_t token) override { waiting.insert(token); }
  void is_at_work(std::uint8_t /*port*/, std::uint32_t token) override {
    EXPECT_EQ(waiting.erase(token), 1U) << "each request has its turn once";
  }
  void write_over(std::uint8_t port, std::uint64_t line, bool is_written) override {
    writes.push_back({port, line, is_written});
  }
  void granted(std::uint8_t /*port*/, std::uint64_t /*line*/, std::uint64_t arrival) override {
    granted_arrivals.push_back(arrival);
  }

  std::vector<Write> writes;  ///< that are over
  std::vector<std::uint64_t> granted_arrivals;
  std::set<std::uint32_t> waiting;  ///< requests with the turn of their line that are not at work
};

/// One home with memory that answers when it is told to, and the caches' ends of its links.
class HomeBench {
 public:
  explicit HomeBench(const HomeAgentConfig& config = {3, 64, false})
      : home(config, memory, &notes) {}

  void request(std::uint8_t port, cxl::D2hReq opcode, std::uint16_t cqid,
               std::uint64_t address = 0) {
    home.receive(port, message_of(CxlChannel::kD2hReq, opcode, cqid, address), {}, out);
  }
  void answer(std::uint8_t port, cxl::D2hRsp opcode, std::uint16_t uqid) {
    home.receive(port, message_of(CxlChannel::kD2hRsp, opcode, uqid), {}, out);
  }
  void data(std::uint8_t port, std::uint16_t uqid, std::uint64_t value, bool is_bogus = false,
            std::uint64_t byte_enables = kAllBytes) {
    CxlMessage message = message_of(CxlChannel::kD2hData, 0, uqid);
    message.bogus = is_bogus;
    message.byte_enables = byte_enables;
    home.receive(port, message, line_of_value(value), out);
  }
  /// The memory does all that it was asked for.
  void run_memory() {
    while (!memory.empty()) {
      const SlowMemory::Request done = memory.complete(0);
      if (done.is_read) {
        home.memory_read(done.token, done.data, out);
      } else {
        home.memory_written(done.token, out);
      }
    }
  }
  /// The cache at `port` holds the line so.
  void hold(std::uint8_t port, LineState state, std::uint64_t address = 0) {
    request(port, state == LineState::kShared ? cxl::D2hReq::kRdShared : cxl::D2hReq::kRdOwn, 99,
            address);
    run_memory();
    EXPECT_TRUE(home.holders(address).holds(port));
    out.clear();
  }
  /// A snoop went to this port; its UQID.
  std::uint16_t snooped(std::uint8_t port, cxl::H2dReq opcode) {
    CxlOut taken;
    EXPECT_TRUE(takes_at(port, CxlChannel::kH2dReq, static_cast<std::uint8_t>(opcode), taken))
        << "no snoop of " << int{port};
    return taken.message.id;
  }
  /// A response went to this port; its RspData.
  std::uint16_t responded(std::uint8_t port, cxl::H2dRsp opcode, std::uint16_t cqid) {
    CxlOut taken;
    EXPECT_TRUE(takes_at(port, CxlChannel::kH2dRsp, static_cast<std::uint8_t>(opcode), taken))
        << "no response to " << int{port};
    EXPECT_EQ(taken.message.id, cqid);
    return taken.message.rsp_data;
  }
  void expect_go(std::uint8_t port, std::uint16_t cqid, cxl::GoState state) {
    EXPECT_EQ(responded(port, cxl::H2dRsp::kGo, cqid), static_cast<std::uint16_t>(state));
  }
  std::uint64_t sent_data(std::uint8_t port, std::uint16_t cqid) {
    CxlOut taken;
    EXPECT_TRUE(takes_at(port, CxlChannel::kH2dData, 0, taken)) << "no data to " << int{port};
    EXPECT_EQ(taken.message.id, cqid);
    return words_of(taken.line)[0];
  }
  std::uint64_t in_memory(std::uint64_t address = 0) { return words_of(memory.lines[address])[0]; }
  bool sent_nothing_more() const { return out.empty(); }

  SlowMemory memory;
  HomeNotes notes;
  HomeAgent home;
  CxlOutput out;

 private:
  bool takes_at(std::uint8_t port, CxlChannel channel, std::uint8_t opcode, CxlOut& taken) {
    for (auto sent = out.begin(); sent != out.end(); ++sent) {
      if (sent->port == port && sent->message.channel == channel &&
          sent->message.opcode == opcode) {
        taken = *sent;
        out.erase(sent);
        return true;
      }
    }
    return false;
  }
};

}  // namespace flitwise::test
