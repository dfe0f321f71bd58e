// SPDX-License-Identifier: Apache-2.0
// Sockets, turns and the queue to the link, between stand-ins for link and request path.
#include "endpoint/function_shell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/endpoint/device_fakes.h"

namespace flitwise::function_shell_test {
namespace {

using test::FakeEngine;
using test::FakeEvents;
using test::RunningFunctions;
using testing::ElementsAre;

/// Takes so many packets.
struct FakeLink : test::FakeLink {
  explicit FakeLink(const sc_core::sc_module_name& name) : test::FakeLink(name) {
    takes = [this](const Packet& packet, Time delay) {
      if (room == 0) {
        return false;
      }
      --room;
      taken.push_back(packet.request);
      delays.push_back(delay);
      return true;
    };
  }
  void has_room(unsigned packets, Packet& of) {
    room = packets;
    tell_room(of);
  }

  unsigned room = 100;
  std::vector<std::uint32_t> taken;
  std::vector<Time> delays;
};

/// Makes one posted TLP of each transfer, numbered by its token.
struct FakeTransfers final : TransferPath {
  NextTransfer next(Time /*now*/) override { return token ? NextTransfer::kSend : answer; }
  void begin(Engine& /*engine*/, const Transfer& transfer, Time /*now*/) override {
    token = transfer.token;
  }
  bool send_next(Time now) override {
    PacketRef packet = pool.make(PacketKind::kTlp);
    packet->tlp.type = TlpType::kMWr;
    packet->request = *token;
    token.reset();
    output->send(std::move(packet), now + Time::from_ns(20), {});
    return true;
  }
  void sent(const Packet& /*packet*/, HandlePin /*posted_pin*/) override { ++sent_packets; }
  bool complete(Packet& /*packet*/, Time /*now*/) override {
    ++completions;
    return is_expected;
  }
  void check_timeouts(Time now) override { checked.push_back(now); }
  void end_due(Time /*now*/) override {}
  Time next_end() const override { return Time::never(); }

  PacketPool pool;
  DeviceOutput* output = nullptr;
  std::optional<std::uint32_t> token;
  NextTransfer answer = NextTransfer::kNew;
  bool is_expected = true;
  unsigned sent_packets = 0, completions = 0;
  std::vector<Time> checked;
};

struct FakeTarget final : DeviceTarget {
  void receive(Packet& packet, Time /*now*/) override { received.push_back(packet.tlp.type); }
  void serve(Time /*now*/) override {}
  void link_has_room(Time /*now*/) override { ++rooms; }
  bool do_duties(Time /*now*/) override { return --duties > 0; }
  Time next_duty(Time /*now*/) const override { return Time::never(); }

  std::vector<TlpType> received;
  unsigned rooms = 0, duties = 2;
};

/// Has one memory write and one message to send.
struct FakeRaw final : RawEngine {
  PacketRef next(const MaySend& may_send) override {
    if (has_write && may_send(std::nullopt)) {
      has_write = false;
      return packet(TlpType::kMWr, 91);
    }
    return std::exchange(has_message, false) ? packet(TlpType::kMsg, 92) : PacketRef();
  }
  PacketRef packet(TlpType type, std::uint32_t number) {
    PacketRef made = pool.make(PacketKind::kTlp);
    made->tlp.type = type;
    made->request = number;
    return made;
  }
  bool complete(const Packet& /*packet*/, Time /*now*/) override { return is_expected; }
  bool is_done() const override { return !has_write && !has_message; }
  std::string waits_for() const override { return ""; }

  PacketPool pool;
  bool has_write = true, has_message = true, is_expected = false;
};

struct Device : sc_core::sc_module {
  Device(const sc_core::sc_module_name& name, const PacketSizer& sizer,
         const DeviceFunctions& functions, DeviceContexts& contexts, EndpointCounters& counters)
      : sc_module(name),
        shell(Time::from_ns(2), Time::from_ns(20), sizer, functions, contexts, counters) {}
  FunctionShell shell;
};

class FunctionShellTest : public testing::Test {
 protected:
  FunctionShellTest() {
    shell_.connect(transfers_, target_, events_);
    transfers_.output = &shell_;
    shell_.to_link.bind(link_.from_port);
    link_.to_port.bind(shell_.from_link);
    shell_.attach(engines_[0]);
    shell_.attach(engines_[1]);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  void order(std::size_t engine, std::uint32_t token, unsigned domain = 0) {
    Transfer transfer;
    transfer.token = token;
    transfer.domain = DomainId{domain};
    engines_.at(engine).work.push_back(transfer);
  }
  PacketRef completion() {
    PacketRef packet = pool_.make(PacketKind::kTlp);
    packet->tlp.type = TlpType::kCplD;
    packet->tlp.requester_id = Bdf::of(1, 0, 1);
    return packet;
  }

  PacketPool pool_;
  PacketSizer sizer_{LinkConfig(), MessageConfig(), 8};
  RunningFunctions functions_{test::device_of(2)};
  DeviceContexts contexts_{2};
  EndpointCounters counters_;
  FakeTransfers transfers_;
  FakeTarget target_;
  FakeEvents events_;
  std::array<FakeEngine, 2> engines_;
  Device device_{"ep0", sizer_, functions_, contexts_, counters_};
  FunctionShell& shell_ = device_.shell;
  FakeLink link_{"link"};
};

TEST_F(FunctionShellTest, EnginesTakeTurns) {
  for (const std::uint32_t token : {1U, 2U, 3U}) {
    order(0, token);
    order(1, token + 10);
  }
  shell_.pump(now());
  EXPECT_THAT(link_.taken, ElementsAre(1U, 11U, 2U, 12U, 3U, 13U));
  EXPECT_THAT(link_.delays, testing::Each(Time::from_ns(20)));
  EXPECT_EQ(transfers_.sent_packets, 6U);
}

TEST_F(FunctionShellTest, LNK_9_27_NoEngineIsAskedWithoutBusMasterEnable) {
  functions_.set_bus_master(false);
  order(0, 1);
  shell_.pump(now());
  EXPECT_EQ(engines_[0].asked, 0U);
  functions_.set_bus_master(true);
  shell_.pump(now());
  EXPECT_THAT(link_.taken, ElementsAre(1U));
}

TEST_F(FunctionShellTest, LNK_9_27_MessagesLeaveWithoutBusMasterEnable) {
  FakeRaw raw;
  shell_.attach_raw(raw);
  functions_.set_bus_master(false);
  shell_.pump(now());
  EXPECT_THAT(link_.taken, ElementsAre(92U));
  functions_.set_bus_master(true);
  shell_.pump(now());
  EXPECT_THAT(link_.taken, ElementsAre(92U, 91U));
}

TEST_F(FunctionShellTest, WhatTheLinkRefusesLeavesInOrderWhenThereIsRoom) {
  link_.room = 1;
  order(0, 1);
  order(0, 2);
  order(0, 3);
  shell_.pump(now());
  EXPECT_THAT(link_.taken, ElementsAre(1U));
  EXPECT_EQ(shell_.unsent(), 1U) << "one waits, and the engine keeps the rest";
  EXPECT_EQ(engines_[0].work.size(), 1U);
  EXPECT_FALSE(shell_.may_leave(FcClass::kPosted, now()));
  EXPECT_TRUE(shell_.may_leave(FcClass::kNonPosted, now()));
  link_.has_room(9, *completion());
  EXPECT_THAT(link_.taken, ElementsAre(1U, 2U, 3U));
  EXPECT_EQ(target_.rooms, 1U);
  EXPECT_TRUE(shell_.is_quiet());
}

TEST_F(FunctionShellTest, LNK_9_20_AnAnswerPassesWhatWaitsForTheLink) {
  link_.room = 0;
  order(0, 1);
  shell_.pump(now());
  PacketRef answer = completion();
  answer->request = 77;
  EXPECT_FALSE(shell_.offer(*answer));
  link_.room = 1;
  EXPECT_TRUE(shell_.offer(*answer));
  EXPECT_THAT(link_.taken, ElementsAre(77U));
  EXPECT_EQ(shell_.unsent(), 1U);
}

TEST_F(FunctionShellTest, LNK_12_10_AMalformedCompletionEndsNoRequest) {
  PacketRef packet = completion();
  packet->malformed = TlpViolation{};
  link_.give(*packet);
  EXPECT_EQ(transfers_.completions, 0U);
  EXPECT_THAT(events_.reports, ElementsAre(testing::Pair(0U, "malformed_tlp")));
}

TEST_F(FunctionShellTest, LNK_12_7_AWrongEcrcCountsOnceSoftwareHasTurnedTheCheckOn) {
  PacketRef packet = completion();
  packet->has_bad_ecrc = true;
  link_.give(*packet);
  EXPECT_EQ(transfers_.completions, 1U);
  shell_.check_ecrc(true);
  link_.give(*packet);
  EXPECT_EQ(transfers_.completions, 1U);
  EXPECT_THAT(events_.reports, ElementsAre(testing::Pair(0U, "ecrc_check_failed")));
}

TEST_F(FunctionShellTest, LNK_12_10_ACompletionThatNoRequestWaitsForIsUnexpected) {
  transfers_.is_expected = false;
  link_.give(*completion());
  EXPECT_THAT(events_.reports, ElementsAre(testing::Pair(1U, "unexpected_completion")));
  FakeRaw raw;
  raw.has_write = raw.has_message = false;
  raw.is_expected = true;
  shell_.attach_raw(raw);
  link_.give(*completion());
  EXPECT_EQ(events_.reports.size(), 1U);
}

TEST_F(FunctionShellTest, RequestsGoToTheTarget) {
  PacketRef packet = completion();
  packet->tlp.type = TlpType::kMRd;
  link_.give(*packet);
  EXPECT_THAT(target_.received, ElementsAre(TlpType::kMRd));
  EXPECT_EQ(transfers_.completions, 0U);
}

TEST_F(FunctionShellTest, ATransferOfAStoppedContextIsNeverSent) {
  contexts_.stop(DomainId{1});
  order(0, 1, 1);
  order(0, 2, 0);
  shell_.pump(now());
  EXPECT_THAT(link_.taken, ElementsAre(2U));
  ASSERT_EQ(engines_[0].ends.size(), 1U);
  EXPECT_EQ(engines_[0].ends[0].token, 1U);
  EXPECT_EQ(engines_[0].ends[0].status, TransferStatus::kContextEnded);
  EXPECT_THAT(events_.counted, ElementsAre("context_over"));
  EXPECT_TRUE(contexts_.has_transfers(DomainId{0}));
  EXPECT_FALSE(contexts_.has_transfers(DomainId{1}));
}

TEST_F(FunctionShellTest, AnEngineWithoutWorkIsAskedAgainWhenItSaysSo) {
  shell_.pump(now());
  shell_.pump(now());
  EXPECT_EQ(engines_[0].asked, 1U);
  order(0, 1);
  shell_.ask_engines();
  shell_.pump(now());
  EXPECT_EQ(engines_[0].asked, 3U) << "for one, and for the next";
  engines_[1].again = Time::from_ns(10);
  shell_.ask_engines();
  shell_.pump(now());
  order(1, 2);
  sc_core::sc_start(9, sc_core::SC_NS);
  EXPECT_THAT(link_.taken, ElementsAre(1U));
  sc_core::sc_start(9, sc_core::SC_NS);
  EXPECT_THAT(link_.taken, ElementsAre(1U, 2U));
}

TEST_F(FunctionShellTest, DutiesAreDoneUntilThereAreNone) {
  shell_.pump(now());
  EXPECT_EQ(target_.duties, 2U);
  shell_.begin_duties();
  for (int i = 0; i < 4; ++i) {
    shell_.pump(now());
  }
  EXPECT_EQ(target_.duties, 0U);
}

TEST_F(FunctionShellTest, WorkIsDoneOnAnEdgeOfItsClock) {
  engines_[0].again = Time::from_ns(7);
  shell_.pump(now());
  sc_core::sc_start(20, sc_core::SC_NS);
  ASSERT_FALSE(transfers_.checked.empty());
  EXPECT_EQ(transfers_.checked.front(), Time::from_ns(8));
}

}  // namespace
}  // namespace flitwise::function_shell_test
