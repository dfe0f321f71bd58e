// SPDX-License-Identifier: Apache-2.0
// docs/explain.md, "The rule", clause by clause.
#include "results/summary_table.h"

#include <gtest/gtest.h>

#include <string>

namespace flitwise::explain_test {
namespace {

class Explain : public ::testing::Test {
 protected:
  Explain() {
    result_.simulated = Time::from_ns(1000);
    result_.routes = {{"rp0-ep0",
                       "up",
                       "read",
                       100,
                       {{"ep0", "up", "read"},
                        {"rp0-ep0", "up", "read"},
                        {"iommu0", "up", "read"},
                        {"rp0-ep0", "down", "completion"}}}};
  }
  void add_slots(const std::string& at, const std::string& name, double share,
                 const std::string& key = "", const std::string& direction = "up",
                 const std::string& kind = "read") {
    const Time blocked = Time::from_ns(static_cast<std::int64_t>(1000 * share));
    result_.rows<WaitResult>().push_back(
        {{at, name, ResourceRole::kSlots, direction, kind, key, 8}, 10, blocked, blocked});
  }
  void add_server(const std::string& at, const std::string& name, double busy,
                  const std::string& direction = "up") {
    WaitResult row{{at, name, ResourceRole::kServer, direction, "", "a.key", 1}};
    row.busy = busy;
    result_.rows<WaitResult>().push_back(row);
  }
  std::string text() const {
    return text_of(
        explain(result_, [](Limit& limit) { limit.larger = limit.key == "largest" ? "" : "16"; }));
  }

  RunResult result_;
};

TEST_F(Explain, AServerThatIsBusyAllTheTimeLimitsWhateverWaitsBeforeIt) {
  add_slots("ep0", "tags", 1.0, "device.tag_bits");
  add_server("iommu0", "walkers", 0.98);
  EXPECT_EQ(text(), "rp0-ep0 up read: iommu0 walkers 98 %, next ep0 tags 100 %; try a.key=16\n");
}

TEST_F(Explain, SlotsThatManyWaitForLimitBeforeAServerThatIsBusier) {
  add_server("rp0-ep0", "link", 0.94);
  add_slots("ep0", "atc_requests", 0.3, "device.atc.requests");
  EXPECT_EQ(text(),
            "rp0-ep0 up read: ep0 atc_requests 30 %, next rp0-ep0 up link 94 %; try "
            "device.atc.requests=16\n");
}

// Without their waits the run would take a twentieth less at most.
TEST_F(Explain, SlotsThatWaitForAServerThatIsNearlyAlwaysBusyDoNot) {
  add_server("rp0-ep0", "link", 0.955);
  add_slots("ep0", "atc_requests", 0.99, "device.atc.requests");
  EXPECT_EQ(text(),
            "rp0-ep0 up read: rp0-ep0 up link 96 %, next ep0 atc_requests 99 %; try a.key=16\n");
}

// The cores are beside each other, the links one behind the other.
TEST_F(Explain, WhatComesNextIsNotTheSameOfAPlaceBeside) {
  auto& steps = result_.routes[0].steps;
  steps.insert(steps.begin(), {{"core0", "up", "read"},
                               {"core1", "up", "read", true},
                               {"core2", "up", "read", true},
                               {"sw0-ep0", "up", "read"}});
  for (const char* const core : {"core0", "core1", "core2"}) {
    add_slots(core, "credits", 0.8);
    add_slots(core, "fence", core == std::string("core1") ? 0.3 : 0.2);
  }
  EXPECT_EQ(text(), "rp0-ep0 up read: core2 credits 80 %, next core1 fence 30 %\n");
  add_slots("sw0-ep0", "posted_headers", 0.79);
  add_slots("rp0-ep0", "posted_headers", 0.78);
  EXPECT_EQ(text(),
            "rp0-ep0 up read: rp0-ep0 posted_headers 78 %, next sw0-ep0 posted_headers 79 %\n");
}

TEST_F(Explain, SlotsThatWereOutAFewTimesDoNotLimitBeforeAServerThatIsBusier) {
  add_server("iommu0", "walkers", 0.57);
  add_slots("rp0-ep0", "nonposted_headers", 0.29);
  result_.rows<WaitResult>().back().count = 9;
  EXPECT_EQ(text(),
            "rp0-ep0 up read: iommu0 walkers 57 %, next rp0-ep0 nonposted_headers 29 %; try "
            "a.key=16\n");
  result_.rows<WaitResult>().back().blocked = Time::from_ns(600);
  EXPECT_EQ(text(), "rp0-ep0 up read: rp0-ep0 nonposted_headers 60 %, next iommu0 walkers 57 %\n");
}

TEST_F(Explain, OfSlotsWhoseSharesAreAlikeTheLastOnTheWayLimits) {
  add_slots("rp0-ep0", "nonposted_headers", 0.91, "link.credits.nonposted_headers");
  add_slots("ep0", "tags", 1.0, "device.tag_bits");
  add_slots("ep0", "outstanding", 0.2);
  EXPECT_EQ(text(),
            "rp0-ep0 up read: rp0-ep0 nonposted_headers 91 %, next ep0 tags 100 %; try "
            "link.credits.nonposted_headers=16\n");
}

TEST_F(Explain, SharesAreAlikeWithinATenthOfTheLargestNotOfTheOneBefore) {
  add_slots("ep0", "outstanding", 1.0);
  add_slots("ep0", "tags", 0.92, "device.tag_bits");
  add_slots("rp0-ep0", "nonposted_headers", 0.85);
  add_slots("iommu0", "places", 0.78);
  EXPECT_EQ(text(),
            "rp0-ep0 up read: ep0 tags 92 %, next outstanding 100 %; try device.tag_bits=16\n");
}

TEST_F(Explain, WhatIsNotOnTheWayOrOfAnotherKindDoesNotCount) {
  add_slots("ep1", "tags", 1.0);
  add_slots("rp0-ep0", "posted_headers", 1.0, "", "up", "write");
  add_slots("rp0-ep0", "completion_data", 0.9, "", "up", "completion");
  EXPECT_EQ(text(), "rp0-ep0 up read: waited for nothing\n");
  add_slots("rp0-ep0", "completion_data", 0.5, "largest", "down", "completion");
  EXPECT_EQ(text(),
            "rp0-ep0 up read: rp0-ep0 down completion_data 50 %; largest cannot be larger\n");
}

TEST_F(Explain, AWireIsJudgedFromItsFirstSymbolToItsLast) {
  add_slots("ep0", "tags", 0.9);
  add_server("rp0-ep0", "link", 0.8);
  EXPECT_EQ(text(), "rp0-ep0 up read: ep0 tags 90 %, next rp0-ep0 up link 80 %\n");
  result_.rows<WaitResult>().back().span = Time::from_ns(805);
  EXPECT_EQ(text(), "rp0-ep0 up read: rp0-ep0 up link 99 %, next ep0 tags 90 %; try a.key=16\n");
}

TEST_F(Explain, OneWireOfALinkIsToldFromTheOther) {
  result_.routes[0].steps.push_back({"rp0-ep0", "down", "completion"});
  add_server("rp0-ep0", "link", 1.0);
  add_server("rp0-ep0", "link", 0.88, "down");
  EXPECT_EQ(text(), "rp0-ep0 up read: rp0-ep0 up link 100 %, next down link 88 %; try a.key=16\n");
  const auto rows = explain(result_, [](Limit&) {});
  EXPECT_EQ(rows.at(0).limit.direction, "up");
  EXPECT_EQ(rows.at(0).next.direction, "down");
}

TEST_F(Explain, AWireThatIsDoneEarlyDoesNotLimit) {
  add_server("rp0-ep0", "link", 0.03);
  result_.rows<WaitResult>().back().span = Time::from_ns(30);
  add_server("iommu0", "walkers", 0.99);
  EXPECT_EQ(text(),
            "rp0-ep0 up read: iommu0 walkers 99 %, next rp0-ep0 up link 3 %; try a.key=16\n");
}

TEST_F(Explain, APlaceThatIsPassedTwiceHasOneRow) {
  add_slots("ep0", "tags", 0.9);
  result_.routes[0].steps.push_back({"ep0", "up", "read"});
  EXPECT_EQ(text(), "rp0-ep0 up read: ep0 tags 90 %\n");
}

TEST_F(Explain, QueuesDoNotLimitByThemselves) {
  const Time all = Time::from_ns(1000);
  result_.rows<WaitResult>().push_back(
      {{"ep0", "link_queues", ResourceRole::kQueue, "up"}, 10, all, all});
  EXPECT_EQ(text(), "rp0-ep0 up read: waited for nothing\n");
}

TEST_F(Explain, MessagesInterruptsAndAtomicsWaitForWhatWritesAndReadsDo) {
  add_slots("rp0-ep0", "posted_headers", 0.6, "", "up", "write");
  result_.routes[0].kind = "msi";
  result_.routes[0].steps = {{"rp0-ep0", "up", "msi"}};
  EXPECT_EQ(text(), "rp0-ep0 up msi: rp0-ep0 posted_headers 60 %\n");
}

TEST_F(Explain, TheLineOfTheSummaryIsOfTheHighestShareTimesTheRequests) {
  result_.routes.push_back({"rp1-ep1", "up", "read", 1, {{"rp1-ep1", "up", "read"}}});
  add_server("rp0-ep0", "link", 0.6);
  add_server("rp1-ep1", "link", 1.0);
  auto rows = explain(result_, [](Limit&) {});
  EXPECT_EQ(most_limited(rows)->link, "rp0-ep0");
  result_.routes[1].requests = 99;
  rows = explain(result_, [](Limit&) {});
  EXPECT_EQ(most_limited(rows)->link, "rp1-ep1");
}

TEST_F(Explain, AtAnEngineWritesStandBehindReadsThatWait) {
  add_slots("ep0", "tags", 0.9, "device.tag_bits");
  result_.routes[0].kind = "write";
  result_.routes[0].steps = {{"ep0", "up", ""}, {"rp0-ep0", "up", "write"}};
  EXPECT_EQ(text(), "rp0-ep0 up write: ep0 tags 90 %; try device.tag_bits=16\n");
}

// Their way is not that of the row.
TEST_F(Explain, RequestsForPeersAreNotExplained) {
  add_slots("ep0", "tags", 0.9);
  result_.routes[0].to_peers = 40;
  EXPECT_EQ(text(),
            "rp0-ep0 up read: ep0 tags 90 %; 40 of 100 go to peers and are not explained\n");
  result_.routes[0].to_peers = 100;
  EXPECT_EQ(text(), "rp0-ep0 up read: not explained, all go to peers\n");
  EXPECT_TRUE(explain(result_, [](Limit&) {}).at(0).limit.is_empty());
}

TEST_F(Explain, AKindThatHadNoRequestsHasNoRow) {
  result_.routes[0].requests = 0;
  EXPECT_EQ(text(), "Nothing to explain: no engine has issued a request.\n");
}

/// A second device of the same host begins 600 ns later and ends 100 ns after that; one of another
/// host ends with the run.
class ExplainWindows : public Explain {
 protected:
  ExplainWindows() {
    result_.routes[0].begin = Time::from_ns(50);
    result_.routes[0].end = Time::from_ns(550);
    for (const char* const n : {"1", "2"}) {
      const std::string device = std::string("ep") + n, link = std::string("rp") + n + "-" + device;
      const std::string agent = n == std::string("1") ? "iommu0" : "h1.iommu0";
      result_.routes.push_back(
          {link,
           "up",
           "read",
           100,
           {{device, "up", "read"}, {link, "up", "read"}, {agent, "up", "read"}}});
    }
    result_.routes[1].begin = Time::from_ns(650);
    result_.routes[1].end = Time::from_ns(750);
    result_.routes[2].begin = Time::from_ns(0);
    result_.routes[2].end = Time::from_ns(1000);
  }
};

TEST_F(ExplainWindows, WaitsAtADeviceAreSharesOfItsOwn) {
  add_slots("ep0", "tags", 0.25);
  add_slots("ep1", "tags", 0.09);
  add_slots("ep2", "tags", 0.25);
  EXPECT_EQ(text(),
            "rp0-ep0 up read: ep0 tags 50 %\nrp1-ep1 up read: ep1 tags 90 %\n"
            "rp2-ep2 up read: ep2 tags 25 %\n");
}

TEST_F(ExplainWindows, WhatAHostHasIsSharedInThatOfItsDevices) {
  add_server("iommu0", "walkers", 0.35);
  add_server("h1.iommu0", "walkers", 0.35);
  EXPECT_EQ(text(),
            "rp0-ep0 up read: iommu0 walkers 50 %; try a.key=16\n"
            "rp1-ep1 up read: iommu0 walkers 50 %; try a.key=16\n"
            "rp2-ep2 up read: h1.iommu0 walkers 35 %; try a.key=16\n");
}

TEST_F(ExplainWindows, AWireIsBusyInItsOwn) {
  add_server("rp1-ep1", "link", 0.5);
  result_.rows<WaitResult>().back().span = Time::from_ns(90);
  add_server("rp2-ep2", "link", 0.5);
  result_.rows<WaitResult>().back().span = Time{};
  EXPECT_EQ(text(),
            "rp0-ep0 up read: waited for nothing\n"
            "rp1-ep1 up read: rp1-ep1 up link 56 %; try a.key=16\n"
            "rp2-ep2 up read: rp2-ep2 up link 50 %; try a.key=16\n");
}

}  // namespace
}  // namespace flitwise::explain_test
