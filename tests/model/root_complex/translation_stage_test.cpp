// SPDX-License-Identifier: Apache-2.0
// Requests that wait for their translations, between stand-ins: order, and who has the buffer.
#include "root_complex/translation_stage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "common/random.h"
#include "link/ordering.h"
#include "port_fakes.h"

namespace flitwise::translation_stage_test {
namespace {

using namespace test;

struct FakeServer final : TranslationStage::Server {
  bool serve(const TranslationStage::Entry& entry) override {
    served.push_back(entry.packet->tlp.tag);
    addresses.push_back(entry.result.address);
    return holds;
  }
  std::optional<std::uint64_t> next_after(const TranslationStage::Entry& /*entry*/,
                                          const WalkResult& /*result*/) override {
    return std::exchange(next, std::nullopt);
  }
  void release(Packet& packet) override { released.push_back(packet.tlp.tag); }

  std::optional<std::uint64_t> next;
  bool holds = false;
  std::vector<std::uint16_t> served, released;
  std::vector<std::uint64_t> addresses;
};

class TranslationStageTest : public ::testing::Test {
 protected:
  bool translate(TlpType type, std::uint16_t tag, AddressType at = AddressType::kUntranslated) {
    TranslationStage::Entry entry;
    entry.packet = port_request(pool, type, 0x1000, tag);
    entry.packet->tlp.at = at;
    return translate(std::move(entry));
  }
  bool translate(TranslationStage::Entry entry) {
    WalkRequest request;
    request.address = 0x1000;
    return stage.translate(std::move(entry), request, Time{});
  }
  using Tags = std::vector<std::uint16_t>;

  PacketPool pool;
  FakeTranslationService agent;
  FakeServer server;
  TranslationStage stage{agent, server};
};

TEST_F(TranslationStageTest, HitIsServedWithinTheCallAndFreesItsBuffer) {
  agent.at_once = true;
  agent.offset = 0x8000;
  EXPECT_FALSE(translate(TlpType::kMWr, 1));
  EXPECT_EQ(server.served, Tags{1});
  EXPECT_EQ(server.addresses[0], 0x9000U);
  EXPECT_TRUE(server.released.empty());
  EXPECT_FALSE(stage.is_busy());
}

TEST_F(TranslationStageTest, HitThatQueuesUpBehindTheMemoryKeepsItsBuffer) {
  agent.at_once = true;
  server.holds = true;
  EXPECT_TRUE(translate(TlpType::kMWr, 1));
  EXPECT_TRUE(server.released.empty());
}

TEST_F(TranslationStageTest, MissKeepsItsBufferUntilItIsServed) {
  EXPECT_TRUE(translate(TlpType::kMWr, 1));
  EXPECT_TRUE(server.released.empty());
  agent.answer(0, 0);
  EXPECT_EQ(server.released, Tags{1});
}

TEST_F(TranslationStageTest, MissThatQueuesUpBehindTheMemoryIsNotReleasedTwice) {
  EXPECT_TRUE(translate(TlpType::kMWr, 1));
  server.holds = true;
  agent.answer(0, 0);
  EXPECT_EQ(server.served, Tags{1});
  EXPECT_TRUE(server.released.empty());
}

// [LNK-9.1]
TEST_F(TranslationStageTest, LNK_9_1_WriteDoesNotPassAWriteThatWaits) {
  translate(TlpType::kMWr, 1);
  translate(TlpType::kMWr, 2);
  agent.answer(1, 0);
  EXPECT_TRUE(server.served.empty());
  agent.answer(0, 0);
  EXPECT_EQ(server.served, (Tags{1, 2}));
  EXPECT_EQ(server.released, (Tags{1, 2}));
}

// [LNK-9.2]
TEST_F(TranslationStageTest, LNK_9_2_ReadsPassEachOtherButNoWrite) {
  translate(TlpType::kMRd, 1);
  translate(TlpType::kMRd, 2);
  agent.answer(1, 0);
  EXPECT_EQ(server.served, Tags{2});
  translate(TlpType::kMWr, 3);
  translate(TlpType::kMRd, 4);
  agent.answer(3, 0);
  EXPECT_EQ(server.served, Tags{2});
  agent.answer(2, 0);
  EXPECT_EQ(server.served, (Tags{2, 3, 4}));
}

// What goes, and in which order, is what the table says when each is compared with each.
TEST_F(TranslationStageTest, LNK_9_1_To_9_7_EachAnswerLetsGoWhatTheTableLetsGo) {
  struct Waiting {
    Tlp tlp;
    std::size_t asked;
    bool is_known = false;
  };
  constexpr TlpType kTypes[] = {TlpType::kMWr, TlpType::kMWr, TlpType::kMRd, TlpType::kFetchAdd,
                                TlpType::kCplD};
  for (const double relaxed : {0.0, 0.1, 0.7}) {
    Random random(11);
    std::vector<Waiting> waiting;
    Tags expected;
    const auto may_go = [&](std::size_t at) {
      bool is_posted_ahead = false, may_pass = true;
      for (std::size_t i = 0; i < at; ++i) {
        is_posted_ahead |= fc_class(waiting[i].tlp.type) == FcClass::kPosted;
        may_pass &= passing(waiting[at].tlp, waiting[i].tlp) != Passing::kNo;
      }
      return may_pass || !is_posted_ahead;
    };
    server.served.clear();
    for (std::uint16_t tag = 0; tag < 5000; ++tag) {
      TranslationStage::Entry entry;
      entry.packet = port_request(pool, kTypes[random.below(std::size(kTypes))], 0x1000, tag);
      Tlp& tlp = entry.packet->tlp;
      tlp.relaxed_ordering = random.chance(relaxed / 3);
      tlp.id_based_ordering = random.chance(relaxed);
      tlp.has_pasid = true;
      tlp.pasid = static_cast<Pasid>(random.below(12));
      tlp.completer_id = Bdf::of(2, 0, 0);
      waiting.push_back({tlp, agent.asked.size()});
      translate(std::move(entry));
      while (waiting.size() > 30 || (!waiting.empty() && random.chance(0.4))) {
        const auto any =
            waiting.begin() + static_cast<std::ptrdiff_t>(random.below(waiting.size()));
        const auto latest =
            std::find_if(any, waiting.end(), [](auto& one) { return !one.is_known; });
        if (latest == waiting.end()) {
          continue;
        }
        latest->is_known = true;
        agent.answer(latest->asked, 0);
        for (std::size_t i = 0; i < waiting.size();) {
          if (waiting[i].is_known && may_go(i)) {
            expected.push_back(waiting[i].tlp.tag);
            waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
          } else {
            ++i;
          }
        }
        ASSERT_EQ(server.served, expected) << tag;
      }
    }
    while (!waiting.empty()) {  // in order, so that all go
      if (!waiting.front().is_known) {
        agent.answer(waiting.front().asked, 0);
      }
      waiting.erase(waiting.begin());
    }
  }
}

// Compared one by one, so many writes took hundreds of times as long.
TEST_F(TranslationStageTest, LNK_9_1_AnAnswerCostsNoMoreWhereManyWritesWait) {
  const auto push = [&] {
    TranslationStage::Entry entry;
    entry.packet = port_request(pool, TlpType::kMWr, 0x1000);
    entry.packet->tlp.relaxed_ordering = true;
    translate(std::move(entry));
  };
  const auto time_behind = [&](std::size_t writes) {
    while (stage.size() < writes) {
      push();
    }
    const std::clock_t begin = std::clock();
    for (int i = 0; i < 5000; ++i) {
      push();
      agent.answer(agent.asked.size() - 1, 0);
    }
    return std::clock() - begin;
  };
  const std::clock_t few = time_behind(16);
  EXPECT_LT(time_behind(65'536), 30 * (few + CLOCKS_PER_SEC / 1000));
}

// A message for which nothing is translated keeps its place. [LNK-9.1]
TEST_F(TranslationStageTest, LNK_9_1_HeldMessageFollowsTheWriteBeforeIt) {
  translate(TlpType::kMWr, 1);
  ASSERT_TRUE(stage.has_posted());
  TranslationStage::Entry entry;
  entry.packet = port_request(pool, TlpType::kMsg, 0, 2);
  stage.hold(std::move(entry));
  EXPECT_TRUE(server.served.empty());
  agent.answer(0, 0);
  EXPECT_EQ(server.served, (Tags{1, 2}));
}

// [IQU-06]
TEST_F(TranslationStageTest, IQU_06_IsDrainedOnceWhatWasAskedBeforeTheInvalidationIsServed) {
  translate(TlpType::kMRd, 1);
  agent.client->invalidated({});
  EXPECT_FALSE(agent.client->is_drained());
  translate(TlpType::kMRd, 2);
  agent.answer(1, 0);
  EXPECT_FALSE(agent.client->is_drained());
  agent.answer(0, 0);
  EXPECT_TRUE(agent.client->is_drained());
  EXPECT_EQ(agent.times_drained, 1U);
}

// [ATR-21]
TEST_F(TranslationStageTest, ATR_21_OneTranslationAfterAnother) {
  translate(TlpType::kMRd, 1, AddressType::kTranslationRequest);
  server.next = 0x2000;
  agent.answer(0, 0);
  ASSERT_EQ(agent.asked.size(), 2U);
  EXPECT_EQ(agent.asked[1].request.address, 0x2000U);
  EXPECT_TRUE(server.served.empty());
  agent.answer(1, 0);
  EXPECT_EQ(server.served, Tags{1});
}

}  // namespace
}  // namespace flitwise::translation_stage_test
