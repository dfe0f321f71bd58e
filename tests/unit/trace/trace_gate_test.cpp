// SPDX-License-Identifier: Apache-2.0
// Windows, words and triggers in front of the traces: what they show, what only counts, and what is
// said of what never was.
#include "trace/trace_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace flitwise::trace_gate_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Selection = TraceSelection;

/// What a trace is told: "5 MRd", "(5 MRd)" of what is not shown, "5 over".
class Told final : public TraceSink {
 public:
  void record(const TraceEvent& event) override {
    const std::string text = std::to_string(event.packet->tlp.tag);
    all.push_back(event.is_shown ? text : "(" + text + ")");
  }
  void over(const RequestEvent& event) override {
    all.push_back(std::to_string(event.packet->tlp.tag) + " over");
  }
  std::vector<std::string> all;
};

class Gate : public ::testing::Test {
 protected:
  void open(const Selection& selection) {
    gate_ = std::make_unique<TraceGate>(selection, told_);
    gate_->add({"a", {}});
    gate_->add({"b", {}});
  }
  PacketRef packet(std::uint16_t tag, TlpType type = TlpType::kMRd) {
    PacketRef made = pool_.make(PacketKind::kTlp);
    made->tlp.type = type;
    made->tlp.tag = tag;
    made->tlp.requester_id = Bdf{0x0100};
    made->stamp(Hop::kIssue, Time::from_ns(tag));
    return made;
  }
  /// The unit begins, and is told, `tag` ns after the start.
  void send(const Packet& packet, const char* link = "a", bool is_damaged = false) {
    const Time at = Time::from_ns(packet.tlp.tag);
    gate_->record({at, at, link, true, false, is_damaged, false, false, 0, &packet, at});
  }
  void send(std::uint16_t tag, bool is_damaged = false) { send(*packet(tag), "a", is_damaged); }

  PacketPool pool_;
  Told told_;
  std::unique_ptr<TraceGate> gate_;
};

TEST_F(Gate, AWindowShowsWhatBeginsInItAndTellsOfTheRest) {
  Selection selection;
  selection.from = Time::from_ns(2);
  selection.until = Time::from_ns(3);
  open(selection);
  for (std::uint16_t tag = 1; tag <= 4; ++tag) {
    send(tag);
  }
  EXPECT_THAT(told_.all, ElementsAre("(1)", "2", "3", "(4)"));
  EXPECT_THAT(gate_->notes(), IsEmpty());
}

TEST_F(Gate, ARequestIsShownAsItsUnitWasWheneverItIsOver) {
  Selection selection;
  selection.until = Time::from_ns(1);
  open(selection);
  const PacketRef first = packet(1), second = packet(2);
  send(*first);
  send(*second);
  gate_->over({second.get(), Time::from_ns(8)});
  gate_->over({first.get(), Time::from_ns(9)});
  EXPECT_THAT(told_.all, ElementsAre("1", "(2)", "1 over"));
}

TEST_F(Gate, WordsOfOneFieldAreEitherAndOfSeveralFieldsBoth) {
  Selection selection;
  selection.links = {"b"};
  selection.types = {"MRd", "CplD"};
  selection.requesters = {"01:00.0"};
  open(selection);
  send(*packet(1), "a");
  send(*packet(2), "b");
  send(*packet(3, TlpType::kCplD), "b");
  send(*packet(4, TlpType::kMWr), "b");
  const PacketRef other = packet(5);
  other->tlp.requester_id = Bdf{0x0200};
  send(*other, "b");
  EXPECT_THAT(told_.all, ElementsAre("(1)", "2", "3", "(4)", "(5)"));
}

TEST_F(Gate, AWordThatNoUnitHadIsToldWithThoseThatThereWere) {
  Selection selection;
  selection.links = {"c"};
  selection.types = {"MRdd"};
  open(selection);
  send(1);
  const std::vector<std::string> notes = gate_->notes();
  ASSERT_EQ(notes.size(), 3U);
  EXPECT_THAT(notes[0], HasSubstr("traces have nothing"));
  EXPECT_THAT(notes[1], HasSubstr("link=c: there was none; seen: a, b"));
  EXPECT_THAT(notes[2], HasSubstr("type=MRdd: there was none; seen: MRd; nearest type 'MRd'"));
}

TEST_F(Gate, ATriggerShowsWhatWasBeforeItAndWhatComesAfter) {
  Selection selection;
  selection.trigger = Selection::Trigger::kFault;
  selection.before = Time::from_ns(2);
  selection.after = Time::from_ns(1);
  open(selection);
  const PacketRef one = packet(1), four = packet(4);
  send(*one);
  send(2);
  send(3);
  send(*four);
  gate_->over({one.get(), Time::from_ns(4)});
  gate_->over({four.get(), Time::from_ns(5)});
  EXPECT_THAT(told_.all, ElementsAre("(1)")) << "the others may be wanted still";
  four->tlp.tag = 99;  // the packet of the run goes on
  send(5, true);
  send(6);
  send(7);
  send(8, true);
  EXPECT_THAT(told_.all, ElementsAre("(1)", "(2)", "3", "4", "4 over", "5", "6", "(7)", "(8)"));
  EXPECT_THAT(gate_->notes(), IsEmpty());
}

TEST_F(Gate, ATriggerThatNeverComesIsTold) {
  Selection selection;
  selection.trigger = Selection::Trigger::kError;
  open(selection);
  send(1, true);
  EXPECT_THAT(told_.all, IsEmpty());
  gate_->flush();
  EXPECT_THAT(told_.all, ElementsAre("(1)"));
  EXPECT_THAT(gate_->notes(), ElementsAre(HasSubstr("it never came")));
}

TEST_F(Gate, ErrorsAreCompletionsWithoutSuccessPoisonedTlpsAndErrorMessages) {
  for (const int kind : {0, 1, 2, 3}) {
    Selection selection;
    selection.trigger = Selection::Trigger::kError;
    open(selection);
    told_.all.clear();
    const PacketRef made = packet(1, kind < 2 ? TlpType::kCplD : TlpType::kMsg);
    made->tlp.status = kind == 0 ? CplStatus::kUR : CplStatus::kSC;
    made->tlp.is_poisoned = kind == 1;
    made->tlp.message_code = kind == 2 ? msg::kErrNonFatal : std::uint8_t{0};
    send(*made);
    EXPECT_EQ(told_.all.size(), kind == 3 ? 0U : 1U) << kind;
  }
}

TEST_F(Gate, ASlowRequestShowsItsOwnTimeAsWell) {
  Selection selection;
  selection.trigger = Selection::Trigger::kSlow;
  selection.slow = Time::from_ns(5);
  selection.before = Time::from_ns(1);
  selection.after = Time{};
  open(selection);
  const PacketRef quick = packet(3), slow = packet(5);
  send(*quick);
  send(4);
  send(*slow);
  gate_->over({quick.get(), Time::from_ns(7)});
  EXPECT_THAT(told_.all, IsEmpty());
  gate_->over({slow.get(), Time::from_ns(10)});
  EXPECT_THAT(told_.all, ElementsAre("(3)", "4", "5", "5 over"));
}

TEST_F(Gate, NoMoreThanAMillionUnitsWaitForATrigger) {
  Selection selection;
  selection.trigger = Selection::Trigger::kFault;
  open(selection);
  const PacketRef one = packet(1);
  for (std::size_t i = 0; i <= TraceGate::kMostHeld; ++i) {
    send(*one);
  }
  EXPECT_THAT(told_.all, ElementsAre("(1)"));
  send(2, true);
  EXPECT_THAT(gate_->notes(), ElementsAre(HasSubstr("more than 1000000 units")));
}

}  // namespace
}  // namespace flitwise::trace_gate_test
