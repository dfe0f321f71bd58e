// SPDX-License-Identifier: Apache-2.0
// The order on the wire as a watcher sees it, cell by cell beside the model's table.
#include "monitor/ordering_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/random.h"
#include "link/ordering.h"
#include "unit/monitor/monitor_support.h"

namespace flitwise::ordering_monitor_test {
namespace {

using test::packet;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Both come to the queues in this order and leave in the other: is a rule reported?
std::vector<std::string> overtaking(const Packet& earlier, const Packet& later) {
  test::Reported reported;
  OrderingMonitor monitor(reported.reporter);
  for (const Packet* const one : {&earlier, &later}) {
    monitor.queued(fc_class(one->tlp.type), *one);
  }
  for (const Packet* const one : {&later, &earlier}) {
    if (monitor.fits(*one, kind_of(one->tlp))) {
      monitor.sent();
    } else {
      monitor.sent_out_of_turn(*one, {});
    }
  }
  return reported.rules();
}

// [LNK-9.1] to [LNK-9.6]
TEST(OrderingMonitor, NamesTheRuleOfEachKind) {
  PacketPool pool;
  const PacketRef write = packet(pool, TlpType::kMWr);
  EXPECT_THAT(overtaking(*write, *packet(pool, TlpType::kMWr)), ElementsAre("LNK-9.1"));
  EXPECT_THAT(overtaking(*write, *packet(pool, TlpType::kMRd)), ElementsAre("LNK-9.4"));
  EXPECT_THAT(overtaking(*write, *packet(pool, TlpType::kFetchAdd)), ElementsAre("LNK-9.5"));
  EXPECT_THAT(overtaking(*write, *packet(pool, TlpType::kCplD)), ElementsAre("LNK-9.6"));
  EXPECT_THAT(overtaking(*packet(pool, TlpType::kMRd), *write), IsEmpty());
  EXPECT_THAT(overtaking(*packet(pool, TlpType::kCplD), *write), IsEmpty());
}

// [LNK-9.7]
TEST(OrderingMonitor, CompletionsOfOneTransactionKeepTheirOrder) {
  PacketPool pool;
  const PacketRef first = packet(pool, TlpType::kCplD);
  const PacketRef second = packet(pool, TlpType::kCplD);
  EXPECT_THAT(overtaking(*first, *second), ElementsAre("LNK-9.7"));
  second->tlp.tag = 1;
  EXPECT_THAT(overtaking(*first, *second), IsEmpty());
}

// The model's table and the monitor were written apart; they have to agree.
TEST(OrderingMonitor, AgreesWithTheTableOfTheModel) {
  PacketPool pool;
  Random random(1);
  constexpr TlpType kTypes[] = {TlpType::kMWr,  TlpType::kMsg,  TlpType::kMRd, TlpType::kFetchAdd,
                                TlpType::kSwap, TlpType::kCplD, TlpType::kCpl, TlpType::kCfgWr0};
  for (int i = 0; i < 20'000; ++i) {
    PacketRef pair[2];
    for (PacketRef& one : pair) {
      one = packet(pool, kTypes[random.below(8)], 1);
      Tlp& tlp = one->tlp;
      tlp.relaxed_ordering = random.below(2) == 0;
      tlp.id_based_ordering = random.below(2) == 0;
      tlp.tc = static_cast<std::uint8_t>(random.below(8) == 0);
      tlp.requester_id = Bdf::of(1, 0, static_cast<unsigned>(random.below(2)));
      tlp.completer_id = Bdf::of(1, 0, static_cast<unsigned>(random.below(2)));
      tlp.has_pasid = !is_completion(tlp.type) && random.below(2) == 0;
      tlp.pasid = Pasid{tlp.has_pasid ? static_cast<std::uint32_t>(random.below(2)) : 0U};
      tlp.tag = static_cast<std::uint16_t>(random.below(2));
      tlp.id_is_handle = random.below(8) == 0 && !is_completion(tlp.type);
    }
    const bool is_allowed = passing(pair[1]->tlp, pair[0]->tlp) != Passing::kNo;
    EXPECT_EQ(overtaking(*pair[0], *pair[1]).empty(), is_allowed)
        << name_of(pair[1]->tlp.type) << " over " << name_of(pair[0]->tlp.type) << ", run " << i;
  }
}

}  // namespace
}  // namespace flitwise::ordering_monitor_test
